//! Catalogs that take much of the context.

use mcprove_model::Severity;

use super::costly_tool::CHARACTERS;
use super::{Example, Rule, Scope};
use crate::lint::{ListingView, RuleFaults};

pub(super) const RULE: Rule = Rule {
    id: "USE-014",
    name: "costly-catalog",
    summary: "all tools together take more than about 8,000 tokens",
    severity: Severity::Warning,
    why: "The definitions of all tools are part of every request: what they take is paid for each time, and is \
          missing for the task.",
    help: "shorten descriptions and schemas, or offer fewer tools",
    bad: Example::Many {
        tool: r#"{"name": "search_{n}", "description": "Searches shelf number {n}, which holds {filler}", "inputSchema": {"type": "object"}}"#,
        count: 12,
        filler: 3000,
    },
    good: Example::Many {
        tool: r#"{"name": "search_{n}", "description": "Searches shelf number {n}, which holds {filler}", "inputSchema": {"type": "object"}}"#,
        count: 2,
        filler: 3000,
    },
    fix: None,
    run: Scope::Listing(run),
};

/// Tokens that all tools together may take.
const MOST: usize = 8_000;

fn run<'c>(view: &ListingView<'c>, faults: &mut RuleFaults<'_, 'c>) {
    let tokens = view.tools().map(|(_, tool)| tool.compact_len()).sum::<usize>() / CHARACTERS;
    if let (true, Some(list)) = (tokens > MOST, view.list()) {
        faults.add(list, format!("the tools take about {tokens} tokens of every request, more than {MOST}"));
    }
}

/// Approximate number of tokens that a list of tools takes of every request.
pub fn catalog_tokens(tools: &[serde_json::Value]) -> usize {
    tools.iter().map(|tool| tool.to_string().len()).sum::<usize>() / CHARACTERS
}
