//! Defaults that the schema does not accept.

use mcprove_model::Severity;
use serde_json::Value;

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};
use crate::schema;

pub(super) const RULE: Rule = Rule {
    id: "VAL-007",
    name: "invalid-default",
    summary: "a default value violates its own schema",
    severity: Severity::Error,
    why: "Models and hosts fill in the default, and the server then rejects what it proposed itself.",
    help: "correct the default, or let the schema accept it",
    bad: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {"count": {"type": "integer", "default": "4"}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {"count": {"type": "integer", "default": 4}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let mut whole = None;
    for (id, site) in view.tree.sites() {
        let Some(default) = site.word(Word::Default).filter(|_| !site.condition) else { continue };
        let value = default.to_value();
        // References are resolved from the root, so a schema that has some is judged within the whole.
        let errors = if view.tree.refers(id) {
            let (_, root) = view.tree.sites().next().unwrap_or((id, site));
            let whole = whole.get_or_insert_with(|| root.json.to_value());
            schema::errors_at(whole, &root.json.pointer_to(site.json), &value)
        } else {
            schema::errors(&within_dialect(view, site.json.to_value()), &value)
        };
        if let Some(error) = errors.unwrap_or_default().first() {
            faults.add(default, format!("the default of {} is not valid: {error}", view.tree.noun(id)));
        }
    }
}

/// A part of a schema in the dialect of the whole.
fn within_dialect(view: &ToolView<'_, '_>, mut part: Value) -> Value {
    let dialect = view.tree.sites().next().and_then(|(_, root)| root.json.get("$schema"));
    if let (Some(dialect), Some(map)) = (dialect, part.as_object_mut()) {
        map.insert("$schema".to_owned(), dialect.to_value());
    }
    part
}
