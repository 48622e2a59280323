//! `ends-with`: a text that ends with this one.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, text};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "ends-with",
    summary: "The value is a text that ends with this one.",
    decode,
    schema: || json!({"type": ["string", "number", "boolean"]}),
    examples: &[holds(r#""bc""#, r#""abc""#), fails(r#""ab""#, r#""abc""#)],
};

#[derive(Debug)]
struct EndsWith(String);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(EndsWith(text::wanted(node, "`ends-with`", found)?)))
}

impl Matcher for EndsWith {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        text::judge(value, &format!("a text that ends with {:?}", self.0), |text| text.ends_with(&self.0))
    }
}
