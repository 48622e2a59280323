//! Arrays with a schema for each item.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::JsonKind;

pub(super) const RULE: Rule = Rule {
    id: "POR-010",
    name: "tuple",
    summary: "an array has a schema for each of its items",
    severity: Severity::Warning,
    why: "Clients have failed on tuples in both spellings: VS Code and Copilot want one `items` schema, xAI rejects \
          `items` as a list, and translators to OpenAPI know neither.",
    help: "use an object with a name for each value, or one `items` schema",
    bad: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"at": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"at": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, site) in view.tree.sites() {
        let old = site.word(Word::Items).filter(|items| items.kind() == JsonKind::List);
        if let Some(tuple) = site.word(Word::PrefixItems).or(old) {
            faults.add(tuple, format!("{} has a schema for each of its items", view.tree.noun(id)));
        }
    }
}
