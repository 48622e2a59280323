//! `oneOf`: exactly one of several matchers holds.

use super::several::{self, MatcherQuantifier};
use super::{MatcherKind, fails, holds};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "oneOf",
    summary: "Exactly one of these matchers holds.",
    decode: |node, found| several::decode(node, "`oneOf`", MatcherQuantifier::One, found),
    schema: several::schema,
    examples: &[
        holds(r#"[{"exact": 1}, {"gt": 5}]"#, "1"),
        fails(r#"[{"gt": 1}, {"gt": 5}]"#, "9"),
        fails(r#"[{"gt": 1}, {"gt": 5}]"#, "0"),
    ],
};
