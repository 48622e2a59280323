//! One server with its copy of the fixture.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcprove_judge::fuzz::FuzzVerdict;
use mcprove_judge::sequences::{Breach, Expected, Judge, Reply, SequenceModel, Step, StepTarget};
use mcprove_model::{Exchange, FuzzInvariant, Observation, Outcome, SourceFile};
use mcprove_wire::{Closing, OpenFailure, Session};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::failure::name_of;
use crate::expectations;
use crate::fixture_guard::{FixtureGuard, with_template};
use crate::fuzz::connection::is_alive;
use crate::fuzz::context::{Called, FuzzContext, ReplyJudge};

/// Time a server that does not answer may take for a ping.
const PING: Duration = Duration::from_millis(500);

/// After how many calls the session's record is emptied.
const CHAPTER: usize = 128;

/// Everything that servers of a run share.
pub(crate) struct Surround<'w> {
    pub(crate) fuzz_context: &'w FuzzContext,
    pub(crate) model: &'w SequenceModel,
    pub(crate) judges: &'w [ReplyJudge],
    /// The folder that each server gets a copy of.
    pub(crate) fixture: Option<&'w Path>,
    /// Calls whose replies must be what the user says.
    pub(crate) demands: &'w [FuzzInvariant],
    /// The suite that says so.
    pub(crate) source: Option<&'w SourceFile>,
    /// The scratch folder, where there is no fixture.
    pub(crate) guard: &'w FixtureGuard,
}

/// A server that is running.
pub(crate) struct ServerLife<'w> {
    surround: &'w Surround<'w>,
    own: Option<Arc<FixtureGuard>>,
    pub(crate) session: Option<Session>,
    calls: usize,
    /// Frames of sessions that are over.
    pub(crate) said: Vec<Closing>,
}

/// The reply to a step, and what it says about the server by itself.
pub(crate) struct Performed {
    pub(crate) exchange: Exchange,
    pub(crate) reply: Reply,
    pub(crate) breach: Option<Breach>,
}

const TEMPLATE: &str = "{{fixture}}";

impl<'w> ServerLife<'w> {
    /// Starts a server on a fresh copy of the fixture.
    pub(crate) async fn begin(surround: &'w Surround<'w>) -> Result<ServerLife<'w>, Box<OpenFailure>> {
        Self::begin_in(surround, None).await
    }

    /// Starts a server that keeps its temporary files in this folder.
    pub(crate) async fn begin_with_temporary(
        surround: &'w Surround<'w>,
        folder: &Path,
    ) -> Result<ServerLife<'w>, Box<OpenFailure>> {
        Self::begin_in(surround, Some(folder)).await
    }

    async fn begin_in(
        surround: &'w Surround<'w>,
        temporary: Option<&Path>,
    ) -> Result<ServerLife<'w>, Box<OpenFailure>> {
        let own = match surround.fixture {
            Some(folder) => match FixtureGuard::new(Some(folder)) {
                Ok(own) => Some(Arc::new(own)),
                Err(error) => return Err(not_copied(&error)),
            },
            None => None,
        };
        let mut life = Self { surround, own, session: None, calls: 0, said: Vec::new() };
        life.open(temporary).await?;
        Ok(life)
    }

    /// Another client of the same server, on the same data.
    pub(crate) async fn another(&self) -> Result<ServerLife<'w>, Box<OpenFailure>> {
        let mut life =
            Self { surround: self.surround, own: self.own.clone(), session: None, calls: 0, said: Vec::new() };
        life.open(None).await?;
        Ok(life)
    }

    async fn open(&mut self, temporary: Option<&Path>) -> Result<(), Box<OpenFailure>> {
        let guard = self.own.as_deref().unwrap_or(self.surround.guard);
        self.session = Some(self.surround.fuzz_context.open_in(guard, temporary).await?);
        Ok(())
    }

    fn folder(&self) -> Option<&str> {
        self.own.as_deref().and_then(FixtureGuard::folder)
    }

    /// Arguments with the path of this copy of the fixture.
    pub(crate) fn filled(&self, args: &Value) -> Value {
        match self.folder() {
            Some(folder) => with_template(args, TEMPLATE, folder),
            None => args.clone(),
        }
    }

    /// Performs a step with these arguments.
    pub(crate) async fn perform(&mut self, step: &Step, args: &Value) -> Performed {
        let surround = self.surround;
        let wait = surround.fuzz_context.timeout;
        if step.target == StepTarget::Restart {
            return self.restart().await;
        }
        let filled = self.filled(args);
        let Some(session) = &mut self.session else { return Performed::gone() };
        let mut stop = surround.fuzz_context.stop.clone();
        let deadline = Instant::now() + wait;
        let work = async {
            match step.target {
                StepTarget::Tool(at) => session.call_tool(&surround.model.tools[at].name, &filled, deadline).await,
                StepTarget::Resources => session.request("resources/list", json!({}), deadline).await,
                StepTarget::Resource => session.request("resources/read", filled.clone(), deadline).await,
                StepTarget::Restart => unreachable!("handled above"),
            }
        };
        let exchange = tokio::select! {
            biased;
            () = stop.stopped() => return Performed::gone(),
            exchange = work => exchange,
        };
        surround.fuzz_context.count_calls(1);
        self.judged(step, &filled, exchange).await
    }

    /// The reply of an exchange, and what it says by itself.
    pub(crate) async fn judged(&mut self, step: &Step, args: &Value, exchange: Exchange) -> Performed {
        let wait = self.surround.fuzz_context.timeout;
        let Some(session) = &mut self.session else { return Performed::gone() };
        let is_silence = matches!(exchange.outcome, Outcome::TimedOut { .. });
        let alive_after = match &exchange.outcome {
            Outcome::TimedOut { .. } => Some(is_alive(session, (wait / 4).min(PING)).await),
            Outcome::Result(_) | Outcome::Error(_) => (!session.is_open()).then_some(false),
            Outcome::Malformed(_) | Outcome::Refused(_) | Outcome::Closed { .. } | Outcome::Cancelled => None,
        };
        let is_over = is_silence || !session.is_open();
        let stderr = if is_over { session.stderr() } else { String::new() };
        self.calls += 1;
        if self.calls.is_multiple_of(CHAPTER) {
            let closing = session.drain();
            self.said.push(closing);
        }
        let called = Called { exchange, alive_after, stderr };
        let breach = match step.target {
            StepTarget::Tool(at) => {
                let judge = &self.surround.judges[at];
                let verdict = judge.verdict(&called, args, true);
                self.breach_of(step, judge, &verdict)
            }
            StepTarget::Resources | StepTarget::Resource | StepTarget::Restart => None,
        };
        let reply = match self.folder() {
            Some(folder) => Reply::of(&templated(&called.exchange.outcome, folder)),
            None => Reply::of(&called.exchange.outcome),
        };
        Performed { exchange: called.exchange, reply, breach }
    }

    /// Performs a step and judges its reply. A read that breaks an invariant is made once more, after a pause: a server may
    /// take a moment until a change is seen everywhere.
    pub(crate) async fn perform_judged(
        &mut self,
        judge: &mut Judge<'_>,
        step: &Step,
        pause: Duration,
    ) -> (Performed, Option<Breach>) {
        let mut performed = self.perform(step, &step.args).await;
        // What a first read shows may be late; what a second one shows is the state.
        if !pause.is_zero() && judge.only_reads(step) && performed.breach.is_none() && !performed.reply.is_broken {
            performed = self.perform(step, &step.args).await;
        }
        performed.breach = performed.breach.or_else(|| self.undemanded(step, &performed.exchange.outcome));
        let mut verdict = judge.check(step, &performed.reply);
        if verdict.is_some() && performed.breach.is_none() && judge.only_reads(step) {
            if !pause.is_zero() {
                // Nothing says when a server has settled.
                tokio::time::sleep(pause).await;
            }
            let again = self.perform(step, &step.args).await;
            let is_settled = !again.reply.is_broken && !again.reply.is_refusal && again.breach.is_none();
            if is_settled && judge.check(step, &again.reply).is_none() {
                judge.facts.late += 1;
                (performed, verdict) = (again, None);
            }
        }
        let judged = judge.accept(step, &performed.reply, verdict);
        let breach = performed.breach.take().or(judged);
        (performed, breach)
    }

    /// A demand of the user that the reply to this call does not meet.
    fn undemanded(&self, step: &Step, outcome: &Outcome) -> Option<Breach> {
        let name = name_of(self.surround.model, step.target);
        let source = self.surround.source?;
        let mut demands = self.surround.demands.iter();
        let demand = demands.find(|demand| demand.tool == name && demand.args == step.args)?;
        let seen = Observation::of_tool_call(outcome.clone());
        let mut findings = expectations::judge(source, &demand.expect, &seen).into_iter();
        let wrong = findings.find(|finding| finding.severity.fails())?;
        Some(Breach {
            rule: "invariant-broken".to_owned(),
            message: format!("`{name}` is not what the suite demands: {}", wrong.message),
            signature: format!("invariant-broken {name} {}", demand.args),
            cause: format!("invariant-broken {name} {}", demand.args),
            expected: Expected::Checks(demand.written.clone()),
        })
    }

    fn breach_of(&self, step: &Step, judge: &ReplyJudge, verdict: &FuzzVerdict) -> Option<Breach> {
        let what = match verdict {
            FuzzVerdict::Handled | FuzzVerdict::Slow | FuzzVerdict::AcceptedInvalid => return None,
            FuzzVerdict::Hang => "the call is not answered, and the server answers nothing any more".to_owned(),
            FuzzVerdict::Crash(evidence) => format!("the call crashes: {}", evidence.message),
            FuzzVerdict::Protocol(evidence) => format!("the reply breaks the protocol: {}", evidence.message),
            FuzzVerdict::Leak(evidence) => format!("the reply gives away too much: {}", evidence.message),
            FuzzVerdict::OutputMismatch(evidence) => {
                format!("the result does not match the tool's `outputSchema`: {}", evidence.message)
            }
        };
        let name = name_of(self.surround.model, step.target);
        Some(Breach {
            rule: verdict.kind().to_owned(),
            message: format!("`{name}`: {what}"),
            signature: judge.signature(verdict).unwrap_or_default(),
            cause: judge.signature(verdict).unwrap_or_default(),
            expected: Expected::Checks(json!({"handled": true})),
        })
    }

    async fn restart(&mut self) -> Performed {
        if let Some(session) = self.session.take() {
            let closing = session.close().await;
            self.said.push(closing);
        }
        match self.open(None).await {
            Ok(()) => Performed {
                exchange: Called::ended(Outcome::Cancelled).exchange,
                reply: Reply::restarted(),
                breach: None,
            },
            Err(_) => Performed::gone(),
        }
    }

    /// Ends the server.
    pub(crate) async fn end(mut self) -> Vec<Closing> {
        if let Some(session) = self.session.take() {
            let closing = session.close().await;
            self.said.push(closing);
        }
        std::mem::take(&mut self.said)
    }
}

impl Performed {
    fn gone() -> Self {
        let called = Called::ended(Outcome::Cancelled);
        Self { reply: Reply::of(&called.exchange.outcome), exchange: called.exchange, breach: None }
    }
}

fn not_copied(error: &std::io::Error) -> Box<OpenFailure> {
    Box::new(OpenFailure {
        stage: mcprove_wire::Stage::Start,
        message: format!("the fixture folder could not be copied: {error}"),
        help: None,
        evidence: None,
        status: None,
        again: None,
        closing: Closing::default(),
    })
}

/// An outcome with `{{fixture}}` in the place of a folder.
fn templated(outcome: &Outcome, folder: &str) -> Outcome {
    let mut outcome = outcome.clone();
    match &mut outcome {
        Outcome::Result(result) => *result = with_template(result, folder, TEMPLATE),
        Outcome::Error(error) => error.message = error.message.replace(folder, TEMPLATE),
        Outcome::Malformed(_)
        | Outcome::Refused(_)
        | Outcome::Closed { .. }
        | Outcome::TimedOut { .. }
        | Outcome::Cancelled => {}
    }
    outcome
}
