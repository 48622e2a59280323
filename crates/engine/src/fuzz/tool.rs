//! One tool: its plan, the calls, and what came of them.

use std::time::Duration;

use mcprove_judge::fuzz::{FuzzCase, FuzzOptions as PlanOptions, FuzzVerdict, Phase, ValuePool, cases};
use mcprove_model::{CallRecord, Finding, Outcome};
use serde_json::Value;

use super::attempt::Wanted;
use super::failure::{Failure, Reproduction};
use super::line::{Line, LineCall, Said};
use super::load::{self, Answered};
use super::minimal::{Suspect, as_step, minimal};
use super::workshop::{Bench, Workshop};

/// How many calls of a tool may go unanswered before the rest of its plan is left.
const SILENCES: usize = 5;

/// How many different failures of a tool are made small; a tool with more has one trouble with many faces.
const SHRUNK: usize = 12;

/// What became of the calls of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
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
}

/// What is to be done with a tool.
pub(crate) struct Task<'t> {
    pub(crate) tool: &'t Value,
    pub(crate) seed: u64,
    pub(crate) runs: usize,
    pub(crate) pool: ValuePool,
    pub(crate) said: Said,
}

/// What came of the work on a tool.
#[derive(Debug)]
pub(crate) struct ToolRun {
    pub(crate) tally: Tally,
    pub(crate) failures: Vec<Failure>,
    /// The first call of each failure.
    pub(crate) records: Vec<CallRecord>,
    /// What else there is to say.
    pub(crate) notes: Vec<Finding>,
    /// Whether the plan was made to its end.
    pub(crate) is_complete: bool,
    pub(crate) said: Said,
}

/// Works through a tool's plan, then makes each failure small.
pub(crate) async fn work(workshop: &Workshop, task: Task<'_>) -> ToolRun {
    let bench = workshop.bench(task.tool);
    let mut hand = Hand {
        workshop,
        bench: &bench,
        line: Line::new(workshop, task.said),
        plan: Vec::new(),
        since: 0,
        found: Vec::new(),
        answered: Vec::new(),
        silences: 0,
        run: ToolRun {
            tally: Tally::default(),
            failures: Vec::new(),
            records: Vec::new(),
            notes: Vec::new(),
            is_complete: true,
            said: Said::default(),
        },
    };
    let mut pool = task.pool;
    let nothing = Value::Null;
    let schema = task.tool.get("inputSchema").unwrap_or(&nothing);
    let made = |pool: &ValuePool| cases(schema, &PlanOptions { seed: task.seed, count: task.runs, pool });
    let mut later = made(&pool);
    let first_random = later.iter().position(|case| case.phase == Phase::Random).unwrap_or(later.len());
    let first: Vec<FuzzCase> = later.drain(..first_random).collect();
    let before = pool.clone();
    let mut goes_on = hand.make(first, &mut pool).await;
    if goes_on && pool != before {
        // Valid inputs are made again, now that there are values that the server knows.
        let sent = hand.plan.len();
        later = made(&pool);
        later.retain(|case| {
            case.phase == Phase::Random && !hand.plan.iter().any(|sent| sent.arguments == case.arguments)
        });
        later.truncate(task.runs.saturating_sub(sent));
    }
    goes_on = goes_on && hand.make(later, &mut pool).await;
    if goes_on {
        let failed = Box::pin(load::under_load(workshop, &bench, &hand.answered, &mut hand.line)).await;
        hand.run.failures.extend(failed);
    }
    hand.line.end().await;
    hand.run.is_complete = goes_on;
    Box::pin(hand.make_small()).await;
    hand.run.said = hand.line.said;
    hand.run
}

/// The first call that failed in a way that was not known before.
struct Found {
    signature: String,
    verdict: FuzzVerdict,
    /// Its place in the plan, and that of the first call that the same server got.
    at: usize,
    since: usize,
    is_exit: bool,
    is_silence: bool,
    times: usize,
    elapsed_us: u64,
}

/// The work in progress.
struct Hand<'w> {
    workshop: &'w Workshop,
    bench: &'w Bench,
    line: Line<'w>,
    /// What was sent so far.
    plan: Vec<FuzzCase>,
    /// The first of them that the current server got.
    since: usize,
    found: Vec<Found>,
    answered: Vec<Answered>,
    /// How many calls were not answered.
    silences: usize,
    run: ToolRun,
}

impl Hand<'_> {
    /// Makes calls; false when the rest of the plan is to be left.
    async fn make(&mut self, cases: Vec<FuzzCase>, pool: &mut ValuePool) -> bool {
        for case in cases {
            if self.workshop.is_over() {
                return false;
            }
            if self.line.is_fresh() {
                self.since = self.plan.len();
            }
            let call = match self.line.call(&self.bench.name, &case.arguments, self.wait()).await {
                Ok(call) => call,
                Err(failure) => {
                    let text = format!("the server could not be started again: {}", failure.message);
                    let mut finding = Finding::error("no-session", text);
                    finding.help = failure.help;
                    self.run.notes.push(finding);
                    return false;
                }
            };
            let verdict = self.bench.verdict(&call.called, &case.arguments, case.accepted);
            if let Outcome::Result(result) = &call.called.outcome {
                pool.harvest(result);
                if verdict == FuzzVerdict::Handled {
                    load::remember(&mut self.answered, &case.arguments, result, call.record.elapsed_us);
                }
            }
            self.plan.push(case);
            self.run.tally.add(&verdict);
            self.silences += usize::from(call.called.is_silence());
            self.note(verdict, call);
            if self.silences >= SILENCES {
                let text = format!("{SILENCES} calls were not answered, so the rest of the plan was left");
                self.run.notes.push(Finding::note("plan-left", text));
                return false;
            }
        }
        true
    }

    /// How long a call may take: once it is known that the tool can be silent, that is not waited for again and again.
    fn wait(&self) -> Duration {
        if self.silences > 0 { self.workshop.short_wait() } else { self.workshop.timeout }
    }

    /// Notes a failure: a new one, or one more of the same.
    fn note(&mut self, verdict: FuzzVerdict, call: LineCall) {
        let Some(signature) = self.bench.signature(&verdict) else { return };
        if let Some(known) = self.found.iter_mut().find(|known| known.signature == signature) {
            known.times += 1;
            return;
        }
        let elapsed_us = call.record.elapsed_us;
        if fails(&verdict, self.workshop.strict_input) {
            self.run.records.push(call.record);
        }
        self.found.push(Found {
            signature,
            verdict,
            at: self.plan.len() - 1,
            since: self.since,
            is_exit: matches!(call.called.outcome, Outcome::Closed { .. }),
            is_silence: call.called.is_silence(),
            times: 1,
            elapsed_us,
        });
    }

    async fn make_small(&mut self) {
        let mut small = 0;
        for found in std::mem::take(&mut self.found) {
            let fails = fails(&found.verdict, self.workshop.strict_input);
            let case = &self.plan[found.at];
            let mut failure = Failure {
                tool: self.bench.name.clone(),
                verdict: found.verdict,
                label: case.label.clone(),
                original: case.arguments.clone(),
                reproduction: Reproduction::NotTried,
                times: found.times,
                elapsed_us: found.elapsed_us,
                fails,
            };
            if fails && small < SHRUNK && !self.workshop.is_over() {
                small += 1;
                let before = self.plan[found.since..found.at].iter().map(|case| as_step(&case.arguments)).collect();
                let wanted = Wanted { signature: found.signature, is_exit: found.is_exit };
                let (is_silence, arguments) = (found.is_silence, &case.arguments);
                let suspect = Suspect { wanted, is_silence, arguments, before };
                let minimal = minimal(self.workshop, self.bench, &suspect).await;
                failure.reproduction = minimal.reproduction;
                if minimal.is_of_the_call_before
                    && let Some(blamed) = found.at.checked_sub(1).and_then(|at| self.plan.get(at))
                {
                    (failure.label, failure.original) = (blamed.label.clone(), blamed.arguments.clone());
                }
                failure.verdict = minimal.verdict.unwrap_or(failure.verdict);
            }
            self.run.failures.push(failure);
        }
    }
}

/// Whether a verdict fails the run.
fn fails(verdict: &FuzzVerdict, strict_input: bool) -> bool {
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

impl Tally {
    fn add(&mut self, verdict: &FuzzVerdict) {
        self.runs += 1;
        *match verdict {
            FuzzVerdict::Handled => &mut self.handled,
            FuzzVerdict::Crash(_) => &mut self.crashes,
            FuzzVerdict::Hang => &mut self.hangs,
            FuzzVerdict::Slow => &mut self.slow,
            FuzzVerdict::Protocol(_) => &mut self.protocol,
            FuzzVerdict::Leak(_) => &mut self.leaks,
            FuzzVerdict::AcceptedInvalid => &mut self.accepted_invalid,
            FuzzVerdict::OutputMismatch(_) => &mut self.output_mismatches,
        } += 1;
    }

    /// What was not simply handled, in words: `2 crashed, 1 hung`.
    pub fn told(&self) -> String {
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
        told.collect::<Vec<_>>().join(", ")
    }
}
