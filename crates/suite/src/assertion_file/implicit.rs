//! `implicit`: built-in checks of the shape of replies; `off` accepts what official clients refuse.

use mcprove_model::{Diagnostics, Node};
use serde_json::{Value, json};

/// True if a document turns implicit checks off.
pub(crate) fn is_off(document: &Node, found: &mut Diagnostics<'_>) -> bool {
    let Some(node) = document.get("implicit").filter(|node| !node.is_null()) else { return false };
    match (node.as_bool(), node.as_text()) {
        (Some(on), _) => !on,
        (None, Some("on")) => false,
        (None, Some("off")) => true,
        (None, _) => {
            found.wrong_kind(node, "`implicit`", "on or off");
            false
        }
    }
}

/// The JSON Schema of `implicit`.
pub(crate) fn schema() -> Value {
    json!({
        "enum": ["on", "off", true, false, null],
        "description": "Checks that need not be written, of the shape of replies; `off` accepts replies that official \
                        clients refuse.",
    })
}
