//! Definitions of draft 7.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "POR-006",
    name: "old-definitions",
    summary: "definitions are under definitions instead of $defs",
    severity: Severity::Warning,
    why: "Since 2019-09 the word is `$defs`. Hosts that look only for it lose the schemas under `definitions`, and \
          the references to it lead nowhere.",
    help: "rename `definitions` to `$defs`, and the references with it",
    bad: Example::Tool(
        r##"{"name": "find", "inputSchema": {"type": "object", "properties": {"id": {"$ref": "#/definitions/Id"}}, "definitions": {"Id": {"type": "string"}}}}"##,
    ),
    good: Example::Tool(
        r##"{"name": "find", "inputSchema": {"type": "object", "properties": {"id": {"$ref": "#/$defs/Id"}}, "$defs": {"Id": {"type": "string"}}}}"##,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (_, site) in view.tree.sites() {
        if let Some(definitions) = site.word(Word::Definitions) {
            faults.add(definitions, "`definitions` is the word of draft 7; hosts look for `$defs`");
        }
    }
}
