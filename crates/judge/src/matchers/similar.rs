//! `similar`: a text that is nearly another, by its characters.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "similar",
    summary: "The text is like `value`: 1 minus edits per character, without regard to case and white space, is at \
              least `threshold`. No language model is asked, so a `model` other than `lexical` is refused.",
    decode,
    schema: || {
        let properties = json!({
            "value": {"type": "string", "description": "The text to compare with."},
            "threshold": {"type": "number", "minimum": 0, "maximum": 1, "description": "The least similarity that is accepted."},
            "model": {"const": "lexical", "description": "The way to compare: by letters."},
        });
        json!({"type": "object", "required": ["value"], "properties": properties, "additionalProperties": false})
    },
    examples: &[
        holds(r#"{"value": "Hello, world", "threshold": 0.8}"#, r#""hello  world""#),
        fails(r#"{"value": "Hello, world", "threshold": 0.8}"#, r#""goodbye""#),
        holds(r#"{"value": "abcd"}"#, r#""abcx""#),
        fails(r#"{"value": "abcd"}"#, r#""xyzd""#),
    ],
};

#[derive(Debug)]
struct Similar {
    value: String,
    threshold: f64,
}

/// Default similarity threshold.
const THRESHOLD: f64 = 0.7;

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    found.map(node, "`similar`")?;
    found.known_keys(node, "`similar`", &["model", "threshold", "value"]);
    if let Some(model) = node.get("model").filter(|model| model.as_text() != Some("lexical")) {
        let message = "`similar` compares characters; embeddings of a model are not supported";
        found.error_with_help("unsupported-key", model.span, message, "write `model: lexical`, or leave it out");
        return None;
    }
    let Some(value) = node.get("value") else {
        found.error_with_help("missing-key", node.span, "`similar` has no `value`", "add the text to compare with");
        return None;
    };
    let value = found.text(value, "`value`")?;
    let threshold = match node.get("threshold") {
        None => THRESHOLD,
        Some(threshold) => crate::checks::decode_threshold(threshold, found)?,
    };
    Some(Arc::new(Similar { value: plain(value), threshold }))
}

/// A text in lower case, with single spaces.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Matcher for Similar {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let expected = format!("a similarity of {} to {}", self.threshold, self.value);
        let Some(text) = value.as_str() else { return Err(mismatch("is not a text", expected, value)) };
        let likeness = strsim::normalized_levenshtein(&self.value, &plain(text));
        if likeness >= self.threshold {
            return Ok(());
        }
        Err(mismatch(format!("has a similarity of {likeness:.2}"), expected, value))
    }
}
