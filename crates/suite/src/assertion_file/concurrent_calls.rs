//! `beside`: concurrent calls.

use mcprove_model::{BesideCall, Diagnostics, Node};
use serde_json::Value;

use super::block;
use super::templates::Scope;
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("args", || fragment::any_map("The arguments of the call.")),
    Field::optional("tool", || fragment::text("The tool to call; the same when left out.")),
];

/// Decodes the concurrent calls of a call; one without `tool` calls the same tool.
pub(super) fn decode(caller: &Node, tool: &Node, scope: &Scope, found: &mut Diagnostics<'_>) -> Vec<BesideCall> {
    let Some(list) = caller.get("beside").filter(|list| !list.is_null()) else { return Vec::new() };
    let mut calls = Vec::new();
    for item in found.one_or_many(list) {
        if found.map(item, "an item of `beside`").is_none() {
            continue;
        }
        found.known_keys(item, "an item of `beside`", &field::keys(FIELDS));
        let args = block::arguments(item, found);
        scope.check(&args, found);
        calls.push(BesideCall { tool: block::text(item, "tool", found).unwrap_or_else(|| tool.clone()), args });
    }
    calls
}

/// The JSON Schema of the list.
pub(super) fn schema() -> Value {
    fragment::list("Concurrent calls: all are sent before any answer is awaited.", field::map("A call.", FIELDS))
}
