//! The fuzzing of a tool: a plan of adversarial calls on servers of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcprove_judge::fuzz::ValuePool;
use mcprove_judge::harm::HarmGuard;
use mcprove_judge::tool_effect::ToolEffect;
use mcprove_model::{Finding, Severity};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::{Connections, Scan, ScanCase, ScanEnd, ScanFuture, ScanResult};
use crate::discover::tool_name;
use crate::fuzz::connection::ConnectionLog;
use crate::fuzz::context::{FuzzContext, FuzzSettings};
use crate::fuzz::finding::{self, quoted};
use crate::fuzz::survey::survey;
use crate::fuzz::tool::{Task, ToolRun, work};
use crate::fuzz::{CallCounts, Failure};
use crate::sandbox_refusals::refusal_note;

/// Settings shared by the tools of a fuzz run.
pub(crate) struct FuzzPlan {
    /// The tools that are called, in listed order.
    pub(crate) tools: Vec<FuzzTarget>,
    /// Fixes every byte of every call.
    pub(crate) seed: u64,
    /// The number of calls for each tool.
    pub(crate) runs: usize,
    /// The time after which everything ends, whatever is left to do.
    pub(crate) time: Option<Duration>,
    /// The time a server may take to start.
    pub(crate) start: Duration,
    /// The time a call may take.
    pub(crate) timeout: Duration,
    /// True if success on an input that the schema refuses is a failure.
    pub(crate) strict_input: bool,
    /// The number of fresh servers that may be started to shrink one failure.
    pub(crate) attempts: usize,
    /// True if everything may be sent.
    pub(crate) allows_all: bool,
    /// The command line that repeats all of this, without `--tool`, `--runs` and `--seed`.
    pub(crate) command: String,
    /// The beginning of a command line that calls one tool of the same server.
    pub(crate) call: String,
    /// The end of the run, and what each tool answered to a valid call; decided by whichever tool comes first.
    pub(crate) begun: OnceCell<Begun>,
}

/// A tool that is fuzzed.
pub(crate) struct FuzzTarget {
    pub(crate) tool: Value,
    pub(crate) effect: ToolEffect,
    /// Arguments that the user gave.
    pub(crate) given: Vec<Value>,
}

/// State before the first adversarial call.
pub(crate) struct Begun {
    until: Option<Instant>,
    /// Values that the tools answer with.
    pool: ValuePool,
    /// The conversation about each tool so far, until its case takes it.
    said: Mutex<BTreeMap<usize, ConnectionLog>>,
}

/// The adversarial calls of one tool.
pub(crate) struct FuzzTool {
    pub(crate) plan: Arc<FuzzPlan>,
    /// Its place among the tools of the plan.
    pub(crate) at: usize,
}

/// A tool that was fuzzed.
#[derive(Debug)]
pub struct FuzzedTool {
    /// Its name.
    pub name: String,
    /// The results of its calls, counted.
    pub tally: CallCounts,
    /// Failures and notes.
    pub failures: Vec<Failure>,
    /// All calls that were made, also those that shrank failures.
    pub calls: usize,
    /// True if there were fewer distinct inputs than calls were asked for.
    pub is_exhausted: bool,
    /// The command that works on it again.
    pub again: String,
}

impl Scan for FuzzTool {
    fn connections(&self) -> Connections {
        Connections::Own
    }

    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s> {
        Box::pin(self.fuzz(case))
    }
}

impl FuzzTool {
    async fn fuzz(&self, case: ScanCase<'_>) -> ScanEnd {
        let plan = &*self.plan;
        let begun = plan.begun.get_or_init(|| plan.begin(&case)).await;
        let fuzz_context = plan.fuzz_context(&case, begun.until);
        let not_called = || ScanEnd::Skipped(format!("{} before its first call", fuzz_context.why_over()));
        if fuzz_context.is_over() {
            return not_called();
        }
        let FuzzTarget { tool, given, .. } = &plan.tools[self.at];
        let mut pool = begun.pool.clone();
        for given in given {
            pool.give(given.clone());
        }
        let said = begun.said.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.at).unwrap_or_default();
        let guard = plan.guard(self.at, &case);
        let run = work(&fuzz_context, Task { tool, seed: plan.seed, runs: plan.runs, pool, said, guard }).await;
        // A tool that was not called did not pass, unless something else is known to be wrong.
        if run.tally.runs == 0 && !run.notes.iter().any(|note| note.severity >= Severity::Error) {
            return not_called();
        }
        self.record(run, &fuzz_context, case);
        ScanEnd::Judged
    }

    fn record(&self, run: ToolRun, fuzz_context: &FuzzContext, case: ScanCase<'_>) {
        let name = tool_name(&self.plan.tools[self.at].tool).to_owned();
        let again = self.plan.again(&name);
        // Other reasons to stop early have notes of their own.
        let cut_off = !run.is_complete && run.notes.is_empty();
        let record = case.record;
        record
            .findings
            .extend(run.failures.iter().map(|failure| finding::finding(failure, &again, Some(&self.plan.call))));
        if run.tally.runs == 0 && !run.is_complete {
            record.is_unreachable = true;
        }
        record.findings.extend(run.notes);
        let calls = if run.tally.runs == 1 { "call" } else { "calls" };
        let until = match (cut_off, run.is_exhausted) {
            (true, _) => format!(" until {}", fuzz_context.why_over()),
            (false, true) => format!(" instead of {}, because there are no more distinct inputs", self.plan.runs),
            (false, false) => String::new(),
        };
        let summary = format!("{} {calls}{until}: {}", run.tally.runs, run.tally.counts_text());
        let oddities = record.take_said(run.said);
        record.findings.extend(oddities);
        record.findings.push(Finding::note("fuzzed", summary));
        record.findings.extend(fuzz_context.refused().map(refusal_note));
        record.calls.extend(run.records);
        record.mark(|timings| &mut timings.fuzz);
        let calls = fuzz_context.calls();
        let is_exhausted = run.is_exhausted;
        let fuzzed = FuzzedTool { name, tally: run.tally, failures: run.failures, calls, is_exhausted, again };
        record.scanned = Some(ScanResult::Fuzz(Box::new(fuzzed)));
    }
}

impl FuzzPlan {
    /// Calls each tool once with valid input. The replies feed later calls, and do not depend on the shard.
    async fn begin(&self, case: &ScanCase<'_>) -> Begun {
        let until = self.time.map(|time| Instant::now() + time);
        let guards: Vec<HarmGuard> = (0..self.tools.len()).map(|at| self.guard(at, case)).collect();
        let tools: Vec<(&Value, &HarmGuard)> = self.tools.iter().map(|target| &target.tool).zip(&guards).collect();
        // One tool has no other to learn from.
        let (pool, said) = if tools.len() > 1 {
            survey(&self.fuzz_context(case, until), &tools, self.seed).await
        } else {
            (ValuePool::default(), Vec::new())
        };
        Begun { until, pool, said: Mutex::new(said.into_iter().enumerate().collect()) }
    }

    fn fuzz_context(&self, case: &ScanCase<'_>, until: Option<Instant>) -> FuzzContext {
        FuzzContext::new(FuzzSettings {
            opener: case.context.opener.as_ref().clone(),
            server: case.server.as_ref().clone(),
            variables: case.fixture_guard.variables().clone(),
            start: self.start,
            timeout: self.timeout,
            attempts: self.attempts,
            strict_input: self.strict_input,
            keep_frames: case.context.keep_frames,
            environment: Arc::clone(&case.context.environment),
            stop: case.context.stop.clone(),
            until,
            counter: Arc::clone(&case.context.calls),
        })
    }

    fn guard(&self, at: usize, case: &ScanCase<'_>) -> HarmGuard {
        let FuzzTarget { tool, effect, given } = &self.tools[at];
        case.fixture_guard.guard(tool, effect, given).allowing_all_if(self.allows_all)
    }

    /// The command that works on one tool again.
    fn again(&self, tool: &str) -> String {
        let Self { command, seed, runs, .. } = self;
        format!("{command} --tool {} --runs {runs} --seed {seed}", quoted(tool))
    }
}
