//! `contains-any`: the text or list contains at least one of these.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, items, mismatch, shown};

use super::contains::holds_part;

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "contains-any",
    summary: "The text or list contains at least one of these.",
    decode,
    schema: || json!({"type": "array", "minItems": 1}),
    examples: &[holds(r#"["x", "b"]"#, r#""abc""#), fails(r#"["x", "y"]"#, r#""abc""#), holds("[7, 2]", "[2]")],
};

#[derive(Debug)]
struct ContainsAny(Vec<Value>);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    let parts = items(node, "`contains-any`", found)?.iter().map(Node::to_json).collect();
    Some(Arc::new(ContainsAny(parts)))
}

impl Matcher for ContainsAny {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        if self.0.iter().any(|part| holds_part(value, part)) {
            return Ok(());
        }
        let wanted: Vec<String> = self.0.iter().map(shown).collect();
        Err(mismatch("contains none of several", wanted.join(", or "), value))
    }
}
