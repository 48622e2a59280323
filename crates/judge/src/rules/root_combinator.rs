//! Alternatives at the root.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "POR-003",
    name: "root-combinator",
    summary: "an input schema has anyOf, oneOf or allOf at its root",
    severity: Severity::Warning,
    why: "Anthropic, OpenAI and Bedrock reject a request with a tool whose input schema has `anyOf`, `oneOf` or \
          `allOf` at the top; Claude Code drops such tools without a word. Below a property they are taken.",
    help: "move the alternatives into a property, or split the tool",
    bad: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}, "url": {"type": "string"}}, "oneOf": [{"required": ["id"]}, {"required": ["url"]}]}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"target": {"oneOf": [{"type": "integer"}, {"type": "string"}]}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let Some((_, root)) = view.tree.sites().next() else { return };
    for (word, name) in [(Word::AllOf, "allOf"), (Word::AnyOf, "anyOf"), (Word::OneOf, "oneOf")] {
        if let Some(value) = root.word(word) {
            faults.add(value, format!("`{name}` at the root of the input schema"));
        }
    }
}
