//! The published JSON Schemas of the revisions, patched where they contradict the text, and messages against them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use mcprove_model::{Revision, shorten};
use serde_json::{Value, json};

/// The schema of a revision without descriptions, one definition per line; see `schemas/README.md`.
fn published(revision: Revision) -> &'static str {
    match revision {
        Revision::V2024_11_05 => include_str!("schemas/2024-11-05.json"),
        Revision::V2025_03_26 => include_str!("schemas/2025-03-26.json"),
        Revision::V2025_06_18 => include_str!("schemas/2025-06-18.json"),
        Revision::V2025_11_25 => include_str!("schemas/2025-11-25.json"),
        Revision::V2026_07_28 => include_str!("schemas/2026-07-28.json"),
    }
}

/// A schema with its patches, and the key of its definitions.
fn patched(revision: Revision) -> (Value, &'static str) {
    let mut schema: Value = serde_json::from_str(published(revision)).unwrap_or(Value::Null);
    let key = if revision < Revision::V2025_11_25 { "definitions" } else { "$defs" };
    let definitions = &mut schema[key];
    // A property schema may be `true` or `false` in JSON Schema; the generated files allow objects alone. Tool schemas are
    // judged by their meta-schema instead.
    for name in ["inputSchema", "outputSchema"] {
        let properties = format!("/Tool/properties/{name}/properties/properties");
        if let Some(properties) = definitions.pointer_mut(&properties) {
            *properties = json!({"type": "object"});
        }
    }
    // `schema.ts` allows every JSON value here; the generated file leaves out null and fractions.
    if definitions.get("JSONValue").is_some() {
        definitions["JSONValue"] = json!({});
    }
    (schema, key)
}

type Validators = HashMap<(Revision, String), Option<Arc<Validator>>>;

static SCHEMAS: LazyLock<HashMap<Revision, (Value, &'static str)>> =
    LazyLock::new(|| Revision::ALL.into_iter().map(|revision| (revision, patched(revision))).collect());
static VALIDATORS: LazyLock<Mutex<Validators>> = LazyLock::new(Mutex::default);

/// The validator of a type; `None` if the revision has no such type.
fn validator(revision: Revision, name: &str) -> Option<Arc<Validator>> {
    let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (revision, name.to_owned());
    if let Some(known) = validators.get(&key) {
        return known.clone();
    }
    let (schema, definitions) = SCHEMAS.get(&revision)?;
    let made = schema[*definitions].get(name).and_then(|_| {
        let mut whole = schema.clone();
        whole["$ref"] = json!(format!("#/{definitions}/{name}"));
        let built = jsonschema::options().offline().should_validate_formats(false).build(&whole);
        built.ok().map(Arc::new)
    });
    validators.insert(key, made.clone());
    made
}

/// The deepest error of a message of this type with its place, if any.
pub fn fault(revision: Revision, name: &str, value: &Value) -> Option<String> {
    let validator = validator(revision, name)?;
    // An iterator of errors has all of them, and there may be millions.
    let error = validator.validate(value).err()?;
    let message = error.to_string();
    let message = shorten(&message, 240);
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { "the top".to_owned() } else { place.to_owned() };
    Some(format!("not a valid {name}: {message} (at {place})"))
}

/// True if the revision defines the type.
pub(super) fn defines(revision: Revision, name: &str) -> bool {
    SCHEMAS.get(&revision).is_some_and(|(schema, key)| schema[*key].get(name).is_some())
}

/// The type of the result of a request.
pub fn result_type(method: &str, params: &Value, result: &Value) -> Option<&'static str> {
    if let Some(kind) = result.get("resultType").and_then(Value::as_str) {
        match kind {
            "complete" => {}
            "input_required" => return Some("InputRequiredResult"),
            // Results of extensions have shapes of their own.
            _ => return None,
        }
    }
    Some(match method {
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" if params.get("task").is_some() && result.get("task").is_some() => "CreateTaskResult",
        "tools/call" => "CallToolResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "completion/complete" => "CompleteResult",
        "subscriptions/listen" => "SubscriptionsListenResult",
        "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => "EmptyResult",
        "tasks/list" => "ListTasksResult",
        _ => return None,
    })
}

/// The type of a notification or request of the server.
pub fn message_type(method: &str) -> Option<&'static str> {
    Some(match method {
        "notifications/cancelled" => "CancelledNotification",
        "notifications/progress" => "ProgressNotification",
        "notifications/message" => "LoggingMessageNotification",
        "notifications/resources/updated" => "ResourceUpdatedNotification",
        "notifications/resources/list_changed" => "ResourceListChangedNotification",
        "notifications/tools/list_changed" => "ToolListChangedNotification",
        "notifications/prompts/list_changed" => "PromptListChangedNotification",
        "notifications/elicitation/complete" => "ElicitationCompleteNotification",
        "notifications/tasks/status" => "TaskStatusNotification",
        "notifications/subscriptions/acknowledged" => "SubscriptionsAcknowledgedNotification",
        "sampling/createMessage" => "CreateMessageRequest",
        "roots/list" => "ListRootsRequest",
        "elicitation/create" => "ElicitRequest",
        "ping" => "PingRequest",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_compiles_for_every_type_it_defines() {
        for revision in Revision::ALL {
            let (schema, key) = patched(revision);
            let names = schema[key].as_object().expect("definitions");
            assert!(names.len() > 70, "{revision}");
            for name in names.keys().filter(|name| name.ends_with("Result") || name.ends_with("Notification")) {
                assert!(validator(revision, name).is_some(), "{revision} {name}");
            }
        }
    }

    #[test]
    fn results_are_held_to_their_revision() {
        let old = Revision::V2024_11_05;
        let tools = |tool: Value| json!({"tools": [tool]});
        assert_eq!(
            fault(old, "ListToolsResult", &tools(json!({"name": "a", "inputSchema": {"type": "object"}}))),
            None
        );
        let bad = fault(old, "ListToolsResult", &tools(json!({"name": "a", "inputSchema": {}}))).expect("no type");
        assert!(bad.contains("/tools/0/inputSchema"), "{bad}");
        for content in [json!("nope"), json!([{"type": "text"}]), json!([5])] {
            assert!(fault(old, "CallToolResult", &json!({"content": content})).is_some(), "{content}");
        }
        assert!(fault(old, "CallToolResult", &json!({"content": [], "isError": "yes"})).is_some());
        assert!(fault(old, "ReadResourceResult", &json!({})).is_some());
        // Boolean property schemas are legal JSON Schema.
        let schema = json!({"type": "object", "properties": {"x": true}});
        assert_eq!(fault(old, "ListToolsResult", &tools(json!({"name": "a", "inputSchema": schema}))), None);
        // `null` and fractions are JSON values.
        let capabilities = json!({"experimental": {"x": {"y": null, "z": 1.5}}});
        assert_eq!(fault(Revision::NEWEST, "ServerCapabilities", &capabilities), None);
    }
}
