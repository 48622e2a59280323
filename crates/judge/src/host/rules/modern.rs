//! 2026-07-28: requests that say everything themselves.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::conversation::{Conversation, META_CAPABILITIES, META_VERSION};
use crate::host::HostFrame;
use crate::host::rule::ClientRuling;

pub(super) fn request_meta(ruling: &mut ClientRuling<'_>) {
    let is_map = |frame: &&HostFrame| frame.params().is_object() || frame.params().is_null();
    for frame in ruling.talk.requests().filter(is_map) {
        let meta = &frame.params()["_meta"];
        let holds = meta.get(META_VERSION).is_some_and(Value::is_string)
            && meta.get(META_CAPABILITIES).is_some_and(Value::is_object);
        ruling.check(holds, frame, || {
            "a request does not say its protocol version and client capabilities in `_meta`".to_owned()
        });
    }
}

pub(super) fn meta_header(ruling: &mut ClientRuling<'_>) {
    for (post, body) in ruling.talk.posts() {
        let Some(version) = body.and_then(|body| body.params()["_meta"].get(META_VERSION)?.as_str()) else { continue };
        ruling.check(post.get("mcp-protocol-version").as_deref() == Some(version), post.frame, || {
            format!("`MCP-Protocol-Version` is not the version of the request, `{version}`")
        });
    }
}

pub(super) fn method_header(ruling: &mut ClientRuling<'_>) {
    for (post, body) in ruling.talk.posts() {
        let Some(method) = body.filter(|body| body.is_request()).and_then(|body| body.method()) else { continue };
        ruling.check(post.get("mcp-method").as_deref() == Some(method), post.frame, || {
            format!("`Mcp-Method` is not the method of the request, `{method}`")
        });
    }
}

pub(super) fn name_header(ruling: &mut ClientRuling<'_>) {
    for (post, body) in ruling.talk.posts() {
        let Some(body) = body.filter(|body| body.is_request()) else { continue };
        let name = match body.method() {
            Some("tools/call" | "prompts/get") => body.params()["name"].as_str(),
            Some("resources/read") => body.params()["uri"].as_str(),
            _ => None,
        };
        let Some(name) = name else { continue };
        let sent = post.get("mcp-name").map(|value| decoded(&value));
        ruling.check(sent.as_deref() == Some(name), post.frame, || {
            format!("`Mcp-Name` is not what the request names, `{name}`")
        });
    }
}

pub(super) fn param_header(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    for (post, body) in talk.posts() {
        let Some((call, tool)) = body.and_then(|body| Some((body, body.called()?))) else { continue };
        let Some(schema) = listed_schema(talk, call, tool) else { continue };
        let mut marked = Vec::new();
        marked_values(schema, &call.params()["arguments"], &mut marked);
        for (header, value) in marked {
            let wanted = match value {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                Value::Bool(_) => Some(value.to_string()),
                Value::Number(number) if number.is_i64() => Some(number.to_string()),
                _ => continue,
            };
            let sent = post.get(&format!("mcp-param-{}", header.to_ascii_lowercase())).map(|value| decoded(&value));
            ruling.check(sent == wanted, post.frame, || match wanted {
                Some(wanted) => format!("`Mcp-Param-{header}` is not the argument of the call, `{wanted}`"),
                None => format!("`Mcp-Param-{header}` was sent without the argument"),
            });
        }
    }
}

/// The input schema of a tool in the last list before a call.
fn listed_schema<'e>(talk: &Conversation<'e>, call: &HostFrame, tool: &str) -> Option<&'e Value> {
    let entries = talk.received().take_while(|frame| frame.at_us < call.at_us);
    let entries = entries.filter_map(|frame| frame.json.as_ref()?.pointer("/result/tools")?.as_array()).flatten();
    entries.filter(|entry| entry["name"] == tool).last()?.get("inputSchema")
}

/// The values of the properties with `x-mcp-header`, with its names; null where there is none.
fn marked_values<'e>(schema: &'e Value, values: &'e Value, found: &mut Vec<(&'e str, &'e Value)>) {
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let value = &values[key.as_str()];
        if let Some(header) = property["x-mcp-header"].as_str() {
            found.push((header, value));
        }
        marked_values(property, value, found);
    }
}

/// A header value without the base64 form.
fn decoded(value: &str) -> String {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes = inner.and_then(|inner| STANDARD.decode(inner).ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_owned())
}

pub(super) fn cancel_stream(ruling: &mut ClientRuling<'_>) {
    for frame in ruling.talk.sent() {
        let is_cancel = frame.method() == Some("notifications/cancelled");
        ruling.check(!is_cancel, frame, || {
            "`notifications/cancelled` was posted; over HTTP a call is cancelled by closing its stream".to_owned()
        });
    }
}

pub(super) fn request_state(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    for again in talk.requests() {
        let state = again.params().get("requestState");
        let is_retry = state.is_some() || again.params().get("inputResponses").is_some();
        if !is_retry {
            continue;
        }
        // Calls in parallel have a state each: any of them is the right one.
        let given: Vec<Option<&Value>> = asked_again(talk, again)
            .filter_map(|request| talk.reply_to(request)?.json.as_ref())
            .map(|reply| reply["result"].get("requestState"))
            .collect();
        ruling.check(given.contains(&state), again, || {
            "the retry does not carry the `requestState` of the result as it was".to_owned()
        });
    }
}

/// Earlier requests for the same that were answered with a question.
pub(super) fn asked_again<'e>(talk: &Conversation<'e>, again: &HostFrame) -> impl Iterator<Item = &'e HostFrame> {
    let subject = |frame: &HostFrame| (frame.params()["name"].clone(), frame.params()["uri"].clone());
    talk.requests().filter(move |request| {
        talk.position(request) < talk.position(again)
            && request.method() == again.method()
            && subject(request) == subject(again)
            && talk
                .reply_to(request)
                .and_then(|reply| reply.json.as_ref())
                .is_some_and(|reply| reply["result"]["resultType"] == "input_required")
    })
}

pub(super) fn no_replies(ruling: &mut ClientRuling<'_>) {
    for reply in ruling.talk.replies() {
        // A refusal of a request that should not have been made is no answer to it, and a stray reply has a rule of its own.
        let is_asked = ruling.talk.asked().any(|asked| asked.id() == reply.id());
        let is_result = is_asked && reply.json.as_ref().is_some_and(|json| json.get("result").is_some());
        ruling.check(!is_result, reply, || "a result was sent; in 2026-07-28, clients send no replies".to_owned());
    }
}
