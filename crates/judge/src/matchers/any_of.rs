//! `anyOf`: at least one of several matchers holds.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node, Snapshot, StoredValues};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, decode_matchers, fails, holds, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "anyOf",
    summary: "At least one of these matchers holds.",
    decode,
    schema: || json!({"type": "array", "minItems": 1, "items": {"type": "object"}}),
    examples: &[holds(r#"[{"exact": 1}, {"exact": 2}]"#, "2"), fails(r#"[{"exact": 1}, {"exact": 2}]"#, "3")],
};

#[derive(Debug)]
struct AnyOf(Vec<Arc<dyn Matcher>>);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(AnyOf(decode_matchers(node, "`anyOf`", found)?)))
}

impl Matcher for AnyOf {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        self.judge_with(value, &StoredValues::default())
    }

    fn judge_with(&self, value: &Value, stored: &StoredValues) -> Result<(), Mismatch> {
        let mut missed = Vec::new();
        for matcher in &self.0 {
            match matcher.judge_with(value, stored) {
                Ok(()) => return Ok(()),
                Err(mismatch) => missed.push(mismatch.expected),
            }
        }
        Err(mismatch("matches none of several matchers", missed.join(", or "), value))
    }
    fn wants_stored(&self) -> bool {
        self.0.iter().any(|matcher| matcher.wants_stored())
    }

    fn to_store(&self, value: &Value, stored: &StoredValues) -> Vec<Snapshot> {
        self.0.iter().flat_map(|matcher| matcher.to_store(value, stored)).collect()
    }
}
