//! Several calls in flight: a steady server is not asked to wait for us between them.
//!
//! As long as each call is answered and nothing new is wrong, it does not matter that they were sent together: every
//! answer names its call. Once something is unclear, the same calls are made one by one on a fresh server, and what they
//! do there is what counts. If they do nothing there, it took the calls before them, or that they came together.

use mcprove_judge::fuzz::{FuzzCase, FuzzVerdict};
use mcprove_model::Outcome;
use serde_json::Value;

use super::attempt::{AttemptOutcome, TargetFailure, attempt};
use super::connection::{Together, Trouble};
use super::context::Called;
use super::load::{self, Flight};
use super::tool::{FirstFailure, ToolFuzzer, fails};

/// Number of calls in flight.
const WINDOW: usize = 16;

/// Number of unclear results after which calls are made one by one for the rest of the plan.
const TROUBLES: usize = 3;

/// Maximum number of earlier calls repeated to see if the failure needs them.
const LOOK_BACK: usize = 20_000;

/// Something that was wrong while calls were in flight.
struct Suspicion {
    verdict: FuzzVerdict,
    /// The call it is about, in the window.
    at: usize,
    is_exit: bool,
    is_silence: bool,
}

impl ToolFuzzer<'_> {
    /// Number of calls that may be in flight next.
    pub(super) fn width(&self) -> usize {
        if self.troubles < TROUBLES && self.line.is_steady() { WINDOW } else { 1 }
    }

    /// Makes calls without waiting in between; false when the rest of the plan is to be left.
    pub(super) async fn together(&mut self, cases: Vec<FuzzCase>) -> bool {
        if self.fuzz_context.is_over() {
            return false;
        }
        let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
        let suspicion = match self.line.together(&self.reply_judge.name, &texts, self.wait()).await {
            Ok(Together::Clear(called)) => match self.judged(&cases, &called) {
                Ok(verdicts) => {
                    for ((case, called), verdict) in cases.into_iter().zip(&called).zip(verdicts) {
                        self.take(case, called, verdict);
                    }
                    return true;
                }
                Err(suspicion) => suspicion,
            },
            Ok(Together::Unclear(trouble)) => self.suspicion(&cases, &trouble),
            Ok(Together::CutOff) => return false,
            Err(failure) => return self.not_started(*failure),
        };
        self.troubles += 1;
        self.line.end().await;
        self.look_closer(cases, suspicion).await
    }

    /// The verdicts on calls that were all answered, or the first that is new.
    fn judged(&self, cases: &[FuzzCase], called: &[Called]) -> Result<Vec<FuzzVerdict>, Suspicion> {
        let judge = |(at, (case, called)): (usize, (&FuzzCase, &Called))| {
            let verdict = self.reply_judge.verdict(called, &case.arguments, case.accepted);
            if self.is_known(&verdict) {
                return Ok(verdict);
            }
            Err(Suspicion { verdict, at, is_exit: false, is_silence: false })
        };
        cases.iter().zip(called).enumerate().map(judge).collect()
    }

    /// The failure to look for if a call had no answer.
    fn suspicion(&self, cases: &[FuzzCase], trouble: &Trouble) -> Suspicion {
        let Trouble { at, called } = trouble;
        Suspicion {
            verdict: self.reply_judge.verdict(called, &cases[*at].arguments, cases[*at].accepted),
            at: *at,
            is_exit: matches!(called.exchange.outcome, Outcome::Closed { .. }),
            is_silence: called.is_silence(),
        }
    }

    /// Makes calls again, one by one, to learn what each of them does.
    async fn look_closer(&mut self, cases: Vec<FuzzCase>, suspicion: Suspicion) -> bool {
        let (since, faults) = (self.since, self.run.tally.faults());
        let window: Vec<Value> = cases.iter().map(|case| case.arguments.clone()).collect();
        if !self.one_by_one(cases).await {
            return false;
        }
        if self.run.tally.faults() > faults || self.is_known(&suspicion.verdict) {
            return true;
        }
        // A server may well be slow when much is asked of it at once.
        let is_worth_telling = fails(&suspicion.verdict, self.fuzz_context.strict_input) && !suspicion.is_silence;
        if !self.look_back(since, &suspicion).await && is_worth_telling && !self.fuzz_context.is_over() {
            let Suspicion { verdict, at, is_exit, .. } = suspicion;
            let plain = self.answered.first().map(|answered| &answered.arguments);
            let flight = Flight { calls: &window, at, plain, verdict, is_exit };
            let failure = Box::pin(load::at_once(self.fuzz_context, self.reply_judge, flight)).await;
            self.add(failure);
        }
        true
    }

    /// Repeats all calls that the server had got; true if the failure occurred again.
    async fn look_back(&mut self, since: usize, suspicion: &Suspicion) -> bool {
        let Some(signature) = self.reply_judge.signature(&suspicion.verdict) else { return false };
        let since = since.max(self.sent.len().saturating_sub(LOOK_BACK));
        let calls: Vec<Value> = (since..self.sent.len()).map(|at| self.arguments(at)).collect();
        let sequence: Vec<&Value> = calls.iter().collect();
        let wanted = TargetFailure { signature, is_exit: suspicion.is_exit, is_left_out: false };
        let tried = attempt(self.fuzz_context, self.reply_judge, &wanted, &sequence, self.fuzz_context.timeout).await;
        let AttemptOutcome::Failed { at, verdict } = tried else { return false };
        self.run.tally.correct(&verdict);
        self.found.push(FirstFailure {
            signature: wanted.signature,
            verdict,
            arguments: calls[at].clone(),
            at: since + at,
            since,
            is_exit: wanted.is_exit,
            is_silence: suspicion.is_silence,
            times: 1,
            elapsed_us: 0,
            stderr: if suspicion.is_exit { self.line.said.stderr.clone() } else { String::new() },
        });
        true
    }
}
