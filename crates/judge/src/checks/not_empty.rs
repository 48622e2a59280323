//! `not_empty`: there is something in the result.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, Outcome, PlannedCheck};
use serde_json::Value;

use super::example::{fails, holds};
use super::{CheckKind, Seen, outcome, shape};

const NAME: &str = "not_empty";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The result has something in it: not an empty text, `null`, `[]`, `{}` or `\"\"`; `false` asks for nothing.",
    decode,
    schema: shape::flag_schema,
    examples: &[
        holds("true", Seen::Text("x")),
        holds("true", Seen::Text("[0]")),
        holds("true", Seen::Result(r#"{"content": [], "structuredContent": {"a": 1}}"#)),
        holds("true", Seen::Result(r#"{"content": [{"type": "image", "data": "", "mimeType": "image/png"}]}"#)),
        fails("true", Seen::Text(" \n")),
        fails("true", Seen::Text("null")),
        fails("true", Seen::Text("[ ]")),
        fails("true", Seen::Text("{ }\n")),
        fails("true", Seen::Text("\"\"")),
        fails("true", Seen::Result(r#"{"content": [], "structuredContent": {}}"#)),
        holds("false", Seen::Text("[]")),
        fails("false", Seen::Text("x")),
    ],
};

#[derive(Debug)]
struct NotEmpty {
    wanted: bool,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let flag = shape::flag(NAME, node, found);
    flag.map(|wanted| shape::planned(NAME, node.span, NotEmpty { wanted })).into_iter().collect()
}

impl Check for NotEmpty {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        if is_empty(seen) != self.wanted {
            return Ok(());
        }
        let (message, expected) = if self.wanted {
            ("the result is empty", "something in the result")
        } else {
            ("the result is not empty", "nothing in the result")
        };
        Err(Mismatch {
            message: message.to_owned(),
            expected: expected.to_owned(),
            actual: outcome::described(seen),
            ..Mismatch::default()
        })
    }
}

fn is_empty(seen: &Observation) -> bool {
    if has_more_than_text(&seen.outcome) {
        return false;
    }
    let text = seen.text.trim();
    if text.is_empty() {
        return seen.structured.as_ref().is_none_or(means_nothing);
    }
    // Judged without parsing, because the text may be huge: these are all the documents that mean nothing.
    let without_space: String = text.chars().filter(|c| !c.is_whitespace()).take(3).collect();
    text == "null" || matches!(without_space.as_str(), "[]" | "{}" | "\"\"")
}

fn means_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// True if a tool result has an image, a sound, a resource or a link: something that no text shows.
fn has_more_than_text(outcome: &Outcome) -> bool {
    let Outcome::Result(result) = outcome else { return false };
    let items = result.get("content").and_then(Value::as_array);
    items.is_some_and(|items| items.iter().filter_map(|item| item.get("type")?.as_str()).any(|kind| kind != "text"))
}
