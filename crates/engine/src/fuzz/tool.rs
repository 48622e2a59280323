//! Fuzzing of one tool: its plan, the calls, and their results.

use std::collections::VecDeque;
use std::time::Duration;

use mcprove_judge::fuzz::{FuzzCase, FuzzPlan, FuzzVerdict, ValuePool};
use mcprove_judge::harm::{HarmGuard, argument_schema};
use mcprove_model::{CallRecord, CallRole, Finding, Outcome};
use mcprove_wire::OpenFailure;
use serde_json::Value;

use super::attempt::TargetFailure;
use super::connection::{ConnectionLog, FuzzConnection, ToolInput};
use super::context::{Called, FuzzContext, ReplyJudge};
use super::failure::{Failure, Reproduction};
use super::load::{self, Answered};
use super::minimal::{Suspect, as_step, minimal};
use crate::calls;

/// Maximum number of unanswered calls of a tool before the rest of its plan is skipped.
const SILENCES: usize = 5;

/// Number of cases generated ahead of the calls.
const AHEAD: usize = 1024;

/// From this size on an input is large, and memory for all large ones: they are kept to be shrunk.
const LARGE: usize = 1 << 20;
const LARGE_INPUTS: usize = 32 << 20;

/// Maximum number of calls kept per tool where all are wanted.
const KEPT: usize = 1_000;

/// Maximum number of different failures of a tool that are shrunk; more usually have one common cause.
const SHRUNK: usize = 12;

/// Results of the calls of a tool, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls of the plan that were made.
    pub runs: usize,
    /// Answered properly.
    pub handled: usize,
    /// The server went away or reported that something broke inside it.
    pub crashes: usize,
    /// No answer, and no answer to a ping.
    pub hangs: usize,
    /// No answer in time, but one to a ping.
    pub slow: usize,
    /// Broken replies.
    pub protocol: usize,
    /// Replies that gave away what should have stayed inside.
    pub leaks: usize,
    /// Success on an input that the schema refuses.
    pub accepted_invalid: usize,
    /// Structured content that does not match the output schema.
    pub output_mismatches: usize,
    /// Failures that only concurrent calls caused; these calls are not part of the plan.
    pub at_once: usize,
}

/// The work on one tool.
pub(crate) struct Task<'t> {
    pub(crate) tool: &'t Value,
    pub(crate) seed: u64,
    pub(crate) runs: usize,
    pub(crate) pool: ValuePool,
    pub(crate) said: ConnectionLog,
    /// Guard for the inputs that may be sent.
    pub(crate) guard: HarmGuard,
}

/// Result of fuzzing one tool.
#[derive(Debug)]
pub(crate) struct ToolRun {
    pub(crate) tally: CallCounts,
    pub(crate) failures: Vec<Failure>,
    /// The first call of each failure.
    pub(crate) records: Vec<CallRecord>,
    /// Further notes.
    pub(crate) notes: Vec<Finding>,
    /// True if the plan was made to its end.
    pub(crate) is_complete: bool,
    /// True if there were fewer distinct inputs than calls were asked for.
    pub(crate) is_exhausted: bool,
    pub(crate) said: ConnectionLog,
}

/// Works through a tool's plan, then makes each failure small.
pub(crate) async fn work(fuzz_context: &FuzzContext, task: Task<'_>) -> ToolRun {
    let reply_judge = fuzz_context.reply_judge(task.tool);
    let mut hand = ToolFuzzer {
        fuzz_context,
        reply_judge: &reply_judge,
        line: FuzzConnection::new(fuzz_context, task.said),
        sent: Vec::new(),
        since: 0,
        found: Vec::new(),
        large_bytes: 0,
        answered: Vec::new(),
        silences: 0,
        pool: task.pool,
        learns: true,
        troubles: 0,
        guard: task.guard.clone(),
        run: ToolRun {
            tally: CallCounts::default(),
            failures: Vec::new(),
            records: Vec::new(),
            notes: Vec::new(),
            is_complete: true,
            is_exhausted: false,
            said: ConnectionLog::default(),
        },
    };
    let schema = argument_schema(task.tool);
    let mut plan = FuzzPlan::new(&schema, task.seed, task.runs).guarded(task.guard);
    let first = plan.first(&hand.pool, &|| fuzz_context.is_over());
    let mut goes_on = hand.make(first).await;
    // What is made from now on knows what the server has said until here.
    hand.learns = false;
    while goes_on {
        let more = plan.more(&hand.pool, AHEAD);
        if more.is_empty() {
            break;
        }
        goes_on = hand.make(more).await;
    }
    if goes_on {
        let failed = Box::pin(load::under_load(fuzz_context, &reply_judge, &hand.answered, &mut hand.line)).await;
        if let Some(failure) = failed {
            hand.add(failure);
        }
    }
    hand.line.end().await;
    hand.run.is_complete = goes_on;
    hand.run.is_exhausted = goes_on && hand.run.tally.runs < task.runs;
    Box::pin(hand.make_small()).await;
    hand.run.said = hand.line.said;
    hand.run
}

/// A call that was sent.
pub(super) struct Sent {
    label: String,
    /// The arguments as they were sent.
    text: String,
}

/// The first call that failed in a way that was not known before.
pub(super) struct FirstFailure {
    pub(super) signature: String,
    pub(super) verdict: FuzzVerdict,
    pub(super) arguments: Value,
    /// Its place among what was sent, and that of the first call that the same server got.
    pub(super) at: usize,
    pub(super) since: usize,
    pub(super) is_exit: bool,
    pub(super) is_silence: bool,
    pub(super) times: usize,
    pub(super) elapsed_us: u64,
    pub(super) stderr: String,
}

/// The work in progress.
pub(super) struct ToolFuzzer<'w> {
    pub(super) fuzz_context: &'w FuzzContext,
    pub(super) reply_judge: &'w ReplyJudge,
    pub(super) line: FuzzConnection<'w>,
    /// The calls sent so far.
    pub(super) sent: Vec<Sent>,
    /// The first of them that the current server got.
    pub(super) since: usize,
    pub(super) found: Vec<FirstFailure>,
    /// Bytes of the large inputs sent so far.
    large_bytes: usize,
    pub(super) answered: Vec<Answered>,
    /// Number of unanswered calls.
    silences: usize,
    /// Values that the server knows, and whether more are still of use.
    pool: ValuePool,
    learns: bool,
    /// Number of times that the results of concurrent calls were unclear.
    pub(super) troubles: usize,
    /// Guard for the inputs that may be sent.
    guard: HarmGuard,
    pub(super) run: ToolRun,
}

impl ToolFuzzer<'_> {
    /// Makes calls; false when the rest of the plan is to be left.
    async fn make(&mut self, cases: Vec<FuzzCase>) -> bool {
        let mut cases = VecDeque::from(cases);
        while !cases.is_empty() {
            let width = self.width().min(cases.len());
            let next: Vec<FuzzCase> = cases.drain(..width).collect();
            let is_plain = !next.iter().any(FuzzCase::is_left_out);
            let goes_on = if width > 1 && is_plain { self.together(next).await } else { self.one_by_one(next).await };
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Makes calls, each once the one before it is judged; false when the rest of the plan is to be left.
    pub(super) async fn one_by_one(&mut self, cases: Vec<FuzzCase>) -> bool {
        for case in cases {
            if self.fuzz_context.is_over() {
                return false;
            }
            if self.large_bytes > LARGE_INPUTS {
                let text =
                    format!("its inputs take more than {} MiB, so the rest of the plan was left", LARGE_INPUTS >> 20);
                self.run.notes.push(Finding::note("plan-left", text));
                return false;
            }
            if self.line.is_fresh() {
                self.since = self.sent.len();
            }
            let call =
                ToolInput { tool: &self.reply_judge.name, arguments: &case.arguments, is_left_out: case.is_left_out() };
            let called = match self.line.call(call, self.wait()).await {
                Ok(called) => called,
                Err(failure) => return self.not_started(*failure),
            };
            let verdict = self.reply_judge.verdict(&called, &case.arguments, case.accepted);
            self.silences += usize::from(called.is_silence());
            self.take(case, &called, verdict);
            if self.silences >= SILENCES {
                let text = format!("{SILENCES} calls were not answered, so the rest of the plan was left");
                self.run.notes.push(Finding::note("plan-left", text));
                return false;
            }
        }
        true
    }

    /// Adds the finding that the server cannot be restarted.
    pub(super) fn not_started(&mut self, failure: OpenFailure) -> bool {
        let text = format!("the server could not be started again: {}", failure.message);
        let mut finding = Finding::error("no-session", text);
        finding.help = failure.help;
        self.run.notes.push(finding);
        false
    }

    /// Takes the result of a call.
    pub(super) fn take(&mut self, case: FuzzCase, called: &Called, verdict: FuzzVerdict) {
        if let Outcome::Result(result) = &called.exchange.outcome {
            if self.learns {
                self.pool.harvest(result);
            }
            if verdict == FuzzVerdict::Handled {
                load::remember(&mut self.answered, &case.arguments, result, called.exchange.elapsed_us);
            }
        }
        self.large_bytes += Some(case.text.len()).filter(|length| *length >= LARGE).unwrap_or_default();
        self.sent.push(Sent { label: case.label, text: case.text });
        self.run.tally.add(&verdict);
        // Calls that are wanted besides those that fail.
        let is_new = !self.is_known(&verdict) && fails(&verdict, self.fuzz_context.strict_input);
        if self.fuzz_context.keep_frames && !is_new && self.run.records.len() < KEPT {
            self.run.records.push(calls::record(CallRole::Probe, Some(&self.reply_judge.name), &called.exchange));
        }
        self.note(verdict, called, case.arguments);
    }

    /// Time a call may take: shorter once the tool is known to hang, so that the full timeout is not awaited each time.
    pub(super) fn wait(&self) -> Duration {
        if self.silences > 0 { self.fuzz_context.short_wait() } else { self.fuzz_context.timeout }
    }

    /// True if a verdict needs no closer look: a handled call, or a known failure.
    pub(super) fn is_known(&self, verdict: &FuzzVerdict) -> bool {
        *verdict == FuzzVerdict::Handled || self.found_before(verdict).is_some()
    }

    /// The failure that a verdict is one more of.
    fn found_before(&self, verdict: &FuzzVerdict) -> Option<usize> {
        // Most are the same to the letter, and telling so takes no normalising.
        self.found.iter().position(|known| known.verdict == *verdict).or_else(|| {
            let signature = self.reply_judge.signature(verdict)?;
            self.found.iter().position(|known| known.signature == signature)
        })
    }

    /// Notes a failure: a new one, or one more of the same.
    fn note(&mut self, verdict: FuzzVerdict, called: &Called, arguments: Value) {
        if verdict == FuzzVerdict::Handled {
            return;
        }
        if let Some(known) = self.found_before(&verdict) {
            self.found[known].times += 1;
            return;
        }
        let Some(signature) = self.reply_judge.signature(&verdict) else { return };
        if fails(&verdict, self.fuzz_context.strict_input) {
            self.run.records.push(calls::record(CallRole::Act, Some(&self.reply_judge.name), &called.exchange));
        }
        self.found.push(FirstFailure {
            signature,
            verdict,
            arguments,
            at: self.sent.len() - 1,
            since: self.since,
            is_exit: matches!(called.exchange.outcome, Outcome::Closed { .. }),
            is_silence: called.is_silence(),
            times: 1,
            elapsed_us: called.exchange.elapsed_us,
            stderr: match &called.exchange.outcome {
                // The session is over, and what it left was taken from it.
                Outcome::Closed { .. } if called.stderr.is_empty() => self.line.said.stderr.clone(),
                Outcome::Result(_)
                | Outcome::Error(_)
                | Outcome::Malformed(_)
                | Outcome::Refused(_)
                | Outcome::Closed { .. }
                | Outcome::TimedOut { .. }
                | Outcome::Cancelled => called.stderr.clone(),
            },
        });
    }

    /// Adds a failure that concurrent calls cause; duplicates are reported once.
    pub(super) fn add(&mut self, failure: Failure) {
        let signature = self.reply_judge.signature(&failure.verdict);
        if let Some(known) =
            self.run.failures.iter_mut().find(|known| self.reply_judge.signature(&known.verdict) == signature)
        {
            known.times += 1;
        } else {
            self.run.tally.at_once += 1;
            self.run.failures.push(failure);
        }
    }

    /// The arguments of a call that was sent.
    pub(super) fn arguments(&self, at: usize) -> Value {
        // Texts of ours always parse.
        self.sent.get(at).and_then(|sent| serde_json::from_str(&sent.text).ok()).unwrap_or_default()
    }

    async fn make_small(&mut self) {
        let mut small = 0;
        // A tool that answered nothing at all is not slow on some inputs: it does not work.
        let is_silent = self.run.tally.slow > 0 && self.run.tally.slow == self.run.tally.runs;
        for found in std::mem::take(&mut self.found) {
            let is_shrunk = fails(&found.verdict, self.fuzz_context.strict_input);
            let fails = is_shrunk || is_silent;
            let is_left_out = self.sent[found.at].text.is_empty();
            let mut failure = Failure {
                tool: self.reply_judge.name.clone(),
                verdict: found.verdict,
                label: self.sent[found.at].label.clone(),
                original: found.arguments,
                is_left_out,
                reproduction: Reproduction::NotTried,
                times: found.times,
                elapsed_us: found.elapsed_us,
                stderr: found.stderr,
                fails,
            };
            if is_shrunk && small < SHRUNK && !self.fuzz_context.is_over() {
                small += 1;
                let before = (found.since..found.at).map(|at| as_step(self.arguments(at))).collect();
                let wanted = TargetFailure { signature: found.signature, is_exit: found.is_exit, is_left_out };
                let (is_silence, arguments) = (found.is_silence, &failure.original);
                let suspect = Suspect { wanted, is_silence, arguments, before, guard: &self.guard };
                let minimal = minimal(self.fuzz_context, self.reply_judge, &suspect).await;
                failure.reproduction = minimal.reproduction;
                if let Some(blamed) = found.at.checked_sub(1).filter(|_| minimal.is_of_the_call_before) {
                    (failure.label, failure.original) = (self.sent[blamed].label.clone(), self.arguments(blamed));
                    failure.is_left_out = false;
                }
                failure.verdict = minimal.verdict.unwrap_or(failure.verdict);
            }
            self.run.failures.push(failure);
        }
    }
}

/// True if a verdict fails the run.
pub(super) fn fails(verdict: &FuzzVerdict, strict_input: bool) -> bool {
    match verdict {
        FuzzVerdict::Handled | FuzzVerdict::Slow => false,
        FuzzVerdict::AcceptedInvalid => strict_input,
        FuzzVerdict::Crash(_)
        | FuzzVerdict::Hang
        | FuzzVerdict::Protocol(_)
        | FuzzVerdict::Leak(_)
        | FuzzVerdict::OutputMismatch(_) => true,
    }
}

impl CallCounts {
    fn add(&mut self, verdict: &FuzzVerdict) {
        self.runs += 1;
        *self.of(verdict) += 1;
    }

    /// Counts a call that was thought to be handled as what it was.
    pub(super) fn correct(&mut self, verdict: &FuzzVerdict) {
        self.handled = self.handled.saturating_sub(1);
        *self.of(verdict) += 1;
    }

    fn of(&mut self, verdict: &FuzzVerdict) -> &mut usize {
        match verdict {
            FuzzVerdict::Handled => &mut self.handled,
            FuzzVerdict::Crash(_) => &mut self.crashes,
            FuzzVerdict::Hang => &mut self.hangs,
            FuzzVerdict::Slow => &mut self.slow,
            FuzzVerdict::Protocol(_) => &mut self.protocol,
            FuzzVerdict::Leak(_) => &mut self.leaks,
            FuzzVerdict::AcceptedInvalid => &mut self.accepted_invalid,
            FuzzVerdict::OutputMismatch(_) => &mut self.output_mismatches,
        }
    }

    /// Number of calls that went wrong.
    pub(super) fn faults(&self) -> usize {
        self.runs - self.handled - self.accepted_invalid
    }

    /// Results of the calls in words: `2 crashed, 1 hung, 47 handled`; including failures of concurrent calls, so that a
    /// tool whose calls were all handled is not reported as healthy if concurrent ones failed.
    pub fn counts_text(&self) -> String {
        let counts = [
            (self.crashes, "crashed"),
            (self.hangs, "hung"),
            (self.protocol, "broke the protocol"),
            (self.leaks, "leaked"),
            (self.output_mismatches, "did not match the output schema"),
            (self.slow, "slow"),
            (self.accepted_invalid, "accepted although invalid"),
            (self.handled, "handled"),
        ];
        let told = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let told = told.collect::<Vec<_>>().join(", ");
        match self.at_once {
            0 => told,
            1 => format!("{told}; 1 failure of concurrent calls"),
            many => format!("{told}; {many} failures of concurrent calls"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_calls_at_once_bring_about_is_told_beside_the_calls() {
        let tally = CallCounts { runs: 150, handled: 148, crashes: 2, ..CallCounts::default() };
        assert_eq!(tally.counts_text(), "2 crashed, 148 handled");
        let tally = CallCounts { runs: 150, handled: 150, at_once: 1, ..CallCounts::default() };
        assert_eq!(tally.counts_text(), "150 handled; 1 failure of concurrent calls");
        assert_eq!(CallCounts { at_once: 2, ..tally }.counts_text(), "150 handled; 2 failures of concurrent calls");
    }
}
