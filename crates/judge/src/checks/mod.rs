//! The checks of an `expect` block, one file each.

use mcprove_model::{Diagnostics, Node, PlannedCheck};
use serde_json::Value;

/// One kind of check: its name in files, how it is decoded, and what it is for.
pub struct CheckKind {
    /// The key in an `expect` block.
    pub name: &'static str,
    /// One sentence for the documentation.
    pub summary: &'static str,
    /// Turns the value under the key into checks, one for each thing asked, and reports what is wrong with it.
    pub decode: fn(&Node, &mut Diagnostics<'_>) -> Vec<PlannedCheck>,
    /// The JSON Schema of the value.
    pub schema: fn() -> Value,
}

/// Every check of a result, in the order failures are reported.
pub const CHECKS: &[CheckKind] = &[];

/// Decodes an `expect` block; unknown keys and wrong values are reported, the rest is kept.
pub fn decode_expect(_block: &Node, _found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    Vec::new()
}
