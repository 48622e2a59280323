//! Descriptions longer than hosts take.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "POR-011",
    name: "long-description",
    summary: "a tool description has more than 1,024 characters",
    severity: Severity::Warning,
    why: "OpenAI models have rejected descriptions of more than 1,024 characters, and Claude Code cuts them off at \
          2,048: the end is never read.",
    help: "say the essential in the first 1,024 characters, and the rest elsewhere",
    bad: Example::Many {
        tool: r#"{"name": "search_{n}", "description": "Searches shelf number {n}, which holds {filler}", "inputSchema": {"type": "object"}}"#,
        count: 1,
        filler: 1200,
    },
    good: Example::Many {
        tool: r#"{"name": "search_{n}", "description": "Searches shelf number {n}, which holds {filler}", "inputSchema": {"type": "object"}}"#,
        count: 1,
        filler: 200,
    },
    fix: None,
    run: Scope::Tool(run),
};

/// Characters that every host takes.
const MOST: usize = 1_024;

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let count = view.description.as_deref().map_or(0, |text| text.chars().count());
    if let (true, Some(at)) = (count > MOST, view.tool.get("description")) {
        faults.add(at, format!("the description has {count} characters, more than {MOST}"));
    }
}
