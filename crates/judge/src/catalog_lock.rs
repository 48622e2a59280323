//! The lockfile of a server's catalog: what it offers, what that costs a model, and hashes in the place of descriptions.

use serde_json::{Map, Value, json};

use crate::catalog_tokens;
use crate::generate::hash;

/// Texts that people and models read; they are stored as hashes.
const TEXTS: &[&str] = &["description", "instructions", "title"];

/// The version of the format.
const VERSION: u64 = 1;

/// The lock of a catalog, as `catalog_document` makes it.
pub fn catalog_lock(catalog: &Value) -> Value {
    let tools = catalog.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let tokens: Map<String, Value> = tools
        .iter()
        .filter_map(|tool| {
            let name = tool.get("name")?.as_str()?.to_owned();
            Some((name, json!(catalog_tokens(std::slice::from_ref(tool)))))
        })
        .collect();
    json!({
        "version": VERSION,
        "tokens": {"total": catalog_tokens(tools), "tools": tokens},
        "catalog": hashed(catalog, false),
    })
}

/// The problem of a lock that cannot be compared; none for one of this version.
pub fn lock_problem(lock: &Value) -> Option<String> {
    match lock.get("version").and_then(Value::as_u64) {
        Some(VERSION) if lock.get("catalog").is_some_and(Value::is_object) => None,
        Some(VERSION) => Some("it has no `catalog`".to_owned()),
        Some(version) => Some(format!("version {version} is not known")),
        None => Some("it has no `version`".to_owned()),
    }
}

/// The tokens that a catalog takes of every request.
pub fn locked_tokens(lock: &Value) -> u64 {
    lock.pointer("/tokens/total").and_then(Value::as_u64).unwrap_or(0)
}

/// The value with hashes in the place of texts; names of properties are no texts.
fn hashed(value: &Value, is_names: bool) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, inner)| {
                    let is_text = !is_names && TEXTS.contains(&key.as_str());
                    let inner = match inner {
                        Value::String(text) if is_text => Value::from(digest(text)),
                        inner => {
                            hashed(inner, !is_names && matches!(key.as_str(), "properties" | "$defs" | "definitions"))
                        }
                    };
                    (key.clone(), inner)
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(|item| hashed(item, false)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// A text in a few letters.
pub(crate) fn digest(text: &str) -> String {
    format!("hash:{:016x}{:016x}", hash(1, text.as_bytes()), hash(2, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog_change::{Class, catalog_changes, catalog_document};

    fn lock(description: &str, property: &Value) -> Value {
        let tool = json!({"name": "echo", "description": description, "inputSchema": {
            "type": "object", "properties": {"description": property}}});
        catalog_lock(&catalog_document(&[tool], &[], &[], &[]))
    }

    #[test]
    fn a_lock_shows_the_class_of_a_change_and_no_description() {
        let text = json!({"type": "string", "description": "What is said back."});
        let old = lock("Says it back.", &text);
        assert!(!old.to_string().contains("back"), "{old}");
        assert!(old.to_string().contains("\"description\":{\"type\""), "a property of this name is kept: {old}");
        assert_eq!(lock_problem(&old), None);
        assert!(locked_tokens(&old) > 0);
        assert_eq!(lock_problem(&json!({"version": 9})), Some("version 9 is not known".to_owned()));
        let changes = |new: &Value| catalog_changes(&old["catalog"], &new["catalog"]);
        assert!(changes(&lock("Says it back.", &text)).is_empty());
        assert_eq!(changes(&lock("Says it twice.", &text))[0].class, Class::DescriptionOnly);
        assert_eq!(changes(&lock("Says it back.", &json!({"type": "integer"})))[0].class, Class::Breaking);
    }
}
