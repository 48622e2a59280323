//! Client side of a probe: `_meta`, headers that mirror a request, answers to the server.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcprove_judge::generate::valid_input;
use mcprove_model::Revision;
use serde_json::{Value, json};

pub(super) const PREFIX: &str = "io.modelcontextprotocol/";

/// Policy for answers to requests of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// Everything but ping is refused.
    Refuse,
    /// Declared features are answered.
    Accept,
    /// Users decline.
    Decline,
}

/// The params of a modern request with its `_meta`.
pub(super) fn with_meta(params: Value, revision: Revision, client: &Value) -> Value {
    let mut params = if params.is_object() { params } else { json!({}) };
    if !params["_meta"].is_object() {
        params["_meta"] = json!({});
    }
    let meta = &mut params["_meta"];
    let info = json!({"name": "mcprove", "version": env!("CARGO_PKG_VERSION")});
    for (key, value) in
        [("protocolVersion", json!(revision.as_str())), ("clientCapabilities", client.clone()), ("clientInfo", info)]
    {
        let key = format!("{PREFIX}{key}");
        if meta.get(&key).is_none() {
            meta[key] = value;
        }
    }
    params
}

/// The headers that mirror a modern request.
pub(super) fn mirrored(message: &Value, schemas: &HashMap<String, Value>) -> Vec<(String, Vec<u8>)> {
    let mut headers = Vec::new();
    let Some(method) = message["method"].as_str() else { return headers };
    headers.push(("mcp-method".to_owned(), method.as_bytes().to_vec()));
    let params = &message["params"];
    let name = match method {
        "tools/call" | "prompts/get" => params["name"].as_str(),
        "resources/read" => params["uri"].as_str(),
        "tasks/get" | "tasks/update" | "tasks/cancel" => params["taskId"].as_str(),
        _ => None,
    };
    if let Some(name) = name {
        headers.push(("mcp-name".to_owned(), field_value(name).into_bytes()));
    }
    if method == "tools/call"
        && let Some(schema) = name.and_then(|name| schemas.get(name))
    {
        mirror_arguments(schema, &params["arguments"], &mut headers);
    }
    headers
}

fn mirror_arguments(schema: &Value, arguments: &Value, headers: &mut Vec<(String, Vec<u8>)>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let Some(value) = arguments.get(name) else { continue };
        if let Some(header) =
            property["x-mcp-header"].as_str().filter(|header| header.bytes().all(|b| b.is_ascii_graphic()))
        {
            let text = match value {
                Value::String(text) => field_value(text),
                Value::Bool(_) | Value::Number(_) => value.to_string(),
                _ => continue,
            };
            headers.push((format!("mcp-param-{}", header.to_ascii_lowercase()), text.into_bytes()));
        }
        mirror_arguments(property, value, headers);
    }
}

/// A text as a header, in base64 where a header could not carry it.
pub(super) fn field_value(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.trim() == text;
    if is_plain && !text.starts_with("=?base64?") { text.to_owned() } else { encoded(text) }
}

/// A text in the base64 form of headers.
pub(super) fn encoded(text: &str) -> String {
    format!("=?base64?{}?=", STANDARD.encode(text))
}

/// The answer to a request of the server; none to anything else.
pub(super) fn answer_to(json: &Value, client: &Value, policy: Policy) -> Option<Value> {
    let id = json.get("id").filter(|id| !id.is_null())?;
    let method = json.get("method")?.as_str()?;
    if method.starts_with("notifications/") {
        return None;
    }
    let result = match method {
        "ping" => Some(json!({})),
        _ if policy == Policy::Refuse => None,
        "roots/list" if client.get("roots").is_none() => None,
        "sampling/createMessage" if client.get("sampling").is_none() => None,
        "elicitation/create" if client.get("elicitation").is_none() => None,
        _ => input_for(method, &json["params"], policy),
    };
    Some(match result {
        Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        None => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "method not found"}}),
    })
}

/// The client's answer to a request for input, in either protocol era.
pub(super) fn input_for(method: &str, params: &Value, policy: Policy) -> Option<Value> {
    Some(match method {
        "roots/list" => json!({"roots": [{"uri": "file:///tmp", "name": "tmp"}]}),
        "sampling/createMessage" => json!({
            "role": "assistant", "content": {"type": "text", "text": "Hello"}, "model": "mcprove", "stopReason": "endTurn",
        }),
        "elicitation/create" if policy == Policy::Decline => json!({"action": "decline"}),
        "elicitation/create" if params["mode"] == "url" => json!({"action": "accept"}),
        "elicitation/create" => {
            let content = valid_input(&params["requestedSchema"], 1).unwrap_or_else(|_| json!({}));
            json!({"action": "accept", "content": content})
        }
        _ => return None,
    })
}
