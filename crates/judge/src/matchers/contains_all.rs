//! `contains-all`: the text or list contains every one of these.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, items, mismatch, shown};

use super::contains::holds_part;

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "contains-all",
    summary: "The text or list contains every one of these.",
    decode,
    schema: || json!({"type": "array", "minItems": 1}),
    examples: &[holds(r#"["a", "b"]"#, r#""abc""#), fails(r#"["a", "x"]"#, r#""abc""#), holds("[1, 2]", "[2, 1, 3]")],
};

#[derive(Debug)]
struct ContainsAll(Vec<Value>);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    let parts = items(node, "`contains-all`", found)?.iter().map(Node::to_json).collect();
    Some(Arc::new(ContainsAll(parts)))
}

impl Matcher for ContainsAll {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let missing: Vec<String> = self.0.iter().filter(|part| !holds_part(value, part)).map(shown).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(mismatch("does not contain everything it must", missing.join(", "), value))
    }
}
