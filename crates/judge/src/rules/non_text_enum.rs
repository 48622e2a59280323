//! Listed values that are not strings.

use mcprove_model::{Severity, shorten};

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "POR-012",
    name: "non-text-enum",
    summary: "enum has values that are not strings",
    severity: Severity::Warning,
    why: "Gemini takes strings in `enum` only, and rejects the request with a tool that lists numbers or booleans.",
    help: "use `minimum` and `maximum`, a boolean type, or strings",
    bad: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"level": {"type": "integer", "enum": [1, 2, 3]}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"level": {"type": "integer", "minimum": 1, "maximum": 3}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, site) in view.tree.sites() {
        let Some(list) = site.word(Word::Enum) else { continue };
        if let Some(value) = list.items().find(|value| value.as_text().is_none()) {
            let (noun, shown) = (view.tree.noun(id), shorten(value.raw(), 60).into_owned());
            faults.add(list, format!("{noun} lists {shown}, which is not a string"));
        }
    }
}
