//! Arguments that may be anything.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::{Role, SchemaTree, Site};
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::Json;

pub(super) const RULE: Rule = Rule {
    id: "SCH-003",
    name: "any-value",
    summary: "a property declares neither type nor enum, so any value is accepted",
    severity: Severity::Critical,
    why: "A value without a type reaches the server as whatever the model sent: a string where a number was meant, an \
          object where a list was. Most type-validation faults of real servers begin here. A `$ref`, a `const`, an \
          `enum`, or combined schemas that each say a type are enough.",
    help: "declare its `type`, or the values it may have in `enum`",
    bad: Example::Tool(
        r#"{"name": "wait", "inputSchema": {"type": "object", "properties": {"seconds": {"minimum": 0}}, "required": ["seconds"], "additionalProperties": false}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "wait", "inputSchema": {"type": "object", "properties": {"seconds": {"type": "number", "minimum": 0}}, "required": ["seconds"], "additionalProperties": false}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let tree = view.tree;
    for (id, site) in tree.sites() {
        if is_argument(site) && tree.accepts_anything(id) && !said_elsewhere(tree, site) {
            let message = format!("{} declares neither `type` nor `enum`, so any value is accepted", tree.noun(id));
            faults.add(site.json, message);
        }
    }
}

/// True if the author of a schema chose the type at this place; the values of a map may be anything on purpose, and a
/// definition matters only where it is referred to.
fn is_argument(site: &Site<'_>) -> bool {
    match site.role {
        Role::Property | Role::PatternProperty | Role::Item | Role::TupleItem => !site.condition,
        Role::Root
        | Role::MapValue
        | Role::Definition
        | Role::AllOf
        | Role::AnyOf
        | Role::Conditional
        | Role::Condition => false,
    }
}

/// True if another schema of the same object says what the property is.
fn said_elsewhere(tree: &SchemaTree<'_>, site: &Site<'_>) -> bool {
    let (Some(object), Role::Property) = (site.owner, site.role) else { return false };
    let name = site.json.key().and_then(Json::as_text);
    name.is_some_and(|name| tree.is_constrained(object, &name))
}
