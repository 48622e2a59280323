//! `levenshtein`: a text within an edit distance of another.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "levenshtein",
    summary: "At most `max` characters have to be inserted, removed or replaced to make the text `value`.",
    decode,
    schema: || {
        let properties = json!({
            "value": {"type": "string", "description": "The text to compare with."},
            "max": {"type": "integer", "minimum": 0, "description": "The most edits that are accepted."},
        });
        json!({"type": "object", "required": ["value", "max"], "properties": properties, "additionalProperties": false})
    },
    examples: &[
        holds(r#"{"value": "kitten", "max": 3}"#, r#""sitting""#),
        fails(r#"{"value": "kitten", "max": 2}"#, r#""sitting""#),
        fails(r#"{"value": "1", "max": 5}"#, "1"),
    ],
};

#[derive(Debug)]
struct Levenshtein {
    value: String,
    max: u64,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    found.map(node, "`levenshtein`")?;
    found.known_keys(node, "`levenshtein`", &["max", "value"]);
    let (Some(value), Some(max)) = (node.get("value"), node.get("max")) else {
        found.error_with_help("missing-key", node.span, "`levenshtein` needs `value` and `max`", "add both");
        return None;
    };
    let value = found.text(value, "`value`")?.to_owned();
    let Some(max) = max.as_count() else {
        found.wrong_kind(max, "`max`", "a whole number, 0 or more");
        return None;
    };
    Some(Arc::new(Levenshtein { value, max }))
}

impl Matcher for Levenshtein {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let expected = format!("at most {} edits from {}", self.max, self.value);
        let Some(text) = value.as_str() else { return Err(mismatch("is not a text", expected, value)) };
        let distance = strsim::levenshtein(&self.value, text) as u64;
        if distance <= self.max { Ok(()) } else { Err(mismatch(format!("is {distance} edits away"), expected, value)) }
    }
}
