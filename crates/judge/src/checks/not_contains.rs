//! `not_contains`: the text holds none of these.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};
use crate::excerpt::{self, quoted};

const NAME: &str = "not_contains";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The text contains none of these.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["secret", "token"]"#, Seen::Text("nothing to see")),
        fails(r#"["secret", "token"]"#, Seen::Text("the token is 1")),
        fails(r#""token""#, Seen::Text("token")),
    ],
};

#[derive(Debug)]
struct NotContains {
    part: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let texts = shape::texts(NAME, node, found);
    texts.iter().map(|w| shape::planned(NAME, w.span, NotContains { part: w.text.to_owned() })).collect()
}

impl Check for NotContains {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let Some(start) = seen.text.find(&self.part) else { return Ok(()) };
        Err(Mismatch {
            message: format!("the text contains {}", quoted(&self.part)),
            expected: format!("no {}", quoted(&self.part)),
            actual: excerpt::of_text(seen, start..start + self.part.len()),
            diff: None,
            help: self.part.is_empty().then(|| "every text contains the empty text".to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{mismatch, text};
    use super::*;

    #[test]
    fn the_match_is_in_view() {
        let seen = text(&format!("{}password{}", "ä".repeat(4000), "ö".repeat(4000)));
        let mismatch = mismatch(NAME, r#""password""#, &seen);
        assert!(mismatch.actual.contains("äpasswordö"), "{}", mismatch.actual);
        assert!(mismatch.actual.chars().count() <= excerpt::LIMIT);
    }
}
