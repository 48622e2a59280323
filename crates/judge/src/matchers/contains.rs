//! `contains`: a part of a text, an object or a list.

use std::sync::Arc;

use mcprove_model::{Mismatch, some_of};
use serde_json::{Value, json};

use super::difference::{both, closest, only_difference};
use super::subset::lacking;
use super::{Matcher, MatcherKind, fails, holds};
use crate::json_equality::{JsonEquality, compare};
use crate::{excerpt, nearest_match};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "contains",
    summary: "A text contains this text, an object these members, a list these items; a number or a boolean is this.",
    decode: |node, _| Some(Arc::new(Contains(node.to_json()))),
    schema: || json!({}),
    examples: &[
        holds(r#""b""#, r#""abc""#),
        fails(r#""B""#, r#""abc""#),
        holds(r#"{"a": {"x": 1}}"#, r#"{"a": {"x": 1, "y": 2}, "b": 0}"#),
        fails(r#"{"a": 2}"#, r#"{"a": 1}"#),
        holds("[1, 1]", "[1, 2, 1]"),
        fails("[1, 1]", "[1, 2]"),
        holds(r#""x""#, r#"["x", "y"]"#),
        fails("3", "4"),
    ],
};

#[derive(Debug)]
struct Contains(Value);

impl Matcher for Contains {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        if holds_part(value, &self.0) { Ok(()) } else { Err(self.mismatch(value)) }
    }
}

impl Contains {
    /// The missing part: the member with its place, or the items.
    fn mismatch(&self, value: &Value) -> Mismatch {
        match (value, &self.0) {
            (Value::Object(_), Value::Object(_)) => match lacking(value, &self.0, String::new()) {
                Some(difference) => difference.mismatch(),
                None => both("does not contain what it must".to_owned(), &self.0, value),
            },
            (Value::Array(items), Value::Array(parts)) => {
                let missing: Vec<&Value> = parts.iter().filter(|part| !holds_part(value, &json!([part]))).collect();
                let quoted = missing.iter().map(|part| excerpt::quoted(&part.to_string()));
                let message = match missing.first() {
                    None => "does not contain every item as often as it must".to_owned(),
                    Some(_) => format!("does not contain {}", some_of(quoted, 5)),
                };
                lacking_item(message, items, &self.0, missing.first().copied())
            }
            (Value::Array(items), part) => {
                lacking_item("does not contain what it must".to_owned(), items, part, Some(part))
            }
            (Value::String(text), Value::String(part)) => {
                let near = nearest_match::find(text, part);
                let view = near.as_ref().map_or(0..0, |near| near.range.clone());
                Mismatch {
                    message: "does not contain what it must".to_owned(),
                    expected: excerpt::around(part, 0..0),
                    actual: if text.is_empty() { "an empty text".to_owned() } else { excerpt::around(text, view) },
                    help: near.map(|near| near.help),
                    ..Mismatch::default()
                }
            }
            (value, part) => both("does not contain what it must".to_owned(), part, value),
        }
    }
}

/// The mismatch of a list without an item: the item that comes closest, else the beginning of the list.
fn lacking_item(message: String, items: &[Value], expected: &Value, item: Option<&Value>) -> Mismatch {
    let expected = excerpt::around(&expected.to_string(), 0..0);
    let count = items.len();
    let found = item.and_then(|item| Some((item, closest(items, item)?)));
    let actual = match found {
        Some((item, (at, near))) => {
            let place = format!("/{at}");
            let difference = lacking(near, item, place.clone()).unwrap_or_else(|| only_difference(item, near, place));
            let view = difference.mismatch();
            let place = &difference.place;
            format!("{} at `{place}`, the closest of {count} items", view.actual)
        }
        None => format!("{count} items: {}", excerpt::around(&json!(items).to_string(), 0..0)),
    };
    Mismatch { message, expected, actual, ..Mismatch::default() }
}

/// True if a value holds a part: substring, sub-object, or items (each as often as it is asked for).
pub(super) fn holds_part(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => whole.contains(part.as_str()),
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|value| holds_member(value, part)))
        }
        (Value::Array(items), Value::Array(parts)) => {
            let mut left: Vec<&Value> = items.iter().collect();
            parts.iter().all(|part| match left.iter().position(|item| compare(item, part) == JsonEquality::Same) {
                Some(at) => {
                    left.swap_remove(at);
                    true
                }
                None => false,
            })
        }
        (Value::Array(items), part) => items.iter().any(|item| compare(item, part) == JsonEquality::Same),
        (whole, part) => compare(whole, part) == JsonEquality::Same,
    }
}

/// Members of objects are compared deeply; only objects may have more than is asked for.
fn holds_member(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(_), Value::Object(_)) => holds_part(whole, part),
        (whole, part) => compare(whole, part) == JsonEquality::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(part: Value, value: &Value) -> (String, String) {
        let mismatch = Contains(part).judge(value).expect_err("not contained");
        (mismatch.expected, mismatch.actual)
    }

    #[test]
    fn the_closest_item_is_shown_at_its_place() {
        let items: Vec<Value> = (0..500).map(|id| json!({"id": id, "name": format!("item {id}")})).collect();
        let list = Value::Array(items);
        assert_eq!(
            told(json!({"id": 300, "name": "Item 300"}), &list),
            (
                r#"{"id":300,"name":"Item 300"}"#.to_owned(),
                "item 300 at `/300/name`, the closest of 500 items".to_owned()
            )
        );
        let (_, actual) = told(json!([{"id": 1, "name": "item 1"}, 5]), &list);
        assert!(actual.starts_with(r#"500 items: [{"id":0,"#) && actual.len() < 400, "{actual}");
    }

    #[test]
    fn a_text_is_cut_around_what_is_nearly_the_part() {
        let text = json!(format!("{} Hello, World {}", "x".repeat(3000), "y".repeat(3000)));
        let (_, actual) = told(json!("hello, world"), &text);
        assert!(actual.contains("Hello, World") && actual.len() < 400, "{actual}");
    }
}
