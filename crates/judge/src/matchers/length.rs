//! `length`: how long a text, a list or an object is.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node, StoredValues};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, Missing, decode_matcher, fails, holds, inner_schema, mismatch, shown};
use crate::excerpt;

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

/// The length of a value that has one.
fn length_of(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(members) => Some(members.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

impl Matcher for Length {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let Some(length) = length_of(value) else {
            return Err(mismatch("has no length", "a text, a list or an object", value));
        };
        match &self.0 {
            LengthRule::Exactly(wanted) if *wanted == length as u64 => Ok(()),
            LengthRule::Exactly(wanted) => Err(Mismatch {
                message: format!("has the length {length}, not {wanted}"),
                expected: format!("the length {wanted}"),
                actual: around_the_end(value, length, *wanted),
                ..Mismatch::default()
            }),
            LengthRule::Matching(matcher) => matcher.judge(&json!(length)).map_err(|inner| Mismatch {
                message: format!("has the length {length}"),
                expected: format!("as its length {}", inner.expected),
                actual: around_the_end(value, length, 0),
                ..Mismatch::default()
            }),
        }
    }

    fn unjudged(&self, value: &Value, stored: &StoredValues) -> Option<Mismatch> {
        match &self.0 {
            LengthRule::Exactly(_) => None,
            LengthRule::Matching(matcher) => matcher.unjudged(&json!(length_of(value)?), stored),
        }
    }

    fn accepts_missing(&self, missing: Missing) -> bool {
        missing == Missing::NoneOfSeveral && self.judge(&json!([])).is_ok()
    }
}

/// The length, and the value from the place on where it is longer than wanted; from its beginning where it is not.
fn around_the_end(value: &Value, length: usize, wanted: u64) -> String {
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    let (place, rest) = match value {
        Value::Array(items) if wanted < length && wanted > 0 => (wanted.to_string(), shown(&items[wanted])),
        Value::String(text) if wanted < length && wanted > 0 => {
            (wanted.to_string(), text.chars().skip(wanted).take(excerpt::LIMIT).collect())
        }
        _ => (String::new(), shown(value)),
    };
    let rest = excerpt::around(&rest, 0..0);
    match place.as_str() {
        "" => format!("the length {length}: {rest}"),
        place => format!("the length {length}, from {place} on: {rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_shown() {
        let list = json!((0..500).map(|id| json!({"id": id})).collect::<Vec<_>>());
        let mismatch = Length(LengthRule::Exactly(499)).judge(&list).expect_err("one too many");
        assert_eq!(mismatch.message, "has the length 500, not 499");
        assert_eq!(mismatch.expected, "the length 499");
        assert_eq!(mismatch.actual, r#"the length 500, from 499 on: {"id":499}"#);
        let mismatch = Length(LengthRule::Exactly(3)).judge(&json!(["a"])).expect_err("too few");
        assert_eq!(mismatch.actual, r#"the length 1: ["a"]"#);
    }
}
