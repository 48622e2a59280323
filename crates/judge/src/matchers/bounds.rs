//! Numbers that are above or below others.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::Value;

use super::{Decoded, Matcher, mismatch};

/// Kind of comparison of a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    Above,
    AtLeast,
    Below,
    AtMost,
}

#[derive(Debug)]
struct Bounded {
    bound: Bound,
    limit: f64,
}

pub(super) fn decode_bound(node: &Node, bound: Bound, what: &str, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(Bounded { bound, limit: number(node, what, found)? }))
}

/// A number as an author wrote it.
pub(super) fn number(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<f64> {
    let number = node.as_number().and_then(serde_json::Number::as_f64);
    if number.is_none() {
        found.wrong_kind(node, what, "a number");
    }
    number
}

impl Matcher for Bounded {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let limit = self.limit;
        let (holds, words): (fn(f64, f64) -> bool, _) = match self.bound {
            Bound::Above => (|a, b| a > b, "a number above"),
            Bound::AtLeast => (|a, b| a >= b, "a number of at least"),
            Bound::Below => (|a, b| a < b, "a number below"),
            Bound::AtMost => (|a, b| a <= b, "a number of at most"),
        };
        match value.as_f64() {
            Some(number) if holds(number, limit) => Ok(()),
            Some(number) => {
                Err(mismatch(format!("is {number}, not {words} {limit}"), format!("{words} {limit}"), value))
            }
            None => Err(mismatch("is not a number", format!("{words} {limit}"), value)),
        }
    }
}
