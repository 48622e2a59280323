//! Sequences of calls on a server: three cases, one for sequences, one for two clients at once, one for what grows.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcprove_judge::harm::HarmGuard;
use mcprove_judge::sequences::{SequenceModel, Step, Surroundings};
use mcprove_model::{Case, Finding, FuzzDictionary, ServerSpec, SourceFile, Span, nearest};
use serde_json::Value;
use tokio::time::Instant;

use super::{Connections, Scan, ScanCase, ScanEnd, ScanFuture, ScanResult, ScanSubject};
use crate::fuzz::context::{FuzzContext, FuzzSettings, ReplyJudge};
use crate::sequences::SequenceFailure;
use crate::sequences::explore::{Exploration, explore};
use crate::sequences::growth::growth;
use crate::sequences::interleave::interleave;
use crate::sequences::life::Surround;

/// Options of the work on sequences.
#[derive(Clone, Debug)]
pub struct SequenceScan {
    /// The number of calls.
    pub calls: usize,
    /// The time after which everything ends.
    pub time: Option<Duration>,
    /// The number of fresh servers that may be started to shrink one failure.
    pub attempts: usize,
    /// The command line that repeats all of this, without `--seed`.
    pub command: String,
    /// Files of the corpus, with their content.
    pub corpus: Vec<(String, String)>,
    /// True if only those are performed.
    pub replays_only: bool,
    /// The dictionary of the user.
    pub dictionary: FuzzDictionary,
    /// The file of the dictionary.
    pub source: Option<Arc<SourceFile>>,
}

/// State that the cases share.
pub(crate) struct SequencePlan {
    pub(crate) model: SequenceModel,
    pub(crate) tools: Vec<Value>,
    pub(crate) around: Surroundings,
    pub(crate) options: SequenceScan,
    pub(crate) corpus: Vec<Vec<Step>>,
    pub(crate) fixture: Option<PathBuf>,
    pub(crate) start: Duration,
    pub(crate) timeout: Duration,
    pub(crate) seed: u64,
    /// The time of the first call.
    pub(crate) begun: OnceLock<Instant>,
}

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Sequences,
    Interleavings,
    Growth,
}

struct SequenceCase {
    plan: Arc<SequencePlan>,
    work: Work,
}

/// The result of a case.
#[derive(Debug)]
pub struct SequenceRun {
    /// Its failures.
    pub failures: Vec<SequenceFailure>,
    /// The calls that were made, also those that shrank failures.
    pub calls: usize,
    /// The calls of the plan.
    pub planned: usize,
    /// Sequences that showed something new, as files of a corpus.
    pub corpus: Vec<crate::sequences::CorpusEntry>,
    /// The command that does all of this again.
    pub again: String,
}

/// The cases, and findings about the corpus.
pub(crate) fn plan_sequences(
    server: &Arc<ServerSpec>,
    plan: SequencePlan,
    has_writes: bool,
) -> (Vec<Arc<Case>>, Vec<Finding>) {
    let start = plan.start;
    let fixture = plan.fixture.clone();
    let mut findings: Vec<Finding> =
        plan.model.described().into_iter().map(|line| Finding::note("learned", line)).collect();
    let replays_only = plan.options.replays_only;
    let mut plan = plan;
    for (name, text) in &plan.options.corpus {
        match crate::sequences::read_entry(&plan.model, text) {
            Ok(steps) => plan.corpus.push(steps),
            Err(problem) => {
                findings.push(Finding::error("bad-corpus", format!("`{name}`: {problem}")).help("remove the file"));
            }
        }
    }
    findings.extend(unknown_tools(&plan));
    let plan = Arc::new(plan);
    let works = [
        ("sequences", Work::Sequences, None),
        (
            "interleavings",
            Work::Interleavings,
            (!has_writes).then_some("no tool that writes may be called (`--include-writes`)"),
        ),
        ("growth", Work::Growth, None),
    ];
    let works = works.into_iter().filter(|(_, work, _)| !replays_only || *work == Work::Sequences);
    let cases = works.map(|(name, work, skip)| {
        let subject = ScanSubject {
            name,
            server,
            fixture: fixture.clone(),
            skip: skip.map(str::to_owned),
            tags: vec!["sequences".to_owned()],
            start,
        };
        subject.case("sequences", SequenceCase { plan: Arc::clone(&plan), work })
    });
    (cases.collect(), findings)
}

/// Tools that the user names and that cannot be called.
fn unknown_tools(plan: &SequencePlan) -> Vec<Finding> {
    let Some(source) = &plan.options.source else { return Vec::new() };
    let dictionary = &plan.options.dictionary;
    let linked = dictionary.links.iter().flat_map(|link| &link.tools).map(|linked| (linked.tool.as_str(), linked.span));
    let demanded = dictionary.invariants.iter().map(|demand| (demand.tool.as_str(), demand.span));
    let names = || plan.model.tools.iter().map(|tool| tool.name.as_str());
    let unknown = |(name, span): (&str, Span)| {
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "tools that write are called with `--include-writes` only".to_owned(),
        };
        let text = format!("`fuzz` names the tool `{name}`, which may not be called or does not exist");
        Finding::error("unknown-tool", text).at(source.place(span)).help(help)
    };
    linked.chain(demanded).filter(|(name, _)| !names().any(|known| known == *name)).map(unknown).collect()
}

impl Scan for SequenceCase {
    fn connections(&self) -> Connections {
        Connections::Own
    }

    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s> {
        Box::pin(self.work(case))
    }
}

impl SequenceCase {
    async fn work(&self, case: ScanCase<'_>) -> ScanEnd {
        let plan = &*self.plan;
        let fuzz_context = FuzzContext::new(FuzzSettings {
            opener: case.context.opener.as_ref().clone(),
            server: case.server.as_ref().clone(),
            variables: case.fixture_guard.variables().clone(),
            start: plan.start,
            timeout: plan.timeout,
            attempts: plan.options.attempts,
            strict_input: false,
            keep_frames: case.context.keep_frames,
            environment: Arc::clone(&case.context.environment),
            stop: case.context.stop.clone(),
            until: plan.options.time.map(|time| *plan.begun.get_or_init(Instant::now) + time),
            counter: Arc::clone(&case.context.calls),
        });
        let judges: Vec<ReplyJudge> = plan.tools.iter().map(|tool| fuzz_context.reply_judge(tool)).collect();
        let surround = Surround {
            fuzz_context: &fuzz_context,
            model: &plan.model,
            judges: &judges,
            fixture: plan.fixture.as_deref(),
            demands: &plan.options.dictionary.invariants,
            source: plan.options.source.as_deref(),
            guard: case.fixture_guard,
        };
        let again = format!("{} --seed {}", plan.options.command, plan.seed);
        let (failures, planned, corpus) = match self.work {
            Work::Sequences => self.sequences(&surround, &mut *case.record, case.context.keep_frames).await,
            Work::Interleavings => {
                let result = Box::pin(interleave(&surround, plan.seed, &plan.around)).await;
                let calls = fuzz_context.calls();
                let unsteady = if result.unsteady > 0 {
                    format!(", {} of which differ from run to run", result.unsteady)
                } else {
                    String::new()
                };
                let text = format!("{calls} calls: {} pairs of calls at once{unsteady}", result.pairs);
                case.record.findings.push(Finding::note("fuzzed", text));
                (result.failures, calls, Vec::new())
            }
            Work::Growth => {
                let result = Box::pin(growth(&surround, plan.seed, &plan.around)).await;
                if result.is_unknown {
                    return ScanEnd::Skipped(
                        "the server is not a process whose use of the machine can be measured".to_owned(),
                    );
                }
                let calls = fuzz_context.calls();
                let text = format!("{calls} calls: {} calls repeated", result.sequences);
                case.record.findings.push(Finding::note("fuzzed", text));
                (result.failures, calls, Vec::new())
            }
        };
        case.record.findings.extend(failures.iter().map(|failure| failure.finding(&again)));
        case.record.mark(|timings| &mut timings.fuzz);
        let calls = fuzz_context.calls();
        if calls == 0 && failures.is_empty() {
            return ScanEnd::Skipped(format!("{} before the first call", fuzz_context.why_over()));
        }
        let corpus =
            corpus.iter().map(|steps: &Vec<Step>| crate::sequences::written_entry(&plan.model, steps)).collect();
        let run = SequenceRun { failures, calls, planned, corpus, again };
        case.record.scanned = Some(ScanResult::Sequences(Box::new(run)));
        ScanEnd::Judged
    }

    async fn sequences(
        &self,
        surround: &Surround<'_>,
        record: &mut crate::record::CaseRecord,
        keep_frames: bool,
    ) -> (Vec<SequenceFailure>, usize, Vec<Vec<Step>>) {
        let plan = &*self.plan;
        // A server without data of ours forgets everything, and one elsewhere cannot be started again.
        let restarts = plan.fixture.is_some();
        let task = Exploration {
            seed: plan.seed,
            calls: plan.options.calls,
            around: &plan.around,
            restarts,
            keep_frames,
            corpus: &plan.corpus,
            replays_only: plan.options.replays_only,
        };
        let explored = Box::pin(explore(surround, &task)).await;
        let until =
            if explored.is_cut_off { format!(" until {}", surround.fuzz_context.why_over()) } else { String::new() };
        let servers =
            if explored.servers == 1 { "1 server".to_owned() } else { format!("{} servers", explored.servers) };
        let text = format!("{} calls on {servers}{until}", explored.calls);
        record.findings.push(Finding::note("fuzzed", text));
        if explored.facts.late > 0 {
            let text = format!(
                "{} replies showed the state before a change, and the state after it when they were asked for again",
                explored.facts.late
            );
            record.findings.push(Finding::note("settles-late", text));
        }
        record.findings.extend(explored.notes);
        record.calls.extend(explored.records);
        for closing in explored.said {
            // Each server is a session of the case.
            record.closed_session(0, mcprove_wire::Closing { oddities: Vec::new(), ..closing });
        }
        (explored.failures, explored.calls, explored.corpus)
    }
}

/// The guards of the tools that may be called.
pub(crate) fn surroundings(
    guards: Vec<HarmGuard>,
    given: Vec<Vec<Value>>,
    places: Option<mcprove_judge::generate::Places>,
) -> Surroundings {
    Surroundings { places, guards, given }
}
