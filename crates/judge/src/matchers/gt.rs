//! `gt`: a number that is greater than this number.

use serde_json::json;

use super::bounds::{Bound, decode_bound};
use super::{MatcherKind, fails, holds};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "gt",
    summary: "The value is a number greater than this number.",
    decode: |node, found| decode_bound(node, Bound::Above, "`gt`", found),
    schema: || json!({"type": "number"}),
    examples: &[holds("1", "2"), fails("1", "1")],
};
