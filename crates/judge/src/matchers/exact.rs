//! `exact`: the same value.

use std::sync::Arc;

use mcprove_model::Mismatch;
use serde_json::{Value, json};

use super::difference::only_difference;
use super::{Matcher, MatcherKind, Missing, fails, holds, shown};
use crate::diff::{self, Sides};
use crate::json_equality::{JsonEquality, compare};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "exact",
    summary: "The value is the same: numbers as numbers, keys in any order.",
    decode: |node, _| Some(Arc::new(Exact(node.to_json()))),
    schema: || json!({}),
    examples: &[holds(r#"{"a": 1, "b": [1.0]}"#, r#"{"b": [1], "a": 1}"#), fails("1", r#""1""#), fails("null", "0")],
};

#[derive(Debug)]
struct Exact(Value);

const SIDES: Sides = Sides { old: "expected", new: "actual" };

impl Matcher for Exact {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        if compare(&self.0, value) == JsonEquality::Same {
            return Ok(());
        }
        let difference = only_difference(&self.0, value, String::new());
        let mut mismatch = difference.mismatch();
        if difference.place.is_empty() {
            "is not the expected value".clone_into(&mut mismatch.message);
        }
        if matches!(value, Value::Array(_) | Value::Object(_)) || shown(value).contains('\n') {
            let pretty = |value: &Value| match value {
                Value::String(text) => text.clone(),
                other => serde_json::to_string_pretty(other).unwrap_or_default(),
            };
            mismatch.diff = Some(diff::unified(SIDES, &pretty(&self.0), &pretty(value)));
        }
        Err(mismatch)
    }

    fn accepts_missing(&self, missing: Missing) -> bool {
        missing == Missing::NoneOfSeveral && self.0 == json!([])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_difference_is_shown_at_its_place() {
        let told = |expected: Value, actual: Value| {
            let mismatch = Exact(expected).judge(&actual).expect_err("another value");
            (mismatch.message, mismatch.expected, mismatch.actual)
        };
        let of = |message: &str, expected: &str, actual: &str| (message.into(), expected.into(), actual.into());
        let expected = json!({"a": [{"n": 1}, {"n": 2}], "b": 1});
        assert_eq!(
            told(expected.clone(), json!({"a": [{"n": 1}, {"n": 3}], "b": 1})),
            of("differs at `/a/1/n`", "2", "3")
        );
        assert_eq!(told(expected.clone(), json!({"a": [{"n": 1}], "b": 1})), {
            of("differs at `/a`", r#"[{"n":1},{"n":2}]"#, r#"[{"n":1}]"#)
        });
        let (message, ..) = told(expected, json!({"a": [], "b": 2}));
        assert_eq!(message, "is not the expected value");
    }

    #[test]
    fn texts_are_quoted_beside_what_is_no_text() {
        let told = |expected: Value, actual: Value| {
            let mismatch = Exact(expected).judge(&actual).expect_err("another value");
            (mismatch.expected, mismatch.actual)
        };
        assert_eq!(told(json!("1"), json!(1)), ("\"1\"".to_owned(), "1".to_owned()));
        assert_eq!(told(json!(true), json!("true")), ("true".to_owned(), "\"true\"".to_owned()));
        assert_eq!(told(json!("a"), json!("b")), ("a".to_owned(), "b".to_owned()));
    }
}
