//! `oneOf`: exactly one of several matchers holds.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, decode_matchers, fails, holds, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "oneOf",
    summary: "Exactly one of these matchers holds.",
    decode,
    schema: || json!({"type": "array", "minItems": 1, "items": {"type": "object"}}),
    examples: &[
        holds(r#"[{"exact": 1}, {"gt": 5}]"#, "1"),
        fails(r#"[{"gt": 1}, {"gt": 5}]"#, "9"),
        fails(r#"[{"gt": 1}, {"gt": 5}]"#, "0"),
    ],
};

#[derive(Debug)]
struct OneOf(Vec<Arc<dyn Matcher>>);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(OneOf(decode_matchers(node, "`oneOf`", found)?)))
}

impl Matcher for OneOf {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        match self.0.iter().filter(|matcher| matcher.judge(value).is_ok()).count() {
            1 => Ok(()),
            count => Err(mismatch(
                format!("matches {count} of several matchers, not exactly one"),
                "exactly one match",
                value,
            )),
        }
    }
}
