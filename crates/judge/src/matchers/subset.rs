//! `subset`: an object has at least these members.

use std::sync::Arc;

use mcprove_model::Mismatch;
use serde_json::{Value, json};

use super::{Matcher, MatcherKind, fails, holds, mismatch, shown};
use crate::sameness::{Sameness, compare};

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
            Some(place) if place.is_empty() => Err(mismatch("is not as expected", shown(&self.0), value)),
            Some(place) => Err(mismatch(format!("differs at `{place}`"), shown(&self.0), value)),
        }
    }
}

/// Where a value lacks something of `part`.
fn lacking(whole: &Value, part: &Value, place: String) -> Option<String> {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part.iter().find_map(|(key, part)| {
            let place = format!("{place}/{key}");
            match whole.get(key) {
                Some(value) => lacking(value, part, place),
                None => Some(place),
            }
        }),
        (whole, part) => (compare(whole, part) != Sameness::Same).then_some(place),
    }
}
