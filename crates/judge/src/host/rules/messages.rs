//! JSON-RPC: every message of the client, and its replies.

use std::collections::HashSet;

use mcprove_model::{Direction, Revision};
use serde_json::Value;

use super::super::conversation::Conversation;
use super::modern::asked_again;
use crate::conformance::{Channel, schema_fault};
use crate::host::HostFrame;
use crate::host::rule::ClientRuling;

/// The time in which a client that goes on must have answered a request, in microseconds.
const PATIENCE_US: u64 = 5_000_000;

pub(super) fn readable(ruling: &mut ClientRuling<'_>) {
    for frame in ruling.talk.sent().filter(|frame| !frame.body.trim_ascii().is_empty()) {
        ruling.check(frame.json.is_some(), frame, || "a line is not one JSON message".to_owned());
    }
}

pub(super) fn jsonrpc(ruling: &mut ClientRuling<'_>) {
    for frame in ruling.talk.sent() {
        let Some(json) = frame.json.as_ref().filter(|json| json.is_object()) else { continue };
        ruling.check(json["jsonrpc"] == "2.0", frame, || "a message has no `jsonrpc: \"2.0\"`".to_owned());
    }
}

pub(super) fn request_id(ruling: &mut ClientRuling<'_>) {
    for frame in ruling.talk.sent().filter(|frame| frame.method().is_some()) {
        let Some(id) = frame.id().filter(|_| !is_notification(frame.method())) else { continue };
        let holds = id.is_string() || id.is_i64() || id.is_u64();
        ruling.check(holds, frame, || format!("the id `{id}` is neither a string nor an integer"));
    }
}

pub(super) fn unique_ids(ruling: &mut ClientRuling<'_>) {
    if ruling.talk.is_modern() {
        return unique_open_ids(ruling);
    }
    let mut seen = HashSet::new();
    // What was sent before the handshake belongs to no session.
    let handshake = ruling.talk.requests().position(|frame| frame.method() == Some("initialize"));
    for frame in ruling.talk.requests().skip(handshake.unwrap_or(0)) {
        let id = frame.id().map(ToString::to_string).unwrap_or_default();
        let is_new = seen.insert(id.clone());
        ruling.check(is_new, frame, || "the id of a request was used before in this session".to_owned());
    }
}

/// Since 2026-07-28, an id may be used again after the reply, but not by the retry of the same request.
fn unique_open_ids(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    let mut open: Vec<&HostFrame> = Vec::new();
    for frame in talk.requests() {
        let is_answered =
            |other: &HostFrame| talk.reply_to(other).is_some_and(|reply| talk.position(reply) < talk.position(frame));
        open.retain(|other| !is_answered(other));
        // Over HTTP, requests of several clients look like those of one.
        let is_open = talk.channel == Channel::Stdio && open.iter().any(|other| other.id() == frame.id());
        ruling.check(!is_open, frame, || "the id of a request that is still open was used again".to_owned());
        let is_retry = asked_again(talk, frame).any(|other| other.id() == frame.id())
            && frame.params().get("inputResponses").is_some();
        ruling.check(!is_retry, frame, || "a retry has the id of the request that it repeats".to_owned());
        open.push(frame);
    }
}

pub(super) fn params_object(ruling: &mut ClientRuling<'_>) {
    for frame in ruling.talk.sent().filter(|frame| frame.method().is_some()) {
        let Some(params) = frame.json.as_ref().and_then(|json| json.get("params")) else { continue };
        ruling.check(params.is_object(), frame, || "`params` is not an object".to_owned());
    }
}

pub(super) fn notification_id(ruling: &mut ClientRuling<'_>) {
    for frame in ruling.talk.sent().filter(|frame| is_notification(frame.method())) {
        ruling.check(frame.id().is_none(), frame, || {
            format!("the notification `{}` has an id", frame.method().unwrap_or_default())
        });
    }
}

fn is_notification(method: Option<&str>) -> bool {
    method.is_some_and(|method| method.starts_with("notifications/"))
}

pub(super) fn no_batch(ruling: &mut ClientRuling<'_>) {
    for frame in ruling.talk.sent().filter(|frame| frame.json.is_some()) {
        let is_list = frame.json.as_ref().is_some_and(Value::is_array);
        ruling.check(!is_list, frame, || "a batch was sent, which this revision does not have".to_owned());
    }
}

pub(super) fn reply_shape(ruling: &mut ClientRuling<'_>) {
    for frame in ruling.talk.replies() {
        let Some(json) = &frame.json else { continue };
        let holds = match (json.get("result"), json.get("error")) {
            (Some(result), None) => result.is_object(),
            (None, Some(error)) => error["code"].is_i64() && error["message"].is_string(),
            (Some(_), Some(_)) | (None, None) => false,
        };
        ruling.check(holds, frame, || {
            "a reply has not exactly one of an object `result` and an `error` with code and message".to_owned()
        });
    }
}

pub(super) fn known_reply(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    for frame in talk.replies() {
        let is_asked = talk.asked().any(|asked| asked.at_us <= frame.at_us && asked.id() == frame.id());
        // An error about a message that cannot be read has no id.
        let is_about_garbage = frame.id().is_none_or(Value::is_null)
            && frame.json.as_ref().is_some_and(|json| json.get("error").is_some())
            && talk.received().any(|other| other.at_us <= frame.at_us && other.json.is_none());
        let is_known = is_asked || is_about_garbage;
        ruling.check(is_known, frame, || "a reply was sent that no request of the server asked for".to_owned());
    }
}

pub(super) fn answers_requests(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    let last_us = talk.sent().last().map_or(0, |frame| frame.at_us);
    for asked in talk.asked() {
        let is_answered = talk.replies().any(|reply| reply.id() == asked.id());
        // A client that ended at once did not have to answer any more, and requests in parallel prove nothing.
        let had_time = last_us > asked.at_us + PATIENCE_US || rounds_after(talk, asked) >= 2;
        if is_answered || had_time {
            ruling.check(is_answered, asked, || {
                format!("the server's request `{}` was never answered", asked.method().unwrap_or_default())
            });
        }
    }
}

/// Number of requests that the client sent after a reply that came after a frame.
fn rounds_after(talk: &Conversation<'_>, frame: &HostFrame) -> usize {
    let mut is_answered = false;
    let mut rounds = 0;
    for later in talk.frames.iter().skip(talk.position(frame) + 1) {
        if later.direction == Direction::Received && later.method().is_none() && later.id().is_some() {
            is_answered = true;
        } else if later.is_request() && std::mem::take(&mut is_answered) {
            rounds += 1;
        }
    }
    rounds
}

pub(super) fn one_reply(ruling: &mut ClientRuling<'_>) {
    for asked in ruling.talk.asked() {
        let mut replies = ruling.talk.replies().filter(|reply| reply.id() == asked.id());
        let Some(first) = replies.next() else { continue };
        let second = replies.next();
        ruling.check(second.is_none(), second.unwrap_or(first), || "a request was answered twice".to_owned());
    }
}

pub(super) fn schema_valid(ruling: &mut ClientRuling<'_>) {
    let revision = ruling.talk.revision.unwrap_or(Revision::NEWEST_LEGACY);
    for frame in ruling.talk.sent() {
        let Some((method, json)) = frame.method().zip(frame.json.as_ref()) else { continue };
        let Some(name) = type_of(method) else { continue };
        // Ids, arguments and `_meta` have rules of their own.
        if frame.id().is_some_and(|id| !(id.is_string() || id.is_i64()))
            || !frame.params().is_object() && !frame.params().is_null()
        {
            continue;
        }
        if json["jsonrpc"] != "2.0" || has_own_rule(method, frame.params(), revision) {
            continue;
        }
        let fault = schema_fault(revision, name, json);
        ruling.check(fault.is_none(), frame, || fault.unwrap_or_default());
    }
    if ruling.talk.is_modern() {
        return;
    }
    for asked in ruling.talk.asked() {
        let Some((method, name)) = asked.method().and_then(|method| Some((method, result_of(method)?))) else {
            continue;
        };
        let reply = ruling.talk.replies().find(|reply| reply.id() == asked.id());
        let result = reply.and_then(|reply| reply.json.as_ref()?.get("result"));
        // What is no object, or comes with an error, has a rule of its own.
        let Some((reply, result)) = reply.zip(result.filter(|result| result.is_object())) else { continue };
        let is_other =
            reply.json.as_ref().is_some_and(|json| json.get("error").is_some()) || asked.params().get("task").is_some();
        if is_other {
            continue;
        }
        let mut result = result.clone();
        if let Some(map) = result.as_object_mut().filter(|_| name == "ElicitResult") {
            // Its published schema knows no fractions, although a form may ask for one.
            map.shift_remove("content");
        }
        let fault = schema_fault(revision, name, &result);
        ruling.check(fault.is_none(), reply, || {
            format!("the answer to `{method}` does not fit: {}", fault.unwrap_or_default())
        });
    }
}

/// The type of a result of the client.
fn result_of(method: &str) -> Option<&'static str> {
    Some(match method {
        "sampling/createMessage" => "CreateMessageResult",
        "elicitation/create" => "ElicitResult",
        "roots/list" => "ListRootsResult",
        _ => return None,
    })
}

/// True if a more specific rule reports what is wrong.
fn has_own_rule(method: &str, params: &Value, revision: Revision) -> bool {
    let lacks_meta = revision == Revision::V2026_07_28
        && params["_meta"].get(super::super::conversation::META_CAPABILITIES).is_none();
    let bad_arguments =
        method == "tools/call" && params.get("arguments").is_some_and(|arguments| !arguments.is_object());
    let bad_info = method == "initialize";
    lacks_meta || bad_arguments || bad_info
}

/// The type of a message of the client.
fn type_of(method: &str) -> Option<&'static str> {
    Some(match method {
        "tools/list" => "ListToolsRequest",
        "tools/call" => "CallToolRequest",
        "prompts/list" => "ListPromptsRequest",
        "prompts/get" => "GetPromptRequest",
        "resources/list" => "ListResourcesRequest",
        "resources/templates/list" => "ListResourceTemplatesRequest",
        "resources/read" => "ReadResourceRequest",
        "resources/subscribe" => "SubscribeRequest",
        "resources/unsubscribe" => "UnsubscribeRequest",
        "completion/complete" => "CompleteRequest",
        "logging/setLevel" => "SetLevelRequest",
        "ping" => "PingRequest",
        "server/discover" => "DiscoverRequest",
        "notifications/initialized" => "InitializedNotification",
        "notifications/cancelled" => "CancelledNotification",
        "notifications/progress" => "ProgressNotification",
        _ => return None,
    })
}
