//! Conformance: a case for each rule and revision, judged on evidence that all cases share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcprove_judge::conformance::{Channel, Graded, RULES, Rule, Verdict, findings, judge};
use mcprove_judge::tool_effect::Consent;
use mcprove_model::{Case, Era, Finding, Protocol, Revision, ServerSpec, Target};
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinSet;

use super::{Connections, Scan, ScanCase, ScanEnd, ScanFuture, ScanSubject};
use crate::conformance::{Endpoint, Pace, ProbeOptions, examine, survey};

/// How many revisions are examined at once.
const AT_ONCE: usize = 2;

/// A conformance run.
#[derive(Clone, Debug)]
pub struct ConformanceOptions {
    /// The revisions to test: those of the server's description, or all.
    pub protocol: Option<Protocol>,
    /// Only these rules; all when empty.
    pub rules: Vec<String>,
    /// Which tools may be called.
    pub consent: Consent,
    /// Fixes the generated inputs.
    pub seed: u64,
    /// The time the server may take to start.
    pub start: Duration,
    /// The time a reply may take.
    pub timeout: Duration,
    /// What the name of every case begins with.
    pub prefix: String,
}

/// Plans a conformance run: a case for each revision and rule that applies to it.
pub fn plan_conformance(server: &Arc<ServerSpec>, options: &ConformanceOptions) -> Vec<Arc<Case>> {
    let channel = match server.target {
        Target::Http { .. } | Target::Sse { .. } => Channel::Http,
        Target::Stdio { .. } | Target::Mock { .. } | Target::Cassette { .. } => Channel::Stdio,
    };
    let wanted: Vec<Revision> =
        Revision::ALL.into_iter().filter(|revision| is_wanted(*revision, options.protocol)).collect();
    let shared = Arc::new(Shared {
        wanted: wanted.clone(),
        is_named: matches!(options.protocol, Some(Protocol::Exactly(_))),
        probe: ProbeOptions {
            consent: options.consent,
            seed: options.seed,
            pace: Pace { start: options.start, timeout: options.timeout, ..Pace::default() },
        },
        verdicts: OnceCell::new(),
        has_failed: AtomicBool::new(false),
    });
    let mut cases = Vec::new();
    for revision in wanted {
        for rule in RULES.iter().filter(|rule| rule.applies(revision, channel)) {
            if !options.rules.is_empty() && !options.rules.iter().any(|id| id == rule.id) {
                continue;
            }
            let name = format!("{}{revision} {}", options.prefix, rule.id);
            let subject = ScanSubject {
                name: &name,
                server,
                fixture: None,
                skip: None,
                tags: vec![revision.to_string(), rule.level.as_str().to_lowercase()],
                start: options.start,
            };
            cases.push(subject.case("conformance", RuleCase { rule, revision, shared: Arc::clone(&shared) }));
        }
    }
    cases
}

fn is_wanted(revision: Revision, protocol: Option<Protocol>) -> bool {
    match protocol {
        None | Some(Protocol::Auto) => true,
        Some(Protocol::Legacy) => revision.era() == Era::Legacy,
        Some(Protocol::Modern) => revision.era() == Era::Modern,
        Some(Protocol::Exactly(only)) => revision == only,
    }
}

/// What the cases of a run share.
struct Shared {
    wanted: Vec<Revision>,
    /// True if the user named one revision: then it is tested whatever the server says.
    is_named: bool,
    probe: ProbeOptions,
    /// The verdicts of each revision that is served; made by whichever case comes first.
    verdicts: OnceCell<Result<HashMap<Revision, Vec<Graded>>, String>>,
    /// True if it was reported that there is no evidence.
    has_failed: AtomicBool,
}

/// One rule in one revision.
struct RuleCase {
    rule: &'static Rule,
    revision: Revision,
    shared: Arc<Shared>,
}

impl Scan for RuleCase {
    fn connections(&self) -> Connections {
        Connections::Own
    }

    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s> {
        Box::pin(self.judge(case))
    }
}

impl RuleCase {
    async fn judge(&self, case: ScanCase<'_>) -> ScanEnd {
        let shared = &*self.shared;
        let endpoint = case.context.opener.raw_endpoint(case.server, case.workplace.variables());
        let verdicts = shared.verdicts.get_or_init(|| async {
            let Some(endpoint) = endpoint else {
                return Err("only servers over stdio and Streamable HTTP can be tested".to_owned());
            };
            shared.examine(endpoint).await
        });
        let verdicts = match verdicts.await {
            Ok(verdicts) => verdicts,
            Err(why) => {
                if shared.has_failed.swap(true, Ordering::Relaxed) {
                    return ScanEnd::Skipped(format!("blocked: {why}"));
                }
                case.record.findings.push(Finding::error("no-session", why.clone()));
                case.record.is_unreachable = true;
                return ScanEnd::Judged;
            }
        };
        case.record.mark(|timings| &mut timings.call);
        let Some(graded) = verdicts.get(&self.revision) else {
            return ScanEnd::Skipped(format!("the server does not serve {}", self.revision));
        };
        let Some(graded) = graded.iter().find(|graded| graded.rule.id == self.rule.id) else {
            return ScanEnd::Skipped("the rule does not apply".to_owned());
        };
        match &graded.verdict {
            Verdict::Pass | Verdict::Fail | Verdict::Warn => {
                case.record.findings.extend(findings(graded));
                ScanEnd::Judged
            }
            verdict => ScanEnd::Skipped(format!("{}: {}", verdict.word(), verdict.reason().unwrap_or_default())),
        }
    }
}

impl Shared {
    /// Makes the evidence of every revision, and judges it.
    async fn examine(&self, endpoint: Endpoint) -> Result<HashMap<Revision, Vec<Graded>>, String> {
        let survey = Arc::new(survey(&endpoint, &self.probe).await?);
        let mut revisions: Vec<Revision> =
            self.wanted.iter().copied().filter(|revision| self.is_named || survey.served.contains(revision)).collect();
        if survey.served.is_empty() && !self.is_named {
            // A server that answers nothing breaks the first rule of whatever revision it means to serve.
            let mut legacy = self.wanted.iter().copied().filter(|revision| revision.era() == Era::Legacy);
            revisions = legacy.next_back().into_iter().collect();
        }
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        let mut tasks = JoinSet::new();
        for revision in revisions {
            let (endpoint, survey, turns, probe) =
                (endpoint.clone(), Arc::clone(&survey), Arc::clone(&turns), self.probe);
            tasks.spawn(async move {
                let _turn = turns.acquire().await;
                let evidence = examine(&endpoint, revision, &survey, &probe).await?;
                Ok::<_, String>((revision, judge(&evidence, |_| true)))
            });
        }
        let mut verdicts = HashMap::new();
        while let Some(done) = tasks.join_next().await {
            let (revision, graded) = done.map_err(|error| error.to_string())??;
            verdicts.insert(revision, graded);
        }
        Ok(verdicts)
    }
}
