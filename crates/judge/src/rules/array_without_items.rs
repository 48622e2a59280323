//! Arrays that do not say what they hold.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "POR-007",
    name: "array-without-items",
    summary: "an array has no items",
    severity: Severity::Warning,
    why: "OpenAI (`array schema missing items`), Gemini (`items: missing field`) and VS Code reject such a tool, and \
          often every tool with it.",
    help: "add `items` with the schema of what it holds",
    bad: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"ids": {"type": "array"}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string"}}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, site) in view.tree.sites() {
        let tuple = site.has(Word::PrefixItems);
        if site.allows_type("array") && !site.condition && !site.has(Word::Items) && !tuple {
            faults.add(site.json, format!("array {} has no `items`", view.tree.noun(id)));
        }
    }
}
