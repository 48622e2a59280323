//! `order`: these were called one after the other.

use mcprove_model::{Diagnostics, Node, PlannedCheck};
use serde_json::Value;

use super::{THREE, TOOLS, tools_schema};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, named};

const NAME: &str = "order";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "These tools were called one after the other, perhaps with others between them.",
    decode,
    schema,
    examples: &[
        holds(r#"{"type": "order", "tools": ["read", "edit"]}"#, THREE),
        holds(r#"{"type": "order", "tools": ["edit", "read"]}"#, THREE),
        fails(r#"{"type": "order", "tools": ["edit", "edit"]}"#, THREE),
        fails(r#"{"type": "order", "tools": ["read", "write"]}"#, THREE),
    ],
};

fn decode(item: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    found.known_keys(item, "`order`", &["type", "tools"]);
    let Some(node) = super::required(item, NAME, "tools", found) else { return Vec::new() };
    named::in_order(&named::NamesCheck { name: NAME, node, names: &TOOLS }, found)
}

fn schema() -> Value {
    super::item_schema(NAME, &[("tools", tools_schema())], &["tools"])
}
