//! `client_capabilities` of a test or a step: what its request claims, whatever the client really offers.
//!
//! Since revision 2026-07-28 every request restates them, so that one request can claim what another did not.

use mcprove_model::{Diagnostics, Node};
use serde_json::{Map, Value, json};

pub(super) const KEY: &str = "client_capabilities";

/// Decodes a list of names, or a map of names to what is said of each.
pub(super) fn decode(owner: &Node, found: &mut Diagnostics<'_>) -> Option<Value> {
    let node = owner.get(KEY).filter(|node| !node.is_null())?;
    let mut claims = Map::new();
    if let Some(names) = node.as_list() {
        for name in names {
            let name = found.text(name, "a client capability")?;
            claims.insert(name.to_owned(), json!({}));
        }
        return Some(Value::Object(claims));
    }
    let Some(entries) = node.as_map() else {
        found.wrong_kind(node, "`client_capabilities`", "a list of names, or a map");
        return None;
    };
    for entry in entries {
        let value = if entry.value.is_null() { json!({}) } else { entry.value.to_json() };
        claims.insert(entry.key.text.to_string(), value);
    }
    Some(Value::Object(claims))
}

/// The JSON Schema of the key.
pub(super) fn schema() -> Value {
    json!({
        "type": ["array", "object", "null"],
        "items": {"type": "string"},
        "description": "What the request claims of the client, in revision 2026-07-28; what is true when left out.",
    })
}
