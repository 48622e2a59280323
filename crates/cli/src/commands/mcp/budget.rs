//! Answers of a bounded size: agents pay for every token.

use serde_json::{Map, Value};

/// About how many characters a token has.
const CHARACTERS: usize = 4;

/// An error message, shortened to a number of tokens.
pub(super) fn message(text: &str, tokens: u64) -> String {
    shortened(text, characters(tokens)).unwrap_or_else(|| text.to_owned())
}

fn characters(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(CHARACTERS).max(400)
}

/// The beginning of a string that is too long.
fn shortened(text: &str, most: usize) -> Option<String> {
    let end = text.char_indices().nth(most)?.0;
    Some(format!("{}… (cut)", &text[..end]))
}

/// The value, shortened to a number of tokens: long strings are cut first, then lists and maps, and each cut is marked.
pub(super) fn within(mut value: Value, tokens: u64) -> Value {
    let most = characters(tokens);
    let mut lengths = Lengths { string: most, items: usize::MAX, entries: FEW };
    while value.to_string().len() > most {
        if lengths.string > 40 || lengths.items > 1 {
            lengths.string = (lengths.string / 2).max(40);
            lengths.items = (lengths.items.min(longest(&value)) * 2 / 3).max(1);
        } else if lengths.entries > 1 {
            lengths.entries = lengths.entries * 2 / 3;
        } else {
            break;
        }
        // The keys of an answer are few and short; those of a server may be neither.
        let of_answer = Lengths { entries: FEW, ..lengths };
        match &mut value {
            Value::Object(map) => cut_map(map, of_answer, lengths),
            other => cut(other, lengths),
        }
    }
    value
}

/// A value within the rest of the budget.
#[derive(Clone, Copy)]
struct Lengths {
    string: usize,
    items: usize,
    /// Entries of a map that are left, however few items of a list are.
    entries: usize,
}

/// Entries of a map that are left as long as strings and lists can be cut: an answer of mcprove has no more.
const FEW: usize = 16;
/// The key that counts the entries of a map that were cut.
const LEFT_OUT: &str = "entries_left_out";

fn longest(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(longest).max().unwrap_or(0).max(items.len()),
        Value::Object(map) => map.values().map(longest).max().unwrap_or(0).max(map.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn cut(value: &mut Value, lengths: Lengths) {
    match value {
        Value::String(text) => {
            if let Some(cut) = shortened(text, lengths.string) {
                *text = cut;
            }
        }
        Value::Array(list) => {
            list.truncate(lengths.items);
            for item in list.iter_mut() {
                cut(item, lengths);
            }
        }
        Value::Object(map) => cut_map(map, lengths, lengths),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Shortens a map, and what is in it.
fn cut_map(map: &mut Map<String, Value>, own: Lengths, inner: Lengths) {
    let few = own.items.max(own.entries);
    if map.len() > few || map.keys().any(|key| key.len() > own.string) {
        let (before, left) = (map.len(), map.get(LEFT_OUT).and_then(Value::as_u64).unwrap_or(0));
        *map = std::mem::take(map)
            .into_iter()
            .filter(|(key, _)| key != LEFT_OUT)
            .take(few)
            .map(|(key, value)| (shortened(&key, own.string).unwrap_or(key), value))
            .collect();
        let left = left + before.saturating_sub(map.len() + usize::from(left > 0)) as u64;
        if left > 0 {
            map.insert(LEFT_OUT.to_owned(), left.into());
        }
    }
    let mut left_out = Vec::new();
    for (key, value) in map.iter_mut() {
        if let Value::Array(list) = value
            && list.len() > inner.items
        {
            left_out.push((format!("{key}_left_out"), list.len() - inner.items));
        }
        cut(value, inner);
    }
    for (key, count) in left_out {
        let before = map.get(&key).and_then(Value::as_u64).unwrap_or(0);
        map.insert(key, (before + count as u64).into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn large_answers_are_cut_and_say_so() {
        let tools: Vec<Value> = (0..500).map(|n| json!({"name": n, "description": "x".repeat(300)})).collect();
        let small = within(json!({"tools": tools, "ok": true}), 500);
        assert!(small.to_string().len() <= 2_000, "{}", small.to_string().len());
        let (kept, left_out) = (small["tools"].as_array().expect("tools").len(), small["tools_left_out"].as_u64());
        assert_eq!(left_out, Some(500 - kept as u64));
        let tiny = json!({"ok": true});
        assert_eq!(within(tiny.clone(), 1), tiny);
    }

    #[test]
    fn maps_in_maps_are_cut_too() {
        let nested = (0..4).fold(json!(1), |inner, _| (0..16).map(|n| (format!("key {n}"), inner.clone())).collect());
        let small = within(json!({"passed": true, "structured": nested}), 500);
        assert!(small.to_string().len() <= 2_000, "{}", small.to_string().len());
        assert_eq!(small["passed"], true);
        let (kept, left_out) = (&small["structured"], small["structured"][LEFT_OUT].as_u64());
        assert_eq!(left_out, Some(17 - kept.as_object().expect("a map").len() as u64));
    }

    #[test]
    fn keys_of_a_server_are_cut_too() {
        let named: serde_json::Map<String, Value> = (0..5_000).map(|n| (format!("property {n}"), json!({}))).collect();
        let small = within(json!({"schema": {"properties": named}}), 500);
        assert!(small.to_string().len() <= 2_000, "{}", small.to_string().len());
        let kept = small["schema"]["properties"].as_object().expect("a map");
        let left_out = kept[LEFT_OUT].as_u64().expect("a number");
        assert_eq!(kept.len() as u64 - 1 + left_out, 5_000);
        let long = within(json!({"structured": {"L".repeat(1 << 20): 1}}), 500);
        assert!(long.to_string().len() <= 2_000 && long.to_string().contains("(cut)"), "{}", long.to_string().len());
        assert!(message(&"e".repeat(1 << 20), 500).len() <= 2_020);
    }
}
