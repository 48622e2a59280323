//! Clients that break one rule of the protocol: the table, and what each does differently.

use mcprove_model::Era;
use serde_json::{Value, json};

/// A way for a client to break one rule.
#[derive(Debug)]
pub struct ClientMutation {
    /// Its name.
    pub name: &'static str,
    /// The rule it breaks.
    pub rule: &'static str,
    /// The behaviour of the client.
    pub what: &'static str,
    /// The era it shows in; both if absent.
    pub era: Option<Era>,
    /// True if it shows over HTTP alone, false if on pipes alone; both if absent.
    pub http: Option<bool>,
}

const fn both(name: &'static str, rule: &'static str, what: &'static str) -> ClientMutation {
    ClientMutation { name, rule, what, era: None, http: None }
}

const fn legacy(name: &'static str, rule: &'static str, what: &'static str) -> ClientMutation {
    ClientMutation { era: Some(Era::Legacy), ..both(name, rule, what) }
}

const fn modern(name: &'static str, rule: &'static str, what: &'static str) -> ClientMutation {
    ClientMutation { era: Some(Era::Modern), ..both(name, rule, what) }
}

#[expect(clippy::needless_pass_by_value, reason = "its fields are taken over")]
const fn http(mutation: ClientMutation) -> ClientMutation {
    ClientMutation { http: Some(true), ..mutation }
}

#[expect(clippy::needless_pass_by_value, reason = "its fields are taken over")]
const fn stdio(mutation: ClientMutation) -> ClientMutation {
    ClientMutation { http: Some(false), ..mutation }
}

/// Every mutation.
pub static CLIENT_MUTATIONS: &[ClientMutation] = &[
    stdio(legacy("lists-first", "client-first-message", "lists the tools before the handshake")),
    legacy("no-client-info", "client-initialize-params", "leaves `clientInfo` out"),
    legacy("no-initialized", "client-initialized", "does not send `notifications/initialized`"),
    stdio(legacy("eager", "client-waits-for-initialize", "lists the tools before the handshake is answered")),
    stdio(legacy("initializes-twice", "client-one-initialize", "shakes hands twice")),
    stdio(both("pretty-prints", "client-readable", "writes a message on several lines")),
    both("no-jsonrpc", "client-jsonrpc", "leaves `jsonrpc` out of a call"),
    both("float-id", "client-request-id", "uses a fraction as an id"),
    stdio(both("same-id", "client-unique-ids", "uses an id twice")),
    both("array-params", "client-params-object", "sends params by position"),
    both("notification-with-id", "client-notification-id", "gives a notification an id"),
    stdio(both("batches", "client-no-batch", "sends a batch")),
    legacy("result-and-error", "client-reply-shape", "answers with a result and an error"),
    stdio(both("stray-reply", "client-known-reply", "answers a request that was not made")),
    legacy("ignores-requests", "client-answers-requests", "does not answer requests of the server"),
    legacy("answers-twice", "client-one-reply", "answers requests of the server twice"),
    both("bad-meta", "client-schema-valid", "sends a `_meta` that the schema does not allow"),
    legacy("modern-method", "client-known-method", "sends `subscriptions/listen` in a legacy session"),
    modern("legacy-method", "client-known-method", "sends `ping` in 2026-07-28"),
    both("string-arguments", "client-arguments", "sends the arguments of a call as a string"),
    both("made-up-cursor", "client-cursor", "makes a cursor up"),
    stdio(both("same-token", "client-progress-token", "uses a progress token for two open requests")),
    stdio(both("cancels-unknown", "client-cancel-known", "cancels a request it never sent")),
    stdio(both("cancels-finished", "client-cancel-finished", "cancels a request that was answered")),
    legacy("cancels-initialize", "client-cancel-initialize", "cancels the handshake"),
    both("lists-prompts", "client-declared-capability", "lists prompts of a server that has none"),
    legacy("answers-sampling", "client-undeclared-answer", "samples without declaring it"),
    modern("widens", "client-capability-widening", "claims sampling in later requests"),
    http(both("accepts-json", "client-accept", "accepts JSON alone")),
    http(both("text-plain", "client-content-type", "sends messages as `text/plain`")),
    http(legacy("no-session", "client-session-id", "leaves the session id out")),
    http(legacy("keeps-session", "client-session-restart", "uses a session that it has deleted")),
    http(legacy("no-version-header", "client-version-header", "leaves the version header out")),
    http(legacy("get-json", "client-get-accept", "asks for JSON with a GET")),
    http(both("drops-token", "client-token-always", "sends the token with the first requests alone")),
    http(both("token-in-url", "client-token-in-url", "sends the token in the query string")),
    modern("no-meta", "client-request-meta", "leaves the capabilities out of a call"),
    http(modern("wrong-version-header", "client-meta-header", "sends another version in the header")),
    http(modern("no-method-header", "client-method-header", "leaves `Mcp-Method` out")),
    http(modern("no-name-header", "client-name-header", "leaves `Mcp-Name` out")),
    http(modern("no-param-header", "client-param-header", "leaves `Mcp-Param-*` out")),
    http(modern("posts-cancel", "client-cancel-stream", "posts a cancellation")),
    modern("answers-modern", "client-no-replies", "answers a request of the server with a result"),
    modern("changes-state", "client-request-state", "makes a request state up"),
];

/// The messages that go out in the place of one.
pub(super) fn message(name: &str, mut message: Value) -> Vec<Value> {
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    match (name, method.as_str()) {
        ("no-client-info", "initialize") => remove(&mut message["params"], "clientInfo"),
        ("no-jsonrpc", "tools/call") => remove(&mut message, "jsonrpc"),
        ("array-params", "tools/list") => message["params"] = json!([]),
        ("string-arguments", "tools/call") => message["params"]["arguments"] = json!("{}"),
        ("widens", "tools/call") => {
            message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["sampling"] = json!({});
        }
        ("no-meta", "tools/call") => {
            remove(&mut message["params"]["_meta"], "io.modelcontextprotocol/clientCapabilities");
        }
        ("same-id", "tools/call") => {
            let mut again = message.clone();
            again["method"] = json!("tools/list");
            remove(&mut again["params"], "name");
            remove(&mut again["params"], "arguments");
            return vec![message, again];
        }
        ("same-token", "tools/call") => {
            let mut other = message.clone();
            other["id"] = json!(message["id"].as_i64().unwrap_or(0) + 500_000);
            return vec![other, message];
        }
        _ => {}
    }
    vec![message]
}

fn remove(value: &mut Value, key: &str) {
    if let Some(map) = value.as_object_mut() {
        map.shift_remove(key);
    }
}

/// The bytes of a message.
pub(super) fn bytes(name: &str, message: &Value) -> Vec<u8> {
    if name == "pretty-prints" && message["method"] == "notifications/roots/list_changed" {
        return serde_json::to_vec_pretty(message).unwrap_or_default();
    }
    message.to_string().into_bytes()
}

/// Messages after the handshake; a null id becomes a fresh one.
pub(super) fn extras(name: &str, era: Era) -> Vec<Value> {
    let request =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": null, "method": method, "params": params});
    let cancelled =
        |id: Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    match name {
        "initializes-twice" => vec![request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "again", "version": "1"},
            }),
        )],
        "notification-with-id" => vec![request("notifications/progress", json!({"progressToken": 1, "progress": 1}))],
        "batches" => {
            let mut item = json!({"jsonrpc": "2.0", "id": "b1", "method": "tools/list", "params": {}});
            if era == Era::Modern {
                item["params"]["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
            }
            vec![json!([item])]
        }
        "pretty-prints" => vec![json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})],
        "float-id" => vec![json!({"jsonrpc": "2.0", "id": 1.5, "method": "tools/list", "params": {}})],
        "stray-reply" => vec![json!({"jsonrpc": "2.0", "id": "nobody", "result": {}})],
        "bad-meta" if era == Era::Legacy => vec![request("tools/list", json!({"_meta": "none"}))],
        "bad-meta" => {
            vec![request("tools/list", json!({"_meta": {"io.modelcontextprotocol/logLevel": 5}}))]
        }
        "modern-method" => vec![request("subscriptions/listen", json!({}))],
        "legacy-method" => vec![request("ping", json!({}))],
        "made-up-cursor" => vec![request("tools/list", json!({"cursor": "page-2"}))],
        "cancels-unknown" => vec![cancelled(json!("never-sent"))],
        "cancels-finished" => vec![cancelled(json!("first"))],
        "posts-cancel" => vec![cancelled(json!(1))],
        "lists-prompts" => vec![request("prompts/list", json!({}))],
        _ => Vec::new(),
    }
}

/// A method without a body that is sent after the handshake.
pub(super) fn bare(name: &str) -> Option<&'static str> {
    match name {
        "get-json" => Some("GET"),
        "keeps-session" => Some("DELETE"),
        _ => None,
    }
}

/// Fate of a reply to the server.
pub(super) enum Reply {
    Send(Vec<Value>),
    Nothing,
}

/// A reply to the server.
pub(super) fn reply(name: &str, mut reply: Value) -> Reply {
    match name {
        "ignores-requests" => return Reply::Nothing,
        "answers-twice" => return Reply::Send(vec![reply.clone(), reply]),
        "result-and-error" => {
            reply["result"] = json!({});
            reply["error"] = json!({"code": -32_601, "message": "method not found"});
        }
        "answers-sampling" if reply.get("error").is_some() => {
            remove(&mut reply, "error");
            reply["result"] = json!({"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"});
        }
        _ => {}
    }
    Reply::Send(vec![reply])
}

/// Changes the headers of a request.
pub(super) fn headers(name: &str, headers: &mut Vec<(String, String)>) {
    let set = |headers: &mut Vec<(String, String)>, wanted: &str, value: &str| {
        for (name, old) in headers.iter_mut().filter(|(name, _)| name == wanted) {
            value.clone_into(old);
            debug_assert_eq!(name, wanted);
        }
    };
    let gone = match name {
        "accepts-json" => return set(headers, "accept", "application/json"),
        "text-plain" => return set(headers, "content-type", "text/plain"),
        "wrong-version-header" => return set(headers, "mcp-protocol-version", "2025-11-25"),
        "drops-token" if headers.iter().any(|(name, _)| matches!(name.as_str(), "mcp-session-id" | "mcp-name")) => {
            "authorization"
        }
        "no-session" => "mcp-session-id",
        "no-version-header" => "mcp-protocol-version",
        "no-method-header" => "mcp-method",
        "no-name-header" => "mcp-name",
        "no-param-header" => return headers.retain(|(name, _)| !name.starts_with("mcp-param-")),
        _ => return,
    };
    headers.retain(|(name, _)| name != gone);
}
