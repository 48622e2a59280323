//! `length`: how long a text, a list or an object is.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, Missing, decode_matcher, fails, holds, inner_schema, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "length",
    summary: "The text, list or object has this length: a number, or a matcher of it.",
    decode,
    schema: || json!({"anyOf": [{"type": "integer", "minimum": 0}, inner_schema()]}),
    examples: &[
        holds("3", "[1, 2, 3]"),
        fails("2", r#""abc""#),
        holds(r#"{"gte": 2}"#, r#"{"a": 1, "b": 2}"#),
        fails("1", "5"),
    ],
};

#[derive(Debug)]
struct Length(LengthRule);

#[derive(Debug)]
enum LengthRule {
    Exactly(u64),
    Matching(Arc<dyn Matcher>),
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    let wanted = if node.as_map().is_some() {
        LengthRule::Matching(decode_matcher(node, found)?)
    } else {
        LengthRule::Exactly(found.count_of(node, "`length`")?)
    };
    Some(Arc::new(Length(wanted)))
}

impl Matcher for Length {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let length = match value {
            Value::String(text) => text.chars().count(),
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                return Err(mismatch("has no length", "a text, a list or an object", value));
            }
        };
        match &self.0 {
            LengthRule::Exactly(wanted) if *wanted == length as u64 => Ok(()),
            LengthRule::Exactly(wanted) => {
                Err(mismatch(format!("has the length {length}"), format!("the length {wanted}"), value))
            }
            LengthRule::Matching(matcher) => matcher.judge(&json!(length)).map_err(|inner| {
                mismatch(format!("has the length {length}"), format!("as its length {}", inner.expected), value)
            }),
        }
    }

    fn accepts_missing(&self, missing: Missing) -> bool {
        missing == Missing::NoneOfSeveral && self.judge(&json!([])).is_ok()
    }
}
