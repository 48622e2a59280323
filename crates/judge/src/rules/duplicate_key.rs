//! Objects that have a key twice.

use std::collections::HashSet;

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::Json;

pub(super) const RULE: Rule = Rule {
    id: "VAL-009",
    name: "duplicate-key",
    summary: "a JSON object has the same key twice",
    severity: Severity::Error,
    why: "Readers differ in which of two equal keys they take, so client, server and tester may see different \
          schemas.",
    help: "remove one of them",
    bad: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {"host": {"type": "string"}, "host": {"type": "integer"}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {"host": {"type": "string"}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    look(view.tool, faults);
}

fn look<'c>(json: Json<'c>, faults: &mut RuleFaults<'_, 'c>) {
    let mut seen = HashSet::new();
    for (key, value) in json.members() {
        if let Some(text) = key.as_text().filter(|text| !seen.insert(text.clone())) {
            faults.add(value, format!("duplicate key `{text}`"));
        }
        look(value, faults);
    }
    for item in json.items() {
        look(item, faults);
    }
}
