//! `presence`: each of these was called.

use mcprove_model::{Diagnostics, Node, PlannedCheck};
use serde_json::Value;

use super::{THREE, TOOLS, tools_schema};
use crate::checks::among::TextPresence;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, named};

const NAME: &str = "presence";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "Each of these tools was called at least once.",
    decode,
    schema,
    examples: &[
        holds(r#"{"type": "presence", "tools": ["edit", "read"]}"#, THREE),
        holds(r#"{"type": "presence", "tools": "edit"}"#, THREE),
        fails(r#"{"type": "presence", "tools": ["edit", "write"]}"#, THREE),
    ],
};

fn decode(item: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    found.known_keys(item, "`presence`", &["type", "tools"]);
    let Some(node) = super::required(item, NAME, "tools", found) else { return Vec::new() };
    named::occurring(&named::NamesCheck { name: NAME, node, names: &TOOLS }, TextPresence::Required, found)
}

fn schema() -> Value {
    super::item_schema(NAME, &[("tools", tools_schema())], &["tools"])
}
