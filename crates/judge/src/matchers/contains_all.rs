//! `contains-all`: the text or list contains every one of these.

use serde_json::json;

use super::parts::{self, PartQuantifier};
use super::{MatcherKind, fails, holds};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "contains-all",
    summary: "The text or list contains every one of these.",
    decode: |node, found| parts::decode(node, "`contains-all`", PartQuantifier::All, found),
    schema: || json!({"type": "array", "minItems": 1}),
    examples: &[holds(r#"["a", "b"]"#, r#""abc""#), fails(r#"["a", "x"]"#, r#""abc""#), holds("[1, 2]", "[2, 1, 3]")],
};
