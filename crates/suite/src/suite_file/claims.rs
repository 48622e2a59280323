//! `client_capabilities` of a test or a step: what its request claims, whatever the client really offers.
//!
//! Since revision 2026-07-28 every request restates them, so that one request can claim what another did not. Before, the
//! handshake claims them, so that such a test has a session of its own.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Era, Node, Protocol, ServerSpec};
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

/// Reports the claims of a step where a handshake has made the claims of the whole session.
pub(super) fn report_legacy(step: &Node, server: Option<&Arc<ServerSpec>>, found: &mut Diagnostics<'_>) {
    let Some(Protocol::Exactly(revision)) = server.map(|server| server.protocol) else { return };
    let key = step.as_map().unwrap_or_default().iter().find(|entry| entry.key.text == KEY);
    if let Some(entry) = key.filter(|_| revision.era() == Era::Legacy) {
        let message = format!("a step cannot claim capabilities of its own in {revision}: the handshake did");
        let help = "write `client_capabilities` on a test, or `protocol: modern` on the server";
        found.error_with_help("wrong-key", entry.key.span, message, help);
    }
}

/// The JSON Schema of the key.
pub(super) fn schema() -> Value {
    json!({
        "type": ["array", "object", "null"],
        "items": {"type": "string"},
        "description": "What is claimed of the client: by the request since 2026-07-28, by the handshake before; what is true when left out.",
    })
}
