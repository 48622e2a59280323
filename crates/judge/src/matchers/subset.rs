//! `subset`: an object has at least these members.

use std::sync::Arc;

use mcprove_model::Mismatch;
use serde_json::{Value, json};

use super::difference::{Difference, only_difference};
use super::{Matcher, MatcherKind, fails, holds};
use crate::json_equality::{JsonEquality, compare};
use crate::json_pointer::escaped;

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "subset",
    summary: "The object has at least these members, however deep; everything else is the same.",
    decode: |node, _| Some(Arc::new(Subset(node.to_json()))),
    schema: || json!({}),
    examples: &[
        holds(r#"{"a": {"x": 1}}"#, r#"{"a": {"x": 1, "y": 2}}"#),
        fails(r#"{"a": [1]}"#, r#"{"a": [1, 2]}"#),
        fails(r#"{"b": 1}"#, r#"{"a": 1}"#),
    ],
};

#[derive(Debug)]
struct Subset(Value);

impl Matcher for Subset {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        match lacking(value, &self.0, String::new()) {
            None => Ok(()),
            Some(difference) => Err(difference.mismatch()),
        }
    }
}

/// Where a value lacks something of `part`.
pub(super) fn lacking<'v>(whole: &'v Value, part: &'v Value, place: String) -> Option<Difference<'v>> {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part.iter().find_map(|(key, part)| {
            let place = format!("{place}/{}", escaped(key));
            match whole.get(key) {
                Some(value) => lacking(value, part, place),
                None => Some(Difference { place, expected: part, actual: None }),
            }
        }),
        (whole, part) => (compare(whole, part) != JsonEquality::Same).then(|| only_difference(part, whole, place)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_values_at_the_place_are_shown() {
        let seen = json!({"name": "a", "order": {"total": 7, "items": [1, 2, 3]}});
        let told = |part: Value| {
            let mismatch = Subset(part).judge(&seen).expect_err("another value");
            (mismatch.message, mismatch.expected, mismatch.actual)
        };
        let of =
            |message: &str, expected: &str, actual: &str| (message.to_owned(), expected.to_owned(), actual.to_owned());
        assert_eq!(told(json!({"order": {"total": 8}})), of("differs at `/order/total`", "8", "7"));
        assert_eq!(told(json!({"order": {"total": "7"}})), of("differs at `/order/total`", "\"7\"", "7"));
        assert_eq!(told(json!({"order": {"items": [1, 5, 3]}})), of("differs at `/order/items/1`", "5", "2"));
        assert_eq!(told(json!({"a/b": 1})), of("differs at `/a~1b`, which is missing", "1", "nothing"));
    }
}
