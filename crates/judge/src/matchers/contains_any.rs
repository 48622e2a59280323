//! `contains-any`: the text or list contains at least one of these.

use serde_json::json;

use super::parts::{self, PartQuantifier};
use super::{MatcherKind, fails, holds};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "contains-any",
    summary: "The text or list contains at least one of these.",
    decode: |node, found| parts::decode(node, "`contains-any`", PartQuantifier::Any, found),
    schema: || json!({"type": "array", "minItems": 1}),
    examples: &[holds(r#"["x", "b"]"#, r#""abc""#), fails(r#"["x", "y"]"#, r#""abc""#), holds("[7, 2]", "[2]")],
};
