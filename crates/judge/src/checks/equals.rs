//! `equals`: the text is exactly this one.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use serde_json::{Value, json};

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};
use crate::diff::{self, Sides};
use crate::excerpt;

const NAME: &str = "equals";

/// Texts longer than this are hard to compare by eye.
const EASY: usize = 60;

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The text is exactly this one; white space around both is left out of account.",
    decode,
    schema,
    examples: &[
        holds("\"hello\"", Seen::Text(" hello\n")),
        holds("\"a\\nb\\n\"", Seen::Text("a\nb")),
        holds("42", Seen::Text("42")),
        fails("\"hello\"", Seen::Text("hello there")),
        fails("\"hello\"", Seen::Text("")),
    ],
};

#[derive(Debug)]
struct Equals {
    text: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    // Whatever scalar was written is meant as its text, `null` too.
    let Some(scalar) = node.as_scalar().filter(|scalar| !(scalar.is_null() && scalar.text.is_empty())) else {
        let help = "to compare a JSON value, write `json_path: {$: …}`".to_owned();
        shape::wrong(found, node, NAME, "a text", help);
        return Vec::new();
    };
    vec![shape::planned(NAME, node.span, Equals { text: scalar.text.trim().to_owned() })]
}

fn schema() -> Value {
    json!({"type": ["string", "number", "boolean", "null"]})
}

impl Check for Equals {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let text = seen.text.trim();
        if text == self.text {
            return Ok(());
        }
        let from = diff::common_prefix(&self.text, text);
        let is_hard = |text: &str| text.contains('\n') || text.chars().nth(EASY).is_some();
        let shown =
            |text: &str| if text.is_empty() { "an empty text".to_owned() } else { excerpt::around(text, from..from) };
        Err(Mismatch {
            message: match (text.is_empty(), self.text.starts_with(text), text.starts_with(&self.text)) {
                (true, _, _) => "the text is empty".to_owned(),
                (false, true, _) => "the text ends too early".to_owned(),
                (false, false, true) => "the text goes on after what was expected".to_owned(),
                (false, false, false) => {
                    let before = &text[..from];
                    let line = before.matches('\n').count() + 1;
                    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                    format!("the text differs from line {line}, column {column} on")
                }
            },
            expected: shown(&self.text),
            actual: shown(text),
            diff: (is_hard(&self.text) || is_hard(text))
                .then(|| diff::unified(Sides { old: "expected", new: "actual" }, &self.text, text)),
            help: self.text.eq_ignore_ascii_case(text).then(|| "only the case differs".to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{mismatch, text};
    use super::*;

    #[test]
    fn a_short_difference_needs_no_diff() {
        let mismatch = mismatch(NAME, "\"hello\"", &text("hullo"));
        assert_eq!(mismatch.message, "the text differs from line 1, column 2 on");
        assert_eq!((mismatch.expected.as_str(), mismatch.actual.as_str()), ("hello", "hullo"));
        assert_eq!(mismatch.diff, None);
    }

    #[test]
    fn several_lines_are_shown_as_a_diff() {
        let mismatch = mismatch(NAME, "\"a\\nb\"", &text("a\nc"));
        assert_eq!(mismatch.diff.as_deref(), Some("--- expected\n+++ actual\n@@ -1,2 +1,2 @@\n a\n-b\n+c"));
    }

    #[test]
    fn a_huge_reply_stays_small_in_the_message() {
        let mismatch = mismatch(NAME, "\"a\"", &text(&"long line\n".repeat(100_000)));
        assert!(mismatch.actual.len() < 1000 && mismatch.diff.expect("a diff").len() < 10_000);
    }
}
