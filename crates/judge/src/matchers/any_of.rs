//! `anyOf`: at least one of several matchers holds.

use super::several::{self, MatcherQuantifier};
use super::{MatcherKind, fails, holds};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "anyOf",
    summary: "At least one of these matchers holds.",
    decode: |node, found| several::decode(node, "`anyOf`", MatcherQuantifier::Any, found),
    schema: several::schema,
    examples: &[holds(r#"[{"exact": 1}, {"exact": 2}]"#, "2"), fails(r#"[{"exact": 1}, {"exact": 2}]"#, "3")],
};
