//! The parts that replies are made of.

use mcprove_model::member;
use serde_json::{Map, Value};

use super::walk::{Clients, Walk, is_date_time};

/// The kinds of content blocks.
const BLOCKS: &[&str] = &["text", "image", "audio", "resource", "resource_link"];

/// A content block of a tool result or a prompt message.
pub(super) fn block(walk: &mut Walk, value: &Value) {
    let Some(map) = walk.object(value, Clients::Both) else { return };
    match member(map, "type") {
        // pydantic takes a text without a type for a text.
        None if member(map, "text").is_some_and(Value::is_string) => {
            return walk.fault("has no `type`", Clients::TypeScript);
        }
        None => return walk.fault("has no `type`", Clients::Both),
        Some(Value::String(kind)) if BLOCKS.contains(&kind.as_str()) => {}
        Some(Value::String(kind)) => {
            let kind = mcprove_model::shorten(kind, 40);
            return walk.at("type", |walk| walk.fault(&format!("is not a kind of content: {kind:?}"), Clients::Both));
        }
        Some(other) => return walk.at("type", |walk| walk.text(other)),
    }
    match member(map, "type").and_then(Value::as_str) {
        Some("text") => walk.required_text(map, "text"),
        Some("resource") => walk.required(map, "resource", Clients::Both, resource_contents),
        Some("resource_link") => resource_members(walk, map),
        Some(_) | None => {
            walk.required(map, "data", Clients::Both, Walk::base64);
            walk.required_text(map, "mimeType");
        }
    }
    annotations(walk, map);
    meta(walk, map);
}

/// The content of a resource: its URI, and a text or a blob.
pub(super) fn resource_contents(walk: &mut Walk, value: &Value) {
    let Some(map) = walk.object(value, Clients::Both) else { return };
    walk.uri(map, "uri");
    match (member(map, "text"), member(map, "blob")) {
        (Some(text), None) => walk.at("text", |walk| walk.text(text)),
        (None, Some(blob)) => walk.at("blob", |walk| walk.base64(blob)),
        // The clients take the first that fits.
        (Some(text), Some(blob)) if text.is_string() || blob.is_string() => {}
        (Some(text), Some(_)) => walk.at("text", |walk| walk.text(text)),
        (None, None) => walk.fault("has neither `text` nor `blob`", Clients::Both),
    }
    walk.optional_text(map, "mimeType");
    meta(walk, map);
}

/// A resource of a list.
pub(super) fn resource(walk: &mut Walk, value: &Value) {
    let Some(map) = walk.object(value, Clients::Both) else { return };
    resource_members(walk, map);
    annotations(walk, map);
    meta(walk, map);
}

fn resource_members(walk: &mut Walk, map: &Map<String, Value>) {
    walk.uri(map, "uri");
    walk.required_text(map, "name");
    for key in ["title", "description", "mimeType"] {
        walk.optional_text(map, key);
    }
    walk.optional(map, "size", Walk::number);
}

/// A resource template of a list.
pub(super) fn resource_template(walk: &mut Walk, value: &Value) {
    let Some(map) = walk.object(value, Clients::Both) else { return };
    for key in ["uriTemplate", "name"] {
        walk.required_text(map, key);
    }
    for key in ["title", "description", "mimeType"] {
        walk.optional_text(map, key);
    }
    annotations(walk, map);
    meta(walk, map);
}

/// A tool of a list.
pub(super) fn tool(walk: &mut Walk, value: &Value) {
    let Some(map) = walk.object(value, Clients::Both) else { return };
    walk.required_text(map, "name");
    walk.required(map, "inputSchema", Clients::Both, object_schema);
    walk.optional(map, "outputSchema", |walk, schema| {
        if walk.modern {
            walk.object(schema, Clients::Both);
        } else {
            object_schema(walk, schema);
        }
    });
    for key in ["title", "description"] {
        walk.optional_text(map, key);
    }
    walk.optional(map, "annotations", |walk, hints| {
        let Some(hints) = walk.object(hints, Clients::Both) else { return };
        walk.optional_text(hints, "title");
        for key in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            walk.optional_flag(hints, key);
        }
    });
    meta(walk, map);
}

/// An input schema: the TypeScript client takes objects only.
fn object_schema(walk: &mut Walk, schema: &Value) {
    let Some(map) = walk.object(schema, Clients::Both) else { return };
    if member(map, "type").and_then(Value::as_str) != Some("object") {
        walk.fault("must have `\"type\": \"object\"`", Clients::TypeScript);
    }
}

/// A prompt of a list.
pub(super) fn prompt(walk: &mut Walk, value: &Value) {
    let Some(map) = walk.object(value, Clients::Both) else { return };
    walk.required_text(map, "name");
    for key in ["title", "description"] {
        walk.optional_text(map, key);
    }
    walk.optional(map, "arguments", |walk, list| walk.each(list, prompt_argument));
    meta(walk, map);
}

fn prompt_argument(walk: &mut Walk, value: &Value) {
    let Some(map) = walk.object(value, Clients::Both) else { return };
    walk.required_text(map, "name");
    for key in ["title", "description"] {
        walk.optional_text(map, key);
    }
    walk.optional_flag(map, "required");
}

/// A message of a prompt.
pub(super) fn prompt_message(walk: &mut Walk, value: &Value) {
    let Some(map) = walk.object(value, Clients::Both) else { return };
    walk.required(map, "role", Clients::Both, role);
    walk.required(map, "content", Clients::Both, block);
}

fn role(walk: &mut Walk, value: &Value) {
    if !matches!(value.as_str(), Some("user" | "assistant")) {
        walk.fault("must be \"user\" or \"assistant\"", Clients::Both);
    }
}

/// The `completion` of a completion result.
pub(super) fn completion(walk: &mut Walk, value: &Value) {
    let Some(map) = walk.object(value, Clients::Both) else { return };
    walk.required(map, "values", Clients::Both, |walk, list| walk.each(list, Walk::text));
    walk.optional(map, "total", Walk::integer);
    walk.optional_flag(map, "hasMore");
}

fn annotations(walk: &mut Walk, map: &Map<String, Value>) {
    walk.optional(map, "annotations", |walk, value| {
        let Some(map) = walk.object(value, Clients::Both) else { return };
        walk.optional(map, "audience", |walk, list| walk.each(list, role));
        walk.optional(map, "priority", |walk, value| {
            walk.number(value);
            if value.as_f64().is_some_and(|priority| !(0.0..=1.0).contains(&priority)) {
                walk.fault("must be between 0 and 1", Clients::Both);
            }
        });
        walk.optional(map, "lastModified", |walk, value| {
            walk.text(value);
            if value.as_str().is_some_and(|text| !is_date_time(text)) {
                walk.fault("is not a date and time with a zone", Clients::TypeScript);
            }
        });
    });
}

fn meta(walk: &mut Walk, map: &Map<String, Value>) {
    walk.optional(map, "_meta", |walk, meta| {
        walk.object(meta, Clients::Both);
    });
}
