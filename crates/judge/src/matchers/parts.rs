//! Several parts that a text or list contains: all of them, or one.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::Value;

use super::contains::holds_part;
use super::{Decoded, Matcher, items, mismatch, shown};

/// Required number of several parts.
#[derive(Clone, Copy, Debug)]
pub(super) enum PartQuantifier {
    All,
    Any,
}

/// Decodes the list of parts under the key `what`.
pub(super) fn decode(node: &Node, what: &str, wanted: PartQuantifier, found: &mut Diagnostics<'_>) -> Decoded {
    let parts = items(node, what, found)?.iter().map(Node::to_json).collect();
    Some(Arc::new(Parts { parts, wanted }))
}

#[derive(Debug)]
struct Parts {
    parts: Vec<Value>,
    wanted: PartQuantifier,
}

impl Matcher for Parts {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let missing: Vec<String> = self.parts.iter().filter(|part| !holds_part(value, part)).map(shown).collect();
        match self.wanted {
            PartQuantifier::All if missing.is_empty() => Ok(()),
            PartQuantifier::All => Err(mismatch("does not contain everything it must", missing.join(", "), value)),
            PartQuantifier::Any if missing.len() < self.parts.len() => Ok(()),
            PartQuantifier::Any => Err(mismatch("contains none of several", missing.join(", or "), value)),
        }
    }
}
