//! Capabilities: what either side declared, and no more.

use serde_json::Value;

use super::super::conversation::META_CAPABILITIES;
use crate::host::rule::ClientRuling;

/// The capability of the server that a method needs, as a JSON pointer.
const NEEDS: &[(&str, &str)] = &[
    ("tools/list", "/tools"),
    ("tools/call", "/tools"),
    ("prompts/list", "/prompts"),
    ("prompts/get", "/prompts"),
    ("resources/list", "/resources"),
    ("resources/templates/list", "/resources"),
    ("resources/read", "/resources"),
    ("resources/subscribe", "/resources/subscribe"),
    ("logging/setLevel", "/logging"),
    ("completion/complete", "/completions"),
];

/// The capability of the client that a request of the server needs.
fn needed(method: &str) -> Option<&'static str> {
    Some(match method {
        "sampling/createMessage" => "sampling",
        "roots/list" => "roots",
        "elicitation/create" => "elicitation",
        _ => return None,
    })
}

pub(super) fn declared(ruling: &mut ClientRuling<'_>) {
    let Some(declared) = ruling.talk.declared else { return };
    for frame in ruling.talk.requests() {
        let method = frame.method().unwrap_or_default();
        let Some((_, pointer)) = NEEDS.iter().find(|(name, _)| *name == method) else { continue };
        let is_there = declared.pointer(pointer).is_some_and(|value| *value != Value::Bool(false));
        ruling.check(is_there, frame, || {
            format!("`{method}` was sent, but the server does not declare `{}`", pointer[1..].replace('/', "."))
        });
    }
}

pub(super) fn undeclared_answer(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    for asked in talk.asked() {
        let Some(capability) = needed(asked.method().unwrap_or_default()) else { continue };
        if talk.client.get(capability).is_some() {
            continue;
        }
        let Some(reply) = talk.replies().find(|reply| reply.id() == asked.id()) else { continue };
        let is_refused = reply.json.as_ref().is_some_and(|json| json.get("error").is_some());
        ruling.check(is_refused, reply, || {
            format!(
                "`{}` was answered, but the client does not declare `{capability}`",
                asked.method().unwrap_or_default()
            )
        });
    }
}

pub(super) fn widening(ruling: &mut ClientRuling<'_>) {
    let mut first: Option<&Value> = None;
    // Each request declares what it needs, which may differ; a discovery needs nothing.
    for frame in ruling.talk.requests().filter(|frame| frame.method() != Some("server/discover")) {
        let Some(claims) = frame.params().get("_meta").and_then(|meta| meta.get(META_CAPABILITIES)) else { continue };
        let Some(agreed) = first else {
            first = Some(claims);
            continue;
        };
        let new = claims.as_object().into_iter().flatten().find(|(name, _)| agreed.get(name.as_str()).is_none());
        ruling.check(new.is_none(), frame, || {
            let name = new.map(|(name, _)| name.as_str()).unwrap_or_default();
            format!("a later request claims the capability `{name}`, which the first did not have (SEC-061)")
        });
    }
}
