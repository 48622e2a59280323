//! `coverage`: how much of a server tests must reach.

use mcprove_model::{Coverage, Diagnostics, Node};
use serde_json::{Value, json};

use crate::schema::fragment;

const KEYS: &[&str] = &["args", "error_paths", "tools", "transports"];

/// Decodes `coverage`.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Coverage {
    found.known_keys(node, "`coverage`", KEYS);
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
    let share = |what: &str| json!({"type": "number", "minimum": 0, "maximum": 100, "description": what});
    let properties = json!({
        "args": share("Of the arguments of its tools."),
        "error_paths": share("Of its tools, by a call that is answered with an error."),
        "tools": share("Of its tools."),
        "transports": share("Of the transports."),
    });
    fragment::map("Required coverage of a server, in percent.", properties, &[])
}
