//! Optional parameters without a description.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "USE-004",
    name: "undocumented-optional-parameter",
    summary: "an optional parameter has no description",
    severity: Severity::Note,
    why: "A model leaves out what it does not understand, so an optional parameter without a description is rarely \
          used well.",
    help: "add a `description` with the meaning of the value and what happens without it",
    bad: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "description": "Words to look for; all letters without it"}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for parameter in view.tree.parameters() {
        if !parameter.required && !parameter.described {
            faults.add(parameter.schema, format!("optional parameter `{}` has no description", parameter.name));
        }
    }
}
