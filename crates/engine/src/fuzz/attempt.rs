//! A sequence of calls on a fresh server, to see whether a failure comes again.

use std::time::Duration;

use mcprove_judge::fuzz::FuzzVerdict;
use mcprove_model::Outcome;
use serde_json::Value;
use tokio::time::Instant;

use super::connection::{ToolInput, is_alive};
use super::context::{Called, FuzzContext, ReplyJudge};

/// Time a server may take to exit after it answered all calls.
const FAREWELL: Duration = Duration::from_millis(500);

/// The failure that is looked for.
#[derive(Clone, Debug)]
pub(crate) struct TargetFailure {
    pub(crate) signature: String,
    /// True if the server went away: then it may do so also after its answer.
    pub(crate) is_exit: bool,
    /// True if null arguments are left out.
    pub(crate) is_left_out: bool,
}

/// Outcome of a sequence of calls.
#[derive(Debug)]
pub(crate) enum AttemptOutcome {
    /// The failure came again, at this call.
    Failed { at: usize, verdict: FuzzVerdict },
    /// It did not.
    Fine,
    /// No server could be started.
    Impossible,
}

/// Makes calls one after the other on a fresh server, until the failure comes or the server is gone.
pub(crate) async fn attempt(
    fuzz_context: &FuzzContext,
    reply_judge: &ReplyJudge,
    wanted: &TargetFailure,
    sequence: &[&Value],
    wait: Duration,
) -> AttemptOutcome {
    let Ok(mut session) = fuzz_context.open().await else { return AttemptOutcome::Impossible };
    let mut tried = AttemptOutcome::Fine;
    for (at, arguments) in sequence.iter().enumerate() {
        let call = ToolInput { tool: &reply_judge.name, arguments, is_left_out: wanted.is_left_out };
        let exchange = call.make(&mut session, Instant::now() + wait).await;
        fuzz_context.count_calls(1);
        let alive_after = match &exchange.outcome {
            Outcome::TimedOut { .. } => Some(is_alive(&mut session, (wait / 4).min(FAREWELL)).await),
            Outcome::Result(_) | Outcome::Error(_) if wanted.is_exit && at + 1 == sequence.len() => {
                Some(is_alive(&mut session, wait.min(FAREWELL)).await || session.is_open())
            }
            Outcome::Result(_)
            | Outcome::Error(_)
            | Outcome::Malformed(_)
            | Outcome::Refused(_)
            | Outcome::Closed { .. }
            | Outcome::Cancelled => None,
        };
        let is_silence = matches!(exchange.outcome, Outcome::TimedOut { .. });
        let stderr = if is_silence { session.stderr() } else { String::new() };
        let called = Called { exchange, alive_after, stderr };
        let verdict = reply_judge.verdict(&called, arguments, reply_judge.accepts(arguments));
        let went_after = wanted.is_exit && called.alive_after == Some(false);
        if went_after || reply_judge.signature(&verdict).as_deref() == Some(&wanted.signature) {
            tried = AttemptOutcome::Failed { at, verdict };
            break;
        }
        if !session.is_open() || is_silence {
            break;
        }
    }
    session.close().await;
    tried
}
