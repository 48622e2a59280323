//! Matchers that look at a text.

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::Value;

use super::mismatch;

/// The text an author wrote.
pub(super) fn wanted(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<String> {
    found.text(node, what).map(str::to_owned)
}

/// Judges a text by a predicate; anything but a text does not match.
pub(super) fn judge(value: &Value, expected: &str, holds: impl Fn(&str) -> bool) -> Result<(), Mismatch> {
    match value {
        Value::String(text) if holds(text) => Ok(()),
        Value::String(_) => Err(mismatch("is another text", expected, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(mismatch("is not a text", expected, value))
        }
    }
}
