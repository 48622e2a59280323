//! `exact`: the same value.

use std::sync::Arc;

use mcprove_model::Mismatch;
use serde_json::{Value, json};

use super::{Matcher, MatcherKind, Missing, fails, holds, mismatch, shown};
use crate::diff::{self, Sides};
use crate::excerpt;
use crate::sameness::{Sameness, compare};

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
        if compare(&self.0, value) == Sameness::Same {
            return Ok(());
        }
        let mut mismatch = mismatch("is not the expected value", shown(&self.0), value);
        if self.0.is_string() != value.is_string() {
            // `"1"` and 1, or a text that looks like an object, would look the same without the quotes.
            mismatch.expected = self.0.to_string();
            mismatch.actual = excerpt::around(&value.to_string(), 0..0);
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
