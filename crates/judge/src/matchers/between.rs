//! `between`: a number between two others, both included.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};

use super::bounds::number;

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "between",
    summary: "The value is a number between these two, both included.",
    decode,
    schema: || json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}),
    examples: &[holds("[1, 3]", "1"), fails("[1, 3]", "3.5"), fails("[1, 3]", r#""2""#)],
};

#[derive(Debug)]
struct Between {
    low: f64,
    high: f64,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    let [low, high] = node.as_list().unwrap_or_default() else {
        found.wrong_kind(node, "`between`", "a list of two numbers");
        return None;
    };
    let (low, high) = (number(low, "the lower bound", found)?, number(high, "the upper bound", found)?);
    if low > high {
        let message = format!("`between` can never hold: {low} is more than {high}");
        found.error_with_help("never-holds", node.span, message, "write the smaller number first");
        return None;
    }
    Some(Arc::new(Between { low, high }))
}

impl Matcher for Between {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let Self { low, high } = self;
        match value.as_f64() {
            Some(number) if (*low..=*high).contains(&number) => Ok(()),
            Some(_) => Err(mismatch("is out of bounds", format!("a number from {low} to {high}"), value)),
            None => Err(mismatch("is not a number", format!("a number from {low} to {high}"), value)),
        }
    }
}
