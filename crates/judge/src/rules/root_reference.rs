//! References at the root.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "POR-004",
    name: "root-reference",
    summary: "an input schema is a $ref at its root",
    severity: Severity::Warning,
    why: "Hosts read `properties` and `required` at the root and do not follow a reference there: the tool appears \
          without parameters, or is rejected because its `type` is not at hand.",
    help: "write the root out, and refer to definitions from its properties only",
    bad: Example::Tool(
        r##"{"name": "find", "inputSchema": {"type": "object", "$ref": "#/$defs/Find", "$defs": {"Find": {"type": "object", "properties": {"id": {"type": "string"}}}}}}"##,
    ),
    good: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    if let Some(reference) = view.tree.sites().next().and_then(|(_, root)| root.word(Word::Ref)) {
        faults.add(reference, "the root of the input schema is a reference");
    }
}
