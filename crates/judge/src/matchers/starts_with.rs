//! `starts-with`: a text that starts with this one.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, text};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "starts-with",
    summary: "The value is a text that starts with this one.",
    decode,
    schema: || json!({"type": ["string", "number", "boolean"]}),
    examples: &[holds(r#""ab""#, r#""abc""#), fails(r#""bc""#, r#""abc""#)],
};

#[derive(Debug)]
struct StartsWith(String);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(StartsWith(text::wanted(node, "`starts-with`", found)?)))
}

impl Matcher for StartsWith {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        text::judge(value, &format!("a text that starts with {:?}", self.0), |text| text.starts_with(&self.0))
    }
}
