//! Tools without a name.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "VAL-002",
    name: "no-tool-name",
    summary: "a tool has no name",
    severity: Severity::Error,
    why: "A tool is called by its name; without one it cannot be called at all.",
    help: "give it a `name`",
    bad: Example::Tool(r#"{"name": " ", "inputSchema": {"type": "object"}}"#),
    good: Example::Tool(r#"{"name": "ping", "inputSchema": {"type": "object"}}"#),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let (at, message) = match (&view.name, view.tool.get("name")) {
        _ if !view.tool.is_map() => return,
        (None, None) => (view.tool, "the tool has no `name`".to_owned()),
        (None, Some(other)) => (other, format!("`name` is {}, not a string", other.kind_name())),
        (Some(name), at) if name.trim().is_empty() => (at.unwrap_or(view.tool), "`name` is empty".to_owned()),
        (Some(_), _) => return,
    };
    faults.add(at, message);
}
