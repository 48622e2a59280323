//! `icontains`: a text that contains, in any case, this one.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, text};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "icontains",
    summary: "The value is a text that contains, in any case, this one.",
    decode,
    schema: || json!({"type": ["string", "number", "boolean"]}),
    examples: &[holds(r#""B""#, r#""abc""#), fails(r#""x""#, r#""abc""#), fails(r#""1""#, "1")],
};

#[derive(Debug)]
struct IContains(String);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(IContains(text::wanted(node, "`icontains`", found)?)))
}

impl Matcher for IContains {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        text::judge(value, &format!("a text that contains, in any case, {:?}", self.0), |text| {
            text.to_lowercase().contains(&self.0.to_lowercase())
        })
    }
}
