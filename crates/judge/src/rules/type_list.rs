//! Lists of types.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::JsonKind;

pub(super) const RULE: Rule = Rule {
    id: "POR-009",
    name: "type-list",
    summary: "type is a list of types",
    severity: Severity::Warning,
    why: "Gemini takes one type only (`Proto field is not repeating, cannot start list`); hosts that translate \
          schemas for it fail on the whole list of tools.",
    help: "leave the parameter optional instead of nullable, or use `anyOf` with one type each",
    bad: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"id": {"type": ["string", "null"]}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, site) in view.tree.sites() {
        if let Some(types) = site.word(Word::Type).filter(|kind| kind.kind() == JsonKind::List) {
            faults.add(types, format!("{} has a list of types", view.tree.noun(id)));
        }
    }
}
