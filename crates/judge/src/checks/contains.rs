//! `contains`: the text holds every one of these.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};
use crate::excerpt::{self, quoted};
use crate::nearest_match;

const NAME: &str = "contains";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The text contains each of these, in any order.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["one", "two"]"#, Seen::Text("two and one")),
        holds(r#""one""#, Seen::Text("one")),
        holds("[42]", Seen::Text("the answer is 42")),
        fails(r#"["one", "three"]"#, Seen::Text("two and one")),
        fails(r#"["One"]"#, Seen::Text("one")),
    ],
};

#[derive(Debug)]
struct Contains {
    part: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let texts = shape::texts(NAME, node, found);
    texts.iter().map(|w| shape::planned(NAME, w.span, Contains { part: w.text.to_owned() })).collect()
}

impl Check for Contains {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        if seen.text.contains(&self.part) {
            return Ok(());
        }
        let near = nearest_match::find(&seen.text, &self.part);
        let view = near.as_ref().map_or(0..0, |near| near.range.clone());
        Err(Mismatch {
            message: format!("the text does not contain {}", quoted(&self.part)),
            expected: excerpt::around(&self.part, 0..0),
            actual: excerpt::of_text(seen, view),
            diff: None,
            help: near.map(|near| near.help).or_else(|| elsewhere(seen, &self.part)),
        })
    }
}

/// Says when a part that the text lacks is in `structuredContent`.
pub(super) fn elsewhere(seen: &Observation, part: &str) -> Option<String> {
    let structured = seen.structured.as_ref()?.to_string();
    structured.contains(part).then(|| {
        "`structuredContent` has it, but this check looks at the text; `json_path` looks there when the text is not JSON"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::trial::{mismatch, mismatches, result, text};
    use super::*;

    #[test]
    fn every_missing_part_is_told() {
        let mismatches = mismatches(NAME, r#"["a", "b", "c"]"#, &text("b"));
        let messages: Vec<&str> = mismatches.iter().map(|m| m.message.as_str()).collect();
        assert_eq!(messages, ["the text does not contain `a`", "the text does not contain `c`"]);
    }

    #[test]
    fn a_near_match_is_in_view() {
        let mismatch = mismatch(NAME, r#""hello, world""#, &text(&format!("{}Hello, World", "x".repeat(5000))));
        assert!(mismatch.actual.contains("Hello, World (5012 bytes in all)"), "{}", mismatch.actual);
        assert_eq!(mismatch.help.as_deref(), Some("found `Hello, World`, which differs in case"));
    }

    #[test]
    fn structured_content_is_pointed_at() {
        let mismatch = mismatch(NAME, r#""needle""#, &result(json!({"structuredContent": {"a": "needle"}})));
        assert_eq!(mismatch.actual, "an empty text");
        assert!(mismatch.help.expect("help").contains("structuredContent"));
    }
}
