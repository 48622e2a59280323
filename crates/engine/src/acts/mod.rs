//! What each kind of act does, one file a kind.

mod call_tool;
mod completion;
mod logging;
mod prompts;
mod raw;
mod resources;
mod tool_quality;
pub(crate) mod trajectory;

use std::time::Duration;

use mcprove_model::{Act, AskedOfClient, Exchange, Observation, Outcome, PlannedCheck, Span};
use mcprove_wire::Session;
use tokio::time::Instant;

use crate::conversation::Conversation;

/// How long a server may take to say what it has to say after its reply.
pub(crate) const SETTLE: Duration = Duration::from_millis(250);

/// An act that was performed: what was seen, what to call it, and who asked for it.
#[derive(Debug)]
pub(crate) struct Performed {
    pub(crate) seen: Observation,
    pub(crate) what: String,
    pub(crate) at: Span,
}

/// What must be done before the setup steps; false when the case cannot go on.
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
        Act::Trajectory(_) => unreachable!("a trajectory is judged without a session"),
        Act::Agent(_) => unreachable!("an agent opens sessions of its own"),
        Act::Scan(_) => unreachable!("a scan judges what it sees by itself"),
    }
}

/// Where notifications are judged, waits until they have come: a moment for those that may not, and up to the case's
/// deadline for those that must.
pub(crate) async fn await_checks(
    act: &Act,
    checks: &[PlannedCheck],
    seen: &mut Observation,
    talk: &mut Conversation<'_>,
) {
    match act {
        Act::Logging(_) | Act::Notifications(_) => {}
        Act::CallTool(_)
        | Act::Resources(_)
        | Act::Prompts(_)
        | Act::Complete(_)
        | Act::Trajectory(_)
        | Act::Raw(_)
        | Act::ToolQuality
        | Act::Scan(_)
        | Act::Agent(_) => return,
    }
    talk.session.listen((Instant::now() + SETTLE).min(talk.deadline)).await;
    loop {
        gather(seen, talk.session);
        let waiting = checks.iter().any(|planned| planned.check.awaits_more() && planned.check.judge(seen).is_err());
        if !waiting || Instant::now() >= talk.deadline || !talk.session.is_open() {
            return;
        }
        let heard = talk.session.notifications().len();
        talk.session.listen_until(talk.deadline, |session| session.notifications().len() > heard).await;
    }
}

/// Takes what the session has heard into the observation.
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
