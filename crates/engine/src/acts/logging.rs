//! A log level, then perhaps a tool.

use mcprove_model::{CallRole, Logging, Observation, Outcome, PlannedCheck};
use serde_json::json;

use super::{Performed, call_tool};
use crate::calls;
use crate::conversation::Conversation;

/// Sets the level; it comes before the setup steps, so that they are logged as well.
pub(super) async fn set_level(logging: &Logging, talk: &mut Conversation<'_>) -> bool {
    let Some(node) = &logging.level else { return true };
    let level = talk.text(node);
    let Some(exchange) = talk.session.set_log_level(&level, talk.deadline).await else { return true };
    talk.record.calls.push(calls::record(CallRole::Setup, Some(&level), &exchange));
    let place = talk.place(node.span);
    match calls::no_result(&format!("`logging/setLevel` to `{level}`"), &exchange.outcome, Some(place)) {
        Some(finding) => {
            talk.record.no_result(finding, &exchange.outcome);
            false
        }
        None => true,
    }
}

pub(super) async fn perform(logging: &Logging, checks: &[PlannedCheck], talk: &mut Conversation<'_>) -> Performed {
    match &logging.call {
        Some(call) => call_tool::perform(call, checks, talk).await,
        None => Performed {
            seen: Observation::new(Outcome::Result(json!({})), ""),
            what: "`logging/setLevel`".to_owned(),
            at: logging.level.as_ref().map_or(talk.case.span, |node| node.span),
        },
    }
}
