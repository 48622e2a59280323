//! `allOf`: every one of several matchers holds.

use super::several::{self, MatcherQuantifier};
use super::{MatcherKind, fails, holds};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "allOf",
    summary: "Every one of these matchers holds.",
    decode: |node, found| several::decode(node, "`allOf`", MatcherQuantifier::All, found),
    schema: several::schema,
    examples: &[holds(r#"[{"gt": 1}, {"lt": 5}]"#, "3"), fails(r#"[{"gt": 1}, {"lt": 5}]"#, "7")],
};
