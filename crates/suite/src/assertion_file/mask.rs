//! `mask`: patterns of what changes from run to run, in addition to what is masked in every snapshot.

use mcprove_judge::snapshot::Masks;
use mcprove_model::{Diagnostics, Node};
use serde_json::{Value, json};

/// Decodes `mask`, one pattern or several; an invalid regular expression is a finding.
pub(crate) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<String> {
    let Some(masks) = node.get("mask").filter(|masks| !masks.is_null()) else { return Vec::new() };
    let mut patterns = Vec::new();
    for item in found.one_or_many(masks) {
        let Some(pattern) = found.text(item, "an item of `mask`") else { continue };
        match Masks::new([pattern]) {
            Ok(_) => patterns.push(pattern.to_owned()),
            Err(reason) => {
                let message = format!("`{pattern}` is not a regular expression");
                let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                found.error_with_help("bad-regex", item.span, message, reason);
            }
        }
    }
    patterns
}

/// The JSON Schema of `mask`.
pub(crate) fn schema() -> Value {
    let pattern = json!({"type": "string"});
    json!({
        "anyOf": [pattern, {"type": "array", "items": pattern}, {"type": "null"}],
        "description": "Regular expressions of text to mask in snapshots, in addition to times, UUIDs, durations and paths.",
    })
}
