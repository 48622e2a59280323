//! Tools that write and do not say so.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::Json;
use crate::tool_effect::{VerbKind, has_only_numbers, verb_of_name};

pub(super) const RULE: Rule = Rule {
    id: "USE-009",
    name: "write-without-annotations",
    summary: "a tool that changes something has no annotations that say so",
    severity: Severity::Warning,
    why: "Hosts decide by `annotations` what needs the approval of a person. Without them they assume the worst of \
          every tool, and people learn to approve without looking.",
    help: "add `annotations` with `readOnlyHint` or `destructiveHint`",
    bad: Example::Tool(
        r#"{"name": "delete_letter", "description": "Deletes a letter from the archive for good", "inputSchema": {"type": "object"}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "delete_letter", "description": "Deletes a letter from the archive for good", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false, "destructiveHint": true}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let Some(name) = view.name.as_deref() else { return };
    let Some((verb, VerbKind::Changes)) = verb_of_name(name, false) else { return };
    if verb == "add" && has_only_numbers(&view.tool.to_value()) {
        return;
    }
    let annotations = view.tool.get("annotations");
    let says = |hint: &str| annotations.and_then(|all| all.get(hint)).and_then(Json::as_bool).is_some();
    if !says("readOnlyHint") && !says("destructiveHint") {
        let at = annotations.or_else(|| view.tool.get("name")).unwrap_or(view.tool);
        faults.add(at, format!("the tool changes something (`{verb}`) and has no annotations that say so"));
    }
}
