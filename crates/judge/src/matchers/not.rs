//! `not`: a matcher does not hold.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node, StoredValues};
use serde_json::Value;

use super::{Decoded, Matcher, MatcherKind, Missing, decode_inner, fails, holds, inner_schema, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "not",
    summary: "This matcher does not hold; a target that leads nowhere is fine, unless the matcher accepts that.",
    decode,
    schema: inner_schema,
    examples: &[holds(r#"{"contains": "x"}"#, r#""abc""#), fails(r#"{"contains": "b"}"#, r#""abc""#)],
};

#[derive(Debug)]
struct Not {
    inner: Arc<dyn Matcher>,
    written: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(Not { inner: decode_inner(node, found)?, written: node.to_json().to_string() }))
}

/// The opposite of a matcher, as `not-NAME` writes it.
pub(super) fn of(inner: Arc<dyn Matcher>, name: &str, given: &Node) -> Arc<dyn Matcher> {
    Arc::new(Not { inner, written: format!("{{\"{name}\":{}}}", given.to_json()) })
}

impl Matcher for Not {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        self.judge_with(value, &StoredValues::default())
    }

    fn judge_with(&self, value: &Value, stored: &StoredValues) -> Result<(), Mismatch> {
        match self.inner.judge_with(value, stored) {
            Err(_) => self.inner.unjudged(value, stored).map_or(Ok(()), Err),
            Ok(()) => Err(mismatch("matches what it must not", format!("not {}", self.written), value)),
        }
    }

    fn unjudged(&self, value: &Value, stored: &StoredValues) -> Option<Mismatch> {
        self.inner.unjudged(value, stored)
    }

    fn wants_stored(&self) -> bool {
        self.inner.wants_stored()
    }

    fn accepts_missing(&self, missing: Missing) -> bool {
        !self.inner.accepts_missing(missing)
    }
}
