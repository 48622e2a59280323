//! Tools without an input schema.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "VAL-001",
    name: "no-input-schema",
    summary: "a tool has no input schema, or one that is not an object",
    severity: Severity::Error,
    why: "The protocol requires an `inputSchema` of every tool; clients that check it drop the tool or the whole \
          list.",
    help: "add `inputSchema`; for a tool without parameters `{\"type\": \"object\", \"additionalProperties\": \
           false}`",
    bad: Example::Tool(r#"{"name": "ping", "inputSchema": true}"#),
    good: Example::Tool(r#"{"name": "ping", "inputSchema": {"type": "object", "additionalProperties": false}}"#),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let (at, message) = match view.tool.get("inputSchema") {
        _ if !view.tool.is_map() => (view.tool, format!("the tool is {}, not an object", view.tool.kind_name())),
        None => (view.tool, "the tool has no `inputSchema`".to_owned()),
        Some(schema) if schema.is_map() => return,
        Some(schema) => (schema, format!("`inputSchema` is {}, not an object", schema.kind_name())),
    };
    faults.add(at, message);
}
