//! `turns: {simulate: …}`: a user that a language model plays, or a script.

use mcprove_model::{Diagnostics, Node, SimulatedUser};
use serde_json::{Value, json};

use super::budget::count;
use crate::assertion_file::block;
use crate::assertion_file::templates::Scope;
use crate::field::{self, Field};
use crate::schema::fragment;

/// The key under `turns`.
pub(super) const KEY: &str = "simulate";

const FIELDS: &[Field] = &[
    Field::required("goal", || fragment::text("What the user wants.")),
    Field::optional("max_turns", || fragment::count("Maximum number of user messages; 6 when left out.", 1)),
    Field::optional("persona", || fragment::text("The persona of the user.")),
    Field::optional("script", || fragment::texts("The user's messages, in place of the model.")),
];

/// Default number of user turns.
const MAX_TURNS: u64 = 6;

/// Decodes the block; the lines of a scripted user are added to the turns.
pub(super) fn decode(
    test: &Node,
    turns: &mut Vec<Node>,
    scope: &Scope,
    found: &mut Diagnostics<'_>,
) -> Option<SimulatedUser> {
    let all = test.get("turns").filter(|turns| turns.as_map().is_some())?;
    found.known_keys(all, "`turns`", &[KEY]);
    let node = all.get(KEY)?;
    field::entries(node, "`simulate`", FIELDS, found)?;
    scope.check(node, found);
    let goal = block::named(node, "goal", node.span, found)?;
    let persona = node.get("persona").filter(|persona| !persona.is_null()).cloned();
    let max_turns = count(node, "max_turns", 1, found).unwrap_or(MAX_TURNS);
    if let Some(script) = node.get("script").filter(|script| !script.is_null()) {
        let lines =
            found.list(script, "`script` of `simulate`").iter().take(usize::try_from(max_turns).unwrap_or(usize::MAX));
        turns.extend(lines.cloned());
        return None;
    }
    if test.get("model").and_then(Node::as_text) == Some("script") {
        let message = "`simulate` has no user: the model of this agent is a script";
        found.error_with_help(
            "missing-key",
            node.span,
            message,
            "add `script:` to `simulate`, what the user says in turn",
        );
        return None;
    }
    Some(SimulatedUser { goal, persona, max_turns })
}

/// The JSON Schema of the block.
pub(super) fn schema() -> Value {
    let user = field::map("A user that the model plays until it is content, or that a script plays.", FIELDS);
    fragment::map("A user who is played.", json!({KEY: user}), &[KEY])
}
