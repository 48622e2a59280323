//! Objects that accept undeclared fields.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::{Close, Site, Word, open_objects};
use crate::lint::{RuleFaults, ToolView};
use crate::tighten::FixStep;

pub(super) const RULE: Rule = Rule {
    id: "SCH-002",
    name: "open-object",
    summary: "an object accepts undeclared properties",
    severity: Severity::Warning,
    why: "Where `additionalProperties` is not false, unexpected fields are accepted silently: a misspelt argument is \
          ignored instead of rejected, and the model never learns of it. An object meant as a map says so by \
          `additionalProperties: {…}` with the schema of its values, or by `true` without any `properties`.",
    help: "add `additionalProperties: false`, or the schema of the values if it is a map",
    bad: Example::Tool(
        r#"{"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "maxLength": 200}}, "required": ["query"]}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "maxLength": 200}}, "required": ["query"], "additionalProperties": false}}"#,
    ),
    fix: Some(FixStep::Close),
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, close) in open_objects(view.tree) {
        let site = view.tree.site(id);
        match close {
            Close::Additional => {
                faults
                    .add(site.json, "`additionalProperties` is not false, so unexpected fields are accepted silently");
            }
            Close::Unevaluated => {
                let message = "neither `additionalProperties` nor `unevaluatedProperties` is false, so unexpected \
                               fields are accepted silently";
                let help = "add `unevaluatedProperties: false` here; `additionalProperties: false` would reject what the \
                            combined schemas declare";
                faults.add(site.json, message).help(help);
            }
            Close::Author => {
                let (message, help) = by_author(site);
                faults.add(site.json, message).help(help).by_hand();
            }
        }
    }
}

fn by_author(site: &Site<'_>) -> (&'static str, &'static str) {
    if site.declares_properties() || site.has(Word::Ref) || site.has(Word::AllOf) {
        (
            "the object is not closed, so unexpected fields are accepted silently",
            "close it by hand: it is combined with other schemas in a way that a mechanical fix could break",
        )
    } else {
        (
            "the object says nothing about its fields, so anything is accepted in it",
            "declare its `properties`, or `additionalProperties: {…}` with the schema of the values if it is a map",
        )
    }
}
