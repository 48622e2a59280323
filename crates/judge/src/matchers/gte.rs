//! `gte`: a number that is greater than or equal to this number.

use serde_json::json;

use super::bounds::{Bound, decode_bound};
use super::{MatcherKind, fails, holds};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "gte",
    summary: "The value is a number greater than or equal to this number.",
    decode: |node, found| decode_bound(node, Bound::AtLeast, "`gte`", found),
    schema: || json!({"type": "number"}),
    examples: &[holds("1", "1"), fails("1", "0.5")],
};
