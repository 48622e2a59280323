//! Conformance: a case for each rule and revision, judged on evidence that all cases share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcprove_judge::conformance::{Channel, Evidence, Graded, RULES, Recording, Rule, Verdict, findings, judge};
use mcprove_judge::tool_effect::Consent;
use mcprove_model::{
    Act, Case, ConformanceBlock, Connected, Era, Finding, Isolation, Override, Protocol, Revision, ScanWork,
    ServerSpec, Target,
};
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinSet;

use super::{Connections, Scan, ScanCase, ScanEnd, ScanFuture, ScanSubject};
use crate::conformance::{Endpoint, FLOODED, Pace, ProbeOptions, TokenProbe, authorized, examine, survey};
use crate::fuzz::connection::ConnectionLog;
use crate::record::CaseRecord;

/// Number of revisions examined concurrently.
const AT_ONCE: usize = 2;

/// A conformance run.
#[derive(Clone, Debug)]
pub struct ConformanceOptions {
    /// The revisions to test: those of the server's description, or all.
    pub protocol: Option<Protocol>,
    /// Only these rules; all when empty.
    pub rules: Vec<String>,
    /// No case for these.
    pub except: Vec<String>,
    /// Which tools may be called.
    pub consent: Consent,
    /// Fixes the generated inputs.
    pub seed: u64,
    /// The time the server may take to start.
    pub start: Duration,
    /// The time a reply may take.
    pub timeout: Duration,
    /// The folder that is copied for the server.
    pub fixture: Option<PathBuf>,
    /// True if tokens are tested.
    pub tests_tokens: bool,
    /// The URL of a test issuer whose tokens the server takes.
    pub issuer: Option<String>,
}

/// The default time a server may take to start, and to answer.
const START: Duration = Duration::from_secs(30);
const REPLY: Duration = Duration::from_secs(5);

impl Default for ConformanceOptions {
    fn default() -> Self {
        Self {
            protocol: None,
            rules: Vec::new(),
            except: Vec::new(),
            consent: Consent::Cautious,
            seed: 0,
            start: START,
            timeout: REPLY,
            fixture: None,
            tests_tokens: false,
            issuer: None,
        }
    }
}

impl ConformanceOptions {
    /// The options with one time for everything, where one is given.
    #[must_use]
    pub fn with_timeout(self, timeout: Option<Duration>) -> Self {
        Self { start: timeout.unwrap_or(self.start), timeout: timeout.unwrap_or(self.timeout), ..self }
    }

    fn takes(&self, rule: &Rule) -> bool {
        (self.rules.is_empty() || self.rules.iter().any(|id| id == rule.id))
            && !self.except.iter().any(|id| id == rule.id)
    }
}

/// Plans a conformance run: a case for each revision and rule that applies to it.
pub fn plan_conformance(server: &Arc<ServerSpec>, options: &ConformanceOptions) -> Vec<Arc<Case>> {
    let made = rule_cases(server, options).into_iter().map(|(name, rule)| {
        let subject = ScanSubject {
            name: &name,
            server,
            fixture: options.fixture.clone(),
            skip: None,
            tags: tags_of(&rule),
            start: options.start,
        };
        subject.case("conformance", rule)
    });
    made.collect()
}

/// The cases with a case for each rule and revision in the place of each `conformance` test of a suite.
pub fn expand_conformance(cases: &[Arc<Case>], given: &Override) -> Vec<Arc<Case>> {
    let mut expanded = Vec::with_capacity(cases.len());
    for case in cases {
        let block = if let Act::Scan(work) = &case.act { work.get::<ConformanceBlock>() } else { None };
        match (block, &case.server) {
            (Some(block), Some(server)) => expanded.extend(cases_of(block, case, server, given)),
            (Some(_) | None, _) => expanded.push(Arc::clone(case)),
        }
    }
    expanded
}

/// The cases of a `conformance` test, on the server that it will be run on.
fn cases_of(block: &ConformanceBlock, case: &Case, server: &ServerSpec, given: &Override) -> Vec<Arc<Case>> {
    let server = &given.apply(server);
    let options = ConformanceOptions {
        protocol: given.protocol.or(block.protocol).or(pinned(server.protocol)),
        rules: block.rules.clone(),
        except: block.except.clone(),
        consent: Consent::of(block.include_writes, block.read_only),
        fixture: case.fixture.clone(),
        ..ConformanceOptions::default()
    }
    .with_timeout(case.timeout);
    let made = rule_cases(server, &options).into_iter().map(|(name, rule)| {
        let mut tags = case.tags.clone();
        tags.extend(tags_of(&rule));
        let scan: Box<dyn Scan> = Box::new(rule);
        Arc::new(Case {
            name: format!("{}: {name}", case.name),
            act: Act::Scan(ScanWork::new("conformance", scan)),
            tags,
            isolation: Isolation::Case,
            timeout: Some(options.start),
            ..case.clone()
        })
    });
    made.collect()
}

/// The protocol that a server is pinned to. `legacy` is what a server has that says nothing.
fn pinned(protocol: Protocol) -> Option<Protocol> {
    match protocol {
        Protocol::Modern | Protocol::Exactly(_) => Some(protocol),
        Protocol::Legacy | Protocol::Auto => None,
    }
}

fn tags_of(case: &RuleCase) -> Vec<String> {
    vec![case.revision.to_string(), case.rule.level.as_str().to_lowercase()]
}

/// The rules to check in each revision, each with the name of its case.
fn rule_cases(server: &ServerSpec, options: &ConformanceOptions) -> Vec<(String, RuleCase)> {
    let channel = match server.target {
        Target::Remote { .. } => Channel::Http,
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
            tokens: options
                .tests_tokens
                .then(|| TokenProbe { issuer: options.issuer.clone(), ..TokenProbe::default() }),
            ..ProbeOptions::default()
        },
        runs: Mutex::default(),
    });
    let mut cases = Vec::new();
    for revision in wanted {
        for rule in RULES.iter().filter(|rule| rule.applies(revision, channel) && options.takes(rule)) {
            let case = RuleCase { rule, revision, channel, shared: Arc::clone(&shared) };
            cases.push((format!("{revision} {}", rule.id), case));
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

/// State shared by the cases of a run.
struct Shared {
    wanted: Vec<Revision>,
    /// True if the user named one revision: then it is tested whatever the server says.
    is_named: bool,
    probe: ProbeOptions,
    /// Observations, by variant and trial.
    runs: Mutex<HashMap<VariantAndTrial, Arc<Examined>>>,
}

/// The variant and the trial of a case.
type VariantAndTrial = (Option<String>, u32);

/// Observations of one server, made once.
#[derive(Default)]
struct Examined {
    /// The verdicts of each revision that is served; made by whichever case comes first.
    verdicts: OnceCell<Result<HashMap<Revision, Judged>, String>>,
    /// True if the missing evidence was already reported.
    has_failed: AtomicBool,
}

/// The verdicts on one revision, and what was left out.
struct Judged {
    graded: Vec<Graded>,
    notes: Vec<String>,
    /// Conversations that are not in the log yet: the first case of the revision takes them over.
    said: Mutex<Vec<Recording>>,
}

/// One rule in one revision.
struct RuleCase {
    rule: &'static Rule,
    revision: Revision,
    channel: Channel,
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
        let (variant, trial) = case.record.variant_and_trial();
        let only = match (&variant, case.server.protocol) {
            (Some(_), Protocol::Exactly(only)) => Some(only),
            _ => None,
        };
        if let Some(only) = only.filter(|only| *only != self.revision) {
            return ScanEnd::Skipped(format!("this variant is about {only}"));
        }
        let examined = {
            let mut runs = shared.runs.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(runs.entry((variant, trial)).or_default())
        };
        let verdicts = examined.verdicts.get_or_init(|| async {
            let opener = &case.context.opener;
            let Some(endpoint) = opener.raw_endpoint(case.server, case.fixture_guard.variables()).await else {
                return Err("only servers over stdio and Streamable HTTP can be tested".to_owned());
            };
            let tokens = shared.probe.tokens.clone();
            let own = &case.context.opener.tokens;
            let probe = ProbeOptions {
                tokens: tokens.map(|probe| TokenProbe { tokens: own.clone(), ..probe }),
                scratch: case.fixture_guard.scratch().to_owned(),
                places: case.fixture_guard.places(),
                memory: Arc::default(),
                ..shared.probe.clone()
            };
            shared.examine(endpoint, probe, only).await
        });
        let mut stop = case.context.stop.clone();
        let verdicts = tokio::select! {
            biased;
            // The probes wait for replies up to their deadlines, and there are many.
            () = stop.stopped() => return ScanEnd::Interrupted,
            verdicts = verdicts => verdicts,
        };
        let verdicts = match verdicts {
            Ok(verdicts) => verdicts,
            Err(why) => {
                if examined.has_failed.swap(true, Ordering::Relaxed) {
                    return ScanEnd::Skipped(format!("blocked: {why}"));
                }
                let kind = if why == FLOODED { "flood" } else { "no-session" };
                case.record.findings.push(Finding::error(kind, why.clone()));
                case.record.is_unreachable = true;
                return ScanEnd::Judged;
            }
        };
        case.record.mark(|timings| &mut timings.call);
        let Some(judged) = verdicts.get(&self.revision) else {
            return ScanEnd::Skipped(format!("the server does not serve {}", self.revision));
        };
        let said = std::mem::take(&mut *judged.said.lock().unwrap_or_else(PoisonError::into_inner));
        self.log(said, case.record);
        if is_about_lists(self.rule) {
            let notes = judged.notes.iter().map(|note| Finding::note("list-cut", note.clone()));
            case.record.findings.extend(notes);
        }
        let Some(graded) = judged.graded.iter().find(|graded| graded.rule.id == self.rule.id) else {
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

impl RuleCase {
    /// Puts conversations into the log, each as a session of this case.
    fn log(&self, said: Vec<Recording>, record: &mut CaseRecord) {
        let mut log = ConnectionLog::default();
        for (session, recording) in (0..).zip(said) {
            let opening = Evidence::new(self.revision, self.channel, vec![recording]);
            let info = opening.opening().map(|result| result["serverInfo"].clone()).unwrap_or_default();
            let text = |key: &str| info[key].as_str().unwrap_or_default().to_owned();
            log.connected.push(Connected {
                index: 0,
                session,
                server: None,
                began_us: 0,
                transport: self.channel.as_str().to_owned(),
                protocol: self.revision.to_string(),
                server_name: text("name"),
                server_version: text("version"),
            });
            let frames = opening.recordings.into_iter().flat_map(Recording::into_frames);
            log.frames.extend(frames.map(|frame| (session, frame)));
        }
        record.take_said(log);
    }
}

/// True for the rule that says what was left out of lists.
fn is_about_lists(rule: &Rule) -> bool {
    rule.id == "mcp-declared-works"
}

impl Shared {
    /// Makes the evidence of every revision, or of the one that a variant is about, and judges it.
    async fn examine(
        &self,
        endpoint: Endpoint,
        probe: ProbeOptions,
        only: Option<Revision>,
    ) -> Result<HashMap<Revision, Judged>, String> {
        let endpoint = authorized(endpoint, &probe).await?;
        let survey = Arc::new(survey(&endpoint, &probe).await?);
        let mut revisions: Vec<Revision> =
            self.wanted.iter().copied().filter(|revision| self.is_named || survey.served.contains(revision)).collect();
        revisions.retain(|revision| only.is_none_or(|only| only == *revision));
        if survey.served.is_empty() && !self.is_named {
            // A server that answers nothing breaks the first rule of whatever revision it means to serve.
            let mut legacy = self.wanted.iter().copied().filter(|revision| revision.era() == Era::Legacy);
            revisions = legacy.next_back().into_iter().collect();
        }
        // What one revision writes must not be taken for the work of another.
        let at_once = if probe.consent == Consent::IncludeWrites { 1 } else { AT_ONCE };
        let turns = Arc::new(Semaphore::new(at_once));
        let mut tasks = JoinSet::new();
        for (position, revision) in revisions.into_iter().enumerate() {
            let (endpoint, survey, turns, probe) =
                (endpoint.clone(), Arc::clone(&survey), Arc::clone(&turns), probe.clone());
            tasks.spawn(async move {
                let _turn = turns.acquire().await;
                let evidence = examine(&endpoint, revision, &survey, &probe).await?;
                let graded = judge(&evidence, |_| true);
                let mut said = evidence.recordings;
                // The offers were made once for all revisions.
                said.truncate(said.len() - if position == 0 { 0 } else { survey.recordings.len() });
                Ok::<_, String>((revision, Judged { graded, notes: evidence.notes, said: Mutex::new(said) }))
            });
        }
        let mut verdicts = HashMap::new();
        while let Some(done) = tasks.join_next().await {
            let (revision, judged) = done.map_err(|error| error.to_string())??;
            verdicts.insert(revision, judged);
        }
        Ok(verdicts)
    }
}
