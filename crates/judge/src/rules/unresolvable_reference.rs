//! References that lead nowhere.

use mcprove_model::{Severity, shorten};

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "VAL-005",
    name: "unresolvable-reference",
    summary: "a $ref refers to nothing in the schema",
    severity: Severity::Error,
    why: "Clients do not fetch schemas from elsewhere, and some cannot load any tool of a server of which one has a \
          reference that leads nowhere.",
    help: "put the definition into `$defs` of the same schema, or write it out",
    bad: Example::Tool(
        r##"{"name": "ping", "inputSchema": {"type": "object", "properties": {"host": {"$ref": "#/$defs/Host"}}}}"##,
    ),
    good: Example::Tool(
        r##"{"name": "ping", "inputSchema": {"type": "object", "properties": {"host": {"$ref": "#/$defs/Host"}}, "$defs": {"Host": {"type": "string"}}}}"##,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, site) in view.tree.sites() {
        let Some(reference) = site.word(Word::Ref) else { continue };
        if view.tree.referred(id).is_none() {
            let shown = shorten(reference.raw(), 100).into_owned();
            faults.add(reference, format!("{shown} refers to nothing in this schema"));
        }
    }
}
