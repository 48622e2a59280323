//! `in_order`: these come one after the other in the text.
//!
//! Each text is a check of its own, so that a failure points at its line. A text that is not found does not hide
//! the ones after it: they are looked for after the last one that was found.

use std::sync::Arc;

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};
use crate::excerpt::{self, quoted};
use crate::nearest_match;

const NAME: &str = "in_order";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The text contains these one after the other; each is looked for after the end of the one before.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["one", "two", "three"]"#, Seen::Text("one, two and three")),
        holds(r#"["a", "a"]"#, Seen::Text("aa")),
        fails(r#"["two", "one"]"#, Seen::Text("one, two and three")),
        fails(r#"["a", "a"]"#, Seen::Text("a")),
        fails(r#"["one", "four"]"#, Seen::Text("one, two and three")),
    ],
};

#[derive(Debug)]
struct InOrder {
    parts: Arc<[String]>,
    /// Index of the part that this check is about.
    index: usize,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let texts = shape::texts(NAME, node, found);
    let parts: Arc<[String]> = texts.iter().map(|w| w.text.to_owned()).collect();
    let check = |(index, w): (usize, &shape::Written<'_>)| {
        shape::planned(NAME, w.span, InOrder { parts: Arc::clone(&parts), index })
    };
    texts.iter().enumerate().map(check).collect()
}

impl Check for InOrder {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let part = self.parts[self.index].as_str();
        let (from, previous) = self.begin(&seen.text);
        if seen.text[from..].contains(part) {
            return Ok(());
        }
        let expected = match previous {
            Some(previous) => format!("{} after {}", quoted(part), quoted(previous)),
            None => quoted(part),
        };
        if let (Some(previous), Some(start)) = (previous, seen.text.find(part)) {
            return Err(Mismatch {
                message: format!("{} does not come after {}", quoted(part), quoted(previous)),
                expected,
                actual: excerpt::of_text(seen, start..from),
                diff: None,
                help: Some(format!("it occurs earlier, at byte {start}; {} ends at byte {from}", quoted(previous))),
            });
        }
        let near = nearest_match::find(&seen.text[from..], part);
        let view = near.as_ref().map_or(from..from, |near| from + near.range.start..from + near.range.end);
        let after = previous.map(|previous| format!(", neither after {} nor before", quoted(previous)));
        Err(Mismatch {
            message: format!("the text does not contain {}{}", quoted(part), after.unwrap_or_default()),
            expected,
            actual: excerpt::of_text(seen, view),
            diff: None,
            help: near.map(|near| near.help),
        })
    }
}

impl InOrder {
    /// Start of the search for this part: after the last earlier part that was found, which is returned too.
    fn begin(&self, text: &str) -> (usize, Option<&str>) {
        let mut from = 0;
        let mut previous = None;
        for part in &self.parts[..self.index] {
            if let Some(start) = text[from..].find(part.as_str()) {
                from += start + part.len();
                previous = Some(part.as_str());
            }
        }
        (from, previous)
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{mismatch, mismatches, text};
    use super::*;

    #[test]
    fn what_comes_too_early_is_told_so() {
        let mismatch = mismatch(NAME, r#"["two", "one", "three"]"#, &text("one, two, three"));
        assert_eq!(mismatch.message, "`one` does not come after `two`");
        assert_eq!(mismatch.help.as_deref(), Some("it occurs earlier, at byte 0; `two` ends at byte 8"));
    }

    #[test]
    fn what_is_missing_does_not_hide_what_comes_after_it() {
        let mismatches = mismatches(NAME, r#"["one", "x", "three", "two", "y"]"#, &text("one, two, three"));
        let messages: Vec<&str> = mismatches.iter().map(|m| m.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "the text does not contain `x`, neither after `one` nor before",
                "`two` does not come after `three`",
                "the text does not contain `y`, neither after `three` nor before",
            ]
        );
    }
}
