//! Required parameters without a description.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "USE-003",
    name: "undocumented-required-parameter",
    summary: "a required parameter has no description",
    severity: Severity::Warning,
    why: "A model must fill in a required parameter, and guesses its meaning and form from the name when nothing \
          else is said.",
    help: "add a `description` with the meaning and form of the value",
    bad: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "description": "Words to look for"}}, "required": ["query"]}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for parameter in view.tree.parameters() {
        if parameter.required && !parameter.described {
            faults.add(parameter.schema, format!("required parameter `{}` has no description", parameter.name));
        }
    }
}
