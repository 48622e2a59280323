//! The shape of an act's own reply, which no suite has to ask for.

use mcprove_judge::reply_shape::{ReplyKind, ShapeFault, faults};
use mcprove_model::{Act, Finding, Outcome, Prompts, ResourceAsk, member_of};
use serde_json::Value;

use crate::conversation::Conversation;

/// The finding about a reply that official clients refuse, or that they accept although the protocol forbids it.
pub(crate) fn judge(what: &str, outcome: &Outcome, talk: &Conversation<'_>) -> Option<Finding> {
    let Outcome::Result(result) = outcome else { return None };
    if talk.case.server.as_ref().is_some_and(|server| server.accepts_any_shape) {
        return None;
    }
    // An intermediate result of 2026-07-28 that was not resolved is judged by the session.
    if member_of(result, "resultType").and_then(Value::as_str).is_some_and(|kind| kind != "complete") {
        return None;
    }
    let faults = faults(kind(&talk.case.act)?, talk.session.negotiated().revision, result);
    if faults.is_empty() {
        return None;
    }
    let refused: Vec<&ShapeFault> = faults.iter().filter(|fault| !fault.refused_by.is_empty()).collect();
    let shown = |faults: &[&ShapeFault]| {
        let listed: Vec<&str> = faults.iter().take(5).map(|fault| fault.message.as_str()).collect();
        let more = faults.len().saturating_sub(listed.len());
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        format!("{}{more}", listed.join("; "))
    };
    if let [first, ..] = refused[..] {
        let text = format!("the reply to {what} is refused by {}", first.refused_by);
        let finding = Finding::error("reply-shape", text).compared("a reply of the protocol's shape", shown(&refused));
        return Some(finding.help("fix the server; `implicit: off` in the suite accepts such replies"));
    }
    let text = format!("the reply to {what} does not have the shape the protocol asks for; official clients accept it");
    let tolerated: Vec<&ShapeFault> = faults.iter().collect();
    Some(Finding::warning("reply-shape", text).compared("a reply of the protocol's shape", shown(&tolerated)))
}

/// The kind of an act's reply; anything may come back where anything may be sent.
fn kind(act: &Act) -> Option<ReplyKind> {
    Some(match act {
        Act::CallTool(_) | Act::Notifications(_) => ReplyKind::CallTool,
        Act::Logging(logging) => return logging.call.as_ref().map(|_| ReplyKind::CallTool),
        Act::Resources(resources) => match resources.ask {
            ResourceAsk::List { .. } => ReplyKind::ListResources,
            ResourceAsk::Templates { .. } => ReplyKind::ListResourceTemplates,
            ResourceAsk::Read { .. } => ReplyKind::ReadResource,
            ResourceAsk::Nothing => return None,
        },
        Act::Prompts(Prompts::List { .. }) => ReplyKind::ListPrompts,
        Act::Prompts(Prompts::Get { .. }) => ReplyKind::GetPrompt,
        Act::Complete(_) => ReplyKind::Complete,
        Act::ToolQuality => ReplyKind::ListTools,
        Act::Trajectory(_)
        | Act::Raw(_)
        | Act::Agent(_)
        | Act::Compose(_)
        | Act::Offline(_)
        | Act::Score(_)
        | Act::Scan(_) => return None,
    })
}
