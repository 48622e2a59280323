//! `lt`: a number that is less than this number.

use serde_json::json;

use super::bounds::{Bound, decode_bound};
use super::{MatcherKind, fails, holds};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "lt",
    summary: "The value is a number less than this number.",
    decode: |node, found| decode_bound(node, Bound::Below, "`lt`", found),
    schema: || json!({"type": "number"}),
    examples: &[holds("3", "2.5"), fails("3", "3")],
};
