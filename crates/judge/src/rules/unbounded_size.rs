//! Strings and lists of any size.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::{Role, SchemaTree, Site, Size};
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::Json;

pub(super) const RULE: Rule = Rule {
    id: "SCH-004",
    name: "unbounded-size",
    summary: "a string has no maxLength, or an array no maxItems",
    severity: Severity::Warning,
    why: "Nothing bounds the size of the input, so one call can carry megabytes into the server. A string with an \
          `enum`, a `const`, or a `format` or anchored `pattern` that bounds its length is fine as it is, and so is an \
          array that is closed or holds different values of an enumeration.",
    help: "add `maxLength` to a string, `maxItems` to an array",
    bad: Example::Tool(
        r#"{"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"], "additionalProperties": false}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "maxLength": 200}}, "required": ["query"], "additionalProperties": false}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let tree = view.tree;
    for (id, site) in tree.sites() {
        if site.condition || is_refinement(tree, site) {
            continue;
        }
        for (kind, size, word) in [("string", Size::Text, "maxLength"), ("array", Size::List, "maxItems")] {
            if site.allows_type(kind) && !tree.is_bounded(id, size) {
                let noun = tree.noun(id);
                faults.add(site.json, format!("{kind} {noun} has no `{word}`, so input size is unbounded"));
            }
        }
    }
}

/// True if the object declares the same property outside too, where it is judged.
fn is_refinement(tree: &SchemaTree<'_>, site: &Site<'_>) -> bool {
    let (Some(object), Role::Property) = (site.owner, site.role) else { return false };
    let Some(name) = site.json.key().and_then(Json::as_text) else { return false };
    tree.same_value_owners(object).any(|owner| tree.site(owner).declares(&name))
}
