//! `allOf`: every one of several matchers holds.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node, Snapshot, StoredValues};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, decode_matchers, fails, holds, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "allOf",
    summary: "Every one of these matchers holds.",
    decode,
    schema: || json!({"type": "array", "minItems": 1, "items": {"type": "object"}}),
    examples: &[holds(r#"[{"gt": 1}, {"lt": 5}]"#, "3"), fails(r#"[{"gt": 1}, {"lt": 5}]"#, "7")],
};

#[derive(Debug)]
struct AllOf(Vec<Arc<dyn Matcher>>);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(AllOf(decode_matchers(node, "`allOf`", found)?)))
}

impl Matcher for AllOf {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        self.judge_with(value, &StoredValues::default())
    }

    fn judge_with(&self, value: &Value, stored: &StoredValues) -> Result<(), Mismatch> {
        match self.0.iter().find_map(|matcher| matcher.judge_with(value, stored).err()) {
            None => Ok(()),
            Some(first) => Err(mismatch(format!("does not match all: it {}", first.message), first.expected, value)),
        }
    }
    fn wants_stored(&self) -> bool {
        self.0.iter().any(|matcher| matcher.wants_stored())
    }

    fn to_store(&self, value: &Value, stored: &StoredValues) -> Vec<Snapshot> {
        self.0.iter().flat_map(|matcher| matcher.to_store(value, stored)).collect()
    }
}
