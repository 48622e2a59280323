//! Annotations of the wrong type.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "VAL-008",
    name: "wrong-annotation-type",
    summary: "annotations have values of the wrong type",
    severity: Severity::Error,
    why: "Clients read hints as booleans. One that is written as a string is dropped, or the list of tools with it, \
          and what the tool said about its safety is lost.",
    help: "write hints as `true` or `false`, and the title as a string",
    bad: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "true"}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let Some(annotations) = view.tool.get("annotations") else { return };
    if !annotations.is_map() {
        faults.add(annotations, format!("`annotations` is {}, expected an object", annotations.kind_name()));
    }
    for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
        if let Some(value) = annotations.get(hint).filter(|value| value.as_bool().is_none()) {
            faults.add(value, format!("`{hint}` is {}, expected a boolean", value.kind_name()));
        }
    }
    if let Some(title) = annotations.get("title").filter(|title| title.as_text().is_none()) {
        faults.add(title, format!("`title` is {}, expected a string", title.kind_name()));
    }
}
