//! The answers of a client, as an assertion file holds them.

use mcprove_model::{ClientCapabilities, ElicitationAction, Redactor};
use serde_json::{Map, Value, json};

use crate::server::client_capabilities::AUTO;
use crate::template::literal_value;

/// The `client_capabilities` of an assertion file; braces mean themselves.
pub(super) fn written(client: &ClientCapabilities, secrets: &Redactor) -> Map<String, Value> {
    let mut map = Map::new();
    if let Some(roots) = &client.roots {
        map.insert("roots".to_owned(), json!(roots));
    }
    if !client.sampling.is_empty() {
        let replies = client
            .sampling
            .iter()
            .map(|reply| json!({"text": reply.text, "model": reply.model, "stop_reason": reply.stop_reason}));
        map.insert("sampling".to_owned(), replies.collect());
    }
    if let Some(reply) = &client.elicitation {
        let mut answer = match reply.action {
            ElicitationAction::Accept if reply.content.is_null() => json!({"action": "accept", "content": AUTO}),
            ElicitationAction::Accept => json!({"action": "accept", "content": reply.content}),
            ElicitationAction::Decline => json!({"action": "decline"}),
            ElicitationAction::Cancel => json!({"action": "cancel"}),
        };
        if reply.url {
            answer["url"] = json!(true);
        }
        map.insert("elicitation".to_owned(), answer);
    }
    match literal_value(&masked(Value::Object(map), secrets), &[]) {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A value with its secrets masked.
fn masked(value: Value, secrets: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(secrets.text(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(|item| masked(item, secrets)).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, masked(value, secrets))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}
