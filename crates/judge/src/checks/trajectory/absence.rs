//! `absence`: none of these was called.

use mcprove_model::{Diagnostics, Node, PlannedCheck};
use serde_json::Value;

use super::{THREE, TOOLS, tools_schema};
use crate::checks::among::TextPresence;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, named};

const NAME: &str = "absence";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "None of these tools was called.",
    decode,
    schema,
    examples: &[
        holds(r#"{"type": "absence", "tools": ["write", "delete"]}"#, THREE),
        fails(r#"{"type": "absence", "tools": ["write", "read"]}"#, THREE),
    ],
};

fn decode(item: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    found.known_keys(item, "`absence`", &["type", "tools"]);
    let Some(node) = super::required(item, NAME, "tools", found) else { return Vec::new() };
    named::occurring(&named::NamesCheck { name: NAME, node, names: &TOOLS }, TextPresence::Forbidden, found)
}

fn schema() -> Value {
    super::item_schema(NAME, &[("tools", tools_schema())], &["tools"])
}
