//! Implementation of each kind of act, one file per kind.

mod call_tool;
mod completion;
mod compose;
mod logging;
mod prompts;
mod raw;
mod resources;
mod tool_quality;
pub(crate) mod trajectory;

use std::time::Duration;

use mcprove_model::{Act, AskedOfClient, Exchange, Expectation, Observation, Outcome, PlannedCheck, Span, Vocabulary};
use mcprove_wire::Session;
use tokio::time::Instant;

use crate::conversation::Conversation;

/// The time in which a server may still send something after its reply, where no suite says how long.
pub(crate) const SETTLE: Duration = mcprove_model::SETTLE;

/// An act that was performed: what was seen, what to call it, and who asked for it.
#[derive(Debug)]
pub(crate) struct Performed {
    pub(crate) seen: Observation,
    pub(crate) what: String,
    pub(crate) at: Span,
}

/// Work before the setup steps; false if the case cannot go on.
pub(crate) async fn prepare(act: &Act, talk: &mut Conversation<'_>) -> bool {
    match act {
        Act::Logging(logging) => logging::set_level(logging, talk).await,
        Act::CallTool(_)
        | Act::Resources(_)
        | Act::Prompts(_)
        | Act::Complete(_)
        | Act::Notifications(_)
        | Act::Trajectory(_)
        | Act::Raw(_)
        | Act::ToolQuality
        | Act::Compose(_)
        | Act::Offline(_)
        | Act::Score(_)
        | Act::Scan(_)
        | Act::Agent(_) => true,
    }
}

/// Performs an act.
pub(crate) async fn perform(act: &Act, checks: &[PlannedCheck], talk: &mut Conversation<'_>) -> Performed {
    match act {
        Act::CallTool(call) | Act::Notifications(call) => call_tool::perform(call, checks, talk).await,
        Act::Resources(resources) => resources::perform(resources, talk).await,
        Act::Prompts(prompts) => prompts::perform(prompts, talk).await,
        Act::Complete(completion) => completion::perform(completion, talk).await,
        Act::Logging(logging) => logging::perform(logging, checks, talk).await,
        Act::Raw(raw) => raw::perform(raw, checks, talk).await,
        Act::ToolQuality => tool_quality::perform(talk).await,
        // Few cases have it, and all of them carry the size of what they await.
        Act::Compose(composition) => Box::pin(compose::perform(composition, talk)).await,
        Act::Score(_) => unreachable!("scorers need no session"),
        Act::Offline(_) => unreachable!("offline work is judged without a session"),
        Act::Trajectory(_) => unreachable!("a trajectory is judged without a session"),
        Act::Agent(_) => unreachable!("an agent opens sessions of its own"),
        Act::Scan(_) => unreachable!("a scan judges what it sees by itself"),
    }
}

/// Where notifications are judged, waits until more of them cannot change the outcome, at most for `settle`.
pub(crate) async fn await_checks(act: &Act, expect: &Expectation, seen: &mut Observation, talk: &mut Conversation<'_>) {
    // Requests of the server come before its reply; none is awaited.
    if expect.vocabulary == Vocabulary::Sampling {
        return;
    }
    let until = (Instant::now() + act.settle()).min(talk.deadline);
    loop {
        gather(seen, talk.session);
        let is_open = expect.checks.iter().any(|planned| {
            planned.check.breaks_with_more() || planned.check.awaits_more() && planned.check.judge(seen).is_err()
        });
        if !is_open || Instant::now() >= until || !talk.session.is_open() {
            return;
        }
        let heard = talk.session.notifications().len();
        talk.session.listen_until(until, |session| session.notifications().len() > heard).await;
    }
}

/// Copies the messages that the session received into the observation.
pub(crate) fn gather(seen: &mut Observation, session: &Session) {
    seen.notifications = session.notifications().to_vec();
    seen.asked = session
        .server_requests()
        .iter()
        .map(|request| AskedOfClient { method: request.method.clone(), params: request.params.clone() })
        .collect();
}

/// An observation whose text is the result as compact JSON.
fn observed_as_json(exchange: Exchange) -> Observation {
    observed(exchange, ToString::to_string)
}

/// An observation whose text is a view of the result.
pub(crate) fn observed(exchange: Exchange, view: fn(&serde_json::Value) -> String) -> Observation {
    let text = match &exchange.outcome {
        Outcome::Result(result) => view(result),
        Outcome::Error(_)
        | Outcome::Malformed(_)
        | Outcome::Refused(_)
        | Outcome::TimedOut { .. }
        | Outcome::Closed { .. }
        | Outcome::Cancelled => String::new(),
    };
    let mut seen = Observation::new(exchange.outcome, text);
    seen.elapsed_us = exchange.elapsed_us;
    seen
}
