//! Tools that say nothing about themselves.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "USE-001",
    name: "no-description",
    summary: "a tool has no description",
    severity: Severity::Critical,
    why: "A model chooses tools by what they say about themselves. Without a description it has only the name to go \
          by, and calls the wrong tool or none.",
    help: "say in a sentence what the tool does, when to use it and what it returns",
    bad: Example::Tool(r#"{"name": "search_letters", "inputSchema": {"type": "object"}}"#),
    good: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    if view.description.as_deref().is_none_or(|description| description.trim().is_empty()) {
        faults.add(view.tool.get("description").unwrap_or(view.tool), "the tool has no description");
    }
}
