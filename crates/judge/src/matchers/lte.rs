//! `lte`: a number that is less than or equal to this number.

use serde_json::json;

use super::bounds::{Bound, decode_bound};
use super::{MatcherKind, fails, holds};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "lte",
    summary: "The value is a number less than or equal to this number.",
    decode: |node, found| decode_bound(node, Bound::AtMost, "`lte`", found),
    schema: || json!({"type": "number"}),
    examples: &[holds("3", "3"), fails("3", "4"), fails("3", r#""2""#)],
};
