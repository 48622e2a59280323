//! 2026-07-28: requests that say everything themselves.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::conversation::{META_CAPABILITIES, META_VERSION};
use crate::host::rule::ClientRuling;

pub(super) fn request_meta(ruling: &mut ClientRuling<'_>) {
    let is_map = |frame: &&crate::host::HostFrame| frame.params().is_object() || frame.params().is_null();
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
        ruling.check(post.get("mcp-protocol-version") == Some(version), post.frame, || {
            format!("`MCP-Protocol-Version` is not the version of the request, `{version}`")
        });
    }
}

pub(super) fn method_header(ruling: &mut ClientRuling<'_>) {
    for (post, body) in ruling.talk.posts() {
        let Some(method) = body.filter(|body| body.is_request()).and_then(|body| body.method()) else { continue };
        ruling.check(post.get("mcp-method") == Some(method), post.frame, || {
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
        let sent = post.get("mcp-name").map(decoded);
        ruling.check(sent.as_deref() == Some(name), post.frame, || {
            format!("`Mcp-Name` is not what the request names, `{name}`")
        });
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
    for request in talk.requests() {
        let Some(reply) = talk.reply_to(request).and_then(|reply| reply.json.as_ref()) else { continue };
        if reply["result"]["resultType"] != "input_required" {
            continue;
        }
        let subject = |frame: &crate::host::HostFrame| (frame.params()["name"].clone(), frame.params()["uri"].clone());
        let again = talk.requests().find(|other| {
            other.at_us > request.at_us
                && other.method() == request.method()
                && subject(other) == subject(request)
                && other.params().get("inputResponses").is_some()
        });
        let Some(again) = again else { continue };
        let state = reply["result"].get("requestState");
        ruling.check(again.params().get("requestState") == state, again, || {
            "the retry does not carry the `requestState` of the result as it was".to_owned()
        });
    }
}
