//! `exists`: the target leads somewhere, or does not.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, Missing, fails, holds, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "exists",
    summary: "The target leads to a value (`true`), or nowhere (`false`).",
    decode,
    schema: || json!({"type": "boolean"}),
    examples: &[holds("true", "null"), fails("false", "1")],
};

#[derive(Debug)]
struct Exists(bool);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(Exists(found.boolean(node, "`exists`")?)))
}

impl Matcher for Exists {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        if self.0 { Ok(()) } else { Err(mismatch("is there, but must not be", "nothing", value)) }
    }

    fn accepts_missing(&self, _missing: Missing) -> bool {
        !self.0
    }
}
