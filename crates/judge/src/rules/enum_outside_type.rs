//! Listed values of another type.

use mcprove_model::{Severity, shorten};

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::{Json, JsonKind};

pub(super) const RULE: Rule = Rule {
    id: "VAL-010",
    name: "enum-outside-type",
    summary: "enum or const has a value that type excludes",
    severity: Severity::Error,
    why: "A value that `enum` lists and `type` excludes is offered to the model and rejected by the server.",
    help: "correct the type or the value",
    bad: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {"count": {"type": "integer", "enum": [1, "2"]}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {"count": {"type": "integer", "enum": [1, 2]}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, site) in view.tree.sites() {
        let Some(kind) = site.word(Word::Type) else { continue };
        let listed = site.word(Word::Enum).into_iter().flat_map(Json::items).chain(site.word(Word::Const));
        for value in listed.filter(|value| !type_names(*value).iter().any(|name| site.allows_type(name))) {
            let (noun, shown) = (view.tree.noun(id), shorten(value.raw(), 60).into_owned());
            faults.add(value, format!("{noun} lists {shown}, which is not of its type {}", kind.raw()));
        }
    }
}

/// The types a value has.
fn type_names(value: Json<'_>) -> &'static [&'static str] {
    match value.kind() {
        JsonKind::Null => &["null"],
        JsonKind::True | JsonKind::False => &["boolean"],
        // A number with a zero fraction is an integer, and telling them apart in text is not worth a false finding.
        JsonKind::Number if value.raw().contains(['.', 'e', 'E']) && !value.raw().ends_with(".0") => &["number"],
        JsonKind::Number => &["number", "integer"],
        JsonKind::Text | JsonKind::EscapedText => &["string"],
        JsonKind::List => &["array"],
        JsonKind::Map => &["object"],
    }
}
