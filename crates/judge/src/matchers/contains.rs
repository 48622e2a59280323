//! `contains`: a part of a text, an object or a list.

use std::sync::Arc;

use mcprove_model::{Mismatch, some_of};
use serde_json::{Value, json};

use super::subset::lacking;
use super::{Matcher, MatcherKind, fails, holds, mismatch, shown};
use crate::excerpt;
use crate::json_equality::{JsonEquality, compare};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "contains",
    summary: "A text contains this text, an object these members, a list these items; a number or a boolean is this.",
    decode: |node, _| Some(Arc::new(Contains(node.to_json()))),
    schema: || json!({}),
    examples: &[
        holds(r#""b""#, r#""abc""#),
        fails(r#""B""#, r#""abc""#),
        holds(r#"{"a": {"x": 1}}"#, r#"{"a": {"x": 1, "y": 2}, "b": 0}"#),
        fails(r#"{"a": 2}"#, r#"{"a": 1}"#),
        holds("[1, 1]", "[1, 2, 1]"),
        fails("[1, 1]", "[1, 2]"),
        holds(r#""x""#, r#"["x", "y"]"#),
        fails("3", "4"),
    ],
};

#[derive(Debug)]
struct Contains(Value);

impl Matcher for Contains {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        if holds_part(value, &self.0) { Ok(()) } else { Err(self.mismatch(value)) }
    }
}

impl Contains {
    /// The missing part: the member with its place, or the items.
    fn mismatch(&self, value: &Value) -> Mismatch {
        match (value, &self.0) {
            (Value::Object(_), Value::Object(_)) => match lacking(value, &self.0, String::new()) {
                Some(difference) => difference.mismatch(),
                None => mismatch("does not contain what it must", shown(&self.0), value),
            },
            (Value::Array(_), Value::Array(parts)) => {
                let missing: Vec<String> = parts
                    .iter()
                    .filter(|part| !holds_part(value, &json!([part])))
                    .map(|part| excerpt::quoted(&part.to_string()))
                    .collect();
                let message = match missing.as_slice() {
                    [] => "does not contain every item as often as it must".to_owned(),
                    _ => format!("does not contain {}", some_of(missing.iter(), 5)),
                };
                mismatch(message, shown(&self.0), value)
            }
            _ => mismatch("does not contain what it must", shown(&self.0), value),
        }
    }
}

/// True if a value holds a part: substring, sub-object, or items (each as often as it is asked for).
pub(super) fn holds_part(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => whole.contains(part.as_str()),
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|value| holds_member(value, part)))
        }
        (Value::Array(items), Value::Array(parts)) => {
            let mut left: Vec<&Value> = items.iter().collect();
            parts.iter().all(|part| match left.iter().position(|item| compare(item, part) == JsonEquality::Same) {
                Some(at) => {
                    left.swap_remove(at);
                    true
                }
                None => false,
            })
        }
        (Value::Array(items), part) => items.iter().any(|item| compare(item, part) == JsonEquality::Same),
        (whole, part) => compare(whole, part) == JsonEquality::Same,
    }
}

/// Members of objects are compared deeply; only objects may have more than is asked for.
fn holds_member(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(_), Value::Object(_)) => holds_part(whole, part),
        (whole, part) => compare(whole, part) == JsonEquality::Same,
    }
}
