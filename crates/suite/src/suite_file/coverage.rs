//! `coverage`: how much of a server tests must reach.

use mcprove_model::{Coverage, Diagnostics, Node};
use serde_json::{Value, json};

use crate::field::{self, Field};

const FIELDS: &[Field] = &[
    Field::optional("args", || share_schema("Of the arguments of its tools.")),
    Field::optional("error_paths", || share_schema("Of its tools, by a call that is answered with an error.")),
    Field::optional("tools", || share_schema("Of its tools.")),
    Field::optional("transports", || share_schema("Of the transports.")),
];

/// Decodes `coverage`.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Coverage {
    found.known_keys(node, "`coverage`", &field::keys(FIELDS));
    let mut share = |key: &str| {
        let value = node.get(key).filter(|value| !value.is_null())?;
        let share = value.as_number().and_then(serde_json::Number::as_f64).filter(|s| (0.0..=100.0).contains(s));
        if share.is_none() {
            found.wrong_kind(value, &format!("`{key}`"), "a number from 0 to 100");
        }
        share
    };
    Coverage {
        tools: share("tools"),
        args: share("args"),
        error_paths: share("error_paths"),
        transports: share("transports"),
    }
}

/// The JSON Schema of `coverage`.
pub(super) fn schema() -> Value {
    field::map("Required coverage of a server, in percent.", FIELDS)
}

fn share_schema(what: &str) -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 100, "description": what})
}
