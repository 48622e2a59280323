//! `beside`: concurrent calls.

use mcprove_model::{BesideCall, Diagnostics, Node};
use serde_json::{Value, json};

use super::block;
use super::templates::Scope;
use crate::schema::fragment;

const KEYS: &[&str] = &["args", "tool"];

/// Decodes the concurrent calls of a call; one without `tool` calls the same tool.
pub(super) fn decode(caller: &Node, tool: &Node, scope: &Scope, found: &mut Diagnostics<'_>) -> Vec<BesideCall> {
    let Some(list) = caller.get("beside").filter(|list| !list.is_null()) else { return Vec::new() };
    let mut calls = Vec::new();
    for item in found.one_or_many(list) {
        if found.map(item, "an item of `beside`").is_none() {
            continue;
        }
        found.known_keys(item, "an item of `beside`", KEYS);
        let args = block::arguments(item, found);
        scope.check(&args, found);
        calls.push(BesideCall { tool: block::text(item, "tool", found).unwrap_or_else(|| tool.clone()), args });
    }
    calls
}

/// The JSON Schema of the list.
pub(super) fn schema() -> Value {
    let properties = json!({
        "args": fragment::any_map("The arguments of the call."),
        "tool": fragment::text("The tool to call; the same when left out."),
    });
    fragment::list(
        "Concurrent calls: all are sent before any answer is awaited.",
        fragment::map("A call.", properties, &[]),
    )
}
