//! Where two values differ, with both sides cut around that place.

use mcprove_model::Mismatch;
use serde_json::Value;

use super::shown;
use crate::excerpt;
use crate::json_equality::{JsonEquality, compare};
use crate::json_pointer::escaped;

/// A place at which two values differ.
pub(super) struct Difference<'v> {
    /// The JSON pointer; empty for the whole value.
    pub(super) place: String,
    pub(super) expected: &'v Value,
    /// `None` where the value is missing.
    pub(super) actual: Option<&'v Value>,
}

impl Difference<'_> {
    /// The mismatch, with both values at the place.
    pub(super) fn mismatch(&self) -> Mismatch {
        let Self { place, expected, actual } = self;
        let Some(actual) = actual else {
            let message = format!("differs at `{place}`, which is missing");
            let expected = excerpt::around(&shown(expected), 0..0);
            return Mismatch { message, expected, actual: "nothing".to_owned(), ..Mismatch::default() };
        };
        let message = if place.is_empty() { "is not as expected".to_owned() } else { format!("differs at `{place}`") };
        both(message, expected, actual)
    }
}

/// A mismatch that shows two values, each cut around the first character in which they differ.
pub(super) fn both(message: String, expected: &Value, actual: &Value) -> Mismatch {
    // `"1"` and 1, or a text that looks like an object, would look the same without the quotes.
    let is_quoted = expected.is_string() != actual.is_string();
    let text = |value: &Value| if is_quoted { value.to_string() } else { shown(value) };
    let (expected, actual) = (text(expected), text(actual));
    let same = expected.bytes().zip(actual.bytes()).take_while(|(one, other)| one == other).count();
    Mismatch {
        message,
        expected: excerpt::around(&expected, same..same),
        actual: excerpt::around(&actual, same..same),
        ..Mismatch::default()
    }
}

/// The smallest part in which two values differ: goes down as long as everything but one member or item is the same.
pub(super) fn only_difference<'v>(expected: &'v Value, actual: &'v Value, place: String) -> Difference<'v> {
    let pairs: Option<Vec<(String, &Value, &Value)>> = match (expected, actual) {
        (Value::Object(left), Value::Object(right)) if left.len() == right.len() => {
            left.iter().map(|(key, value)| Some((escaped(key), value, right.get(key)?))).collect()
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).enumerate();
            Some(pairs.map(|(at, (left, right))| (at.to_string(), left, right)).collect())
        }
        _ => None,
    };
    let mut differing =
        pairs.into_iter().flatten().filter(|(_, left, right)| compare(left, right) != JsonEquality::Same);
    match (differing.next(), differing.next()) {
        (Some((name, left, right)), None) => only_difference(left, right, format!("{place}/{name}")),
        (Some(_) | None, _) => Difference { place, expected, actual: Some(actual) },
    }
}

/// The item of a list that is most like a value, with its position; `None` where none has anything in common with it.
pub(super) fn closest<'v>(items: &'v [Value], wanted: &Value) -> Option<(usize, &'v Value)> {
    // A long list is searched from its beginning only.
    let rated = items.iter().take(10_000).enumerate().map(|(at, item)| (alike(item, wanted), at, item));
    let best = rated.max_by_key(|(alike, at, _)| (*alike, std::cmp::Reverse(*at)));
    best.filter(|(alike, ..)| *alike > 0).map(|(_, at, item)| (at, item))
}

/// The number of members and items that two values share; texts are alike as far as they begin with the same letters.
fn alike(one: &Value, other: &Value) -> usize {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let shared = other.iter().filter_map(|(key, wanted)| one.get(key).map(|value| (value, wanted)));
            shared.map(|(value, wanted)| if compare(value, wanted) == JsonEquality::Different { 1 } else { 100 }).sum()
        }
        (Value::Array(one), Value::Array(other)) => other
            .iter()
            .filter(|wanted| one.iter().any(|item| compare(item, wanted) != JsonEquality::Different))
            .count(),
        (Value::String(one), Value::String(other)) => {
            let begin = |(a, b): &(char, char)| a.to_lowercase().eq(b.to_lowercase());
            let same = one.chars().zip(other.chars()).take_while(begin).count();
            if same * 2 > other.chars().count() { same } else { 0 }
        }
        _ => usize::from(compare(one, other) == JsonEquality::Loose),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_values_are_cut_around_the_first_difference() {
        let list = |last: u32| json!((0..500).chain([last]).collect::<Vec<_>>());
        let mismatch = both(String::new(), &list(7), &list(8));
        assert!(mismatch.expected.contains(",499,7]") && mismatch.actual.contains(",499,8]"), "{mismatch:?}");
        assert!(mismatch.actual.starts_with('…') && mismatch.actual.len() < 400, "{mismatch:?}");
    }

    #[test]
    fn the_closest_item_shares_most() {
        let items = [json!({"id": 1, "kind": "a"}), json!({"id": 2, "kind": "b", "more": 0}), json!("other")];
        assert_eq!(closest(&items, &json!({"id": 3, "kind": "b"})).map(|(at, _)| at), Some(1));
        assert_eq!(closest(&items, &json!("Others")).map(|(at, _)| at), Some(2));
        assert_eq!(closest(&items, &json!(5)), None);
        assert_eq!(closest(&[json!(5)], &json!("5")).map(|(at, _)| at), Some(0));
    }
}
