//! Arguments that are nested too deep.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "USE-012",
    name: "deep-schema",
    summary: "arguments are nested more than 5 levels deep",
    severity: Severity::Warning,
    why: "Models get deeply nested arguments wrong, and hosts with structured output accept only a few levels.",
    help: "flatten the arguments, or split the tool",
    bad: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object", "properties": {"a": {"type": "object", "description": "One level", "properties": {"a": {"type": "object", "description": "One level", "properties": {"a": {"type": "object", "description": "One level", "properties": {"a": {"type": "object", "description": "One level", "properties": {"a": {"type": "object", "description": "One level", "properties": {"a": {"type": "string", "description": "The innermost"}}}}}}}}}}}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object", "properties": {"a": {"type": "object", "description": "One level", "properties": {"a": {"type": "object", "description": "One level", "properties": {"a": {"type": "object", "description": "One level", "properties": {"a": {"type": "object", "description": "One level", "properties": {"a": {"type": "string", "description": "The innermost"}}}}}}}}}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

/// Levels that models and hosts cope with.
const MOST: usize = 5;

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let depths = view.tree.sites().filter(|(_, site)| !site.condition).map(|(id, site)| (view.tree.depth(id), site));
    // The first of the deepest: the outer ones are reported with it.
    if let Some((depth, site)) = depths.rev().max_by_key(|(depth, _)| *depth).filter(|(depth, _)| *depth > MOST) {
        faults.add(site.json, format!("the arguments are nested {depth} levels deep, more than {MOST}"));
    }
}
