//! Tools that take much of the context.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "USE-013",
    name: "costly-tool",
    summary: "one tool takes more than about 1,000 tokens",
    severity: Severity::Warning,
    why: "The definition of every tool is part of every request, whether the tool is used or not.",
    help: "shorten the description, and move examples to the documentation of the server",
    bad: Example::Many {
        tool: r#"{"name": "search_{n}", "description": "Searches shelf number {n}, which holds {filler}", "inputSchema": {"type": "object"}}"#,
        count: 1,
        filler: 5000,
    },
    good: Example::Many {
        tool: r#"{"name": "search_{n}", "description": "Searches shelf number {n}, which holds {filler}", "inputSchema": {"type": "object"}}"#,
        count: 1,
        filler: 300,
    },
    fix: None,
    run: Scope::Tool(run),
};

/// Tokens that one tool may take.
const MOST: usize = 1_000;
/// Characters of JSON that make about one token.
pub(super) const CHARACTERS: usize = 4;

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let tokens = view.tool.compact_len() / CHARACTERS;
    if tokens > MOST {
        let at = view.tool.get("name").unwrap_or(view.tool);
        faults.add(at, format!("the tool takes about {tokens} tokens of every request, more than {MOST}"));
    }
}
