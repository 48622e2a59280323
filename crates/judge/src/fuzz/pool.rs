//! Values seen in earlier replies, to be sent where their names fit: tools that need an existing id get one.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use mcprove_model::first_json;
use regex::Regex;
use serde_json::Value;

use crate::generate::{same, singular, words};

/// Maximum number of values per name.
const VALUES: usize = 12;

/// Maximum number of names.
const NAMES: usize = 400;

/// Maximum number of parts of one reply that are searched.
const PARTS: usize = 5000;

/// The longest text that is kept.
const LONGEST: usize = 256;

/// Names for the same thing, each group on a line.
const SYNONYMS: &[&[&str]] = &[
    &["path", "file", "filename", "filepath", "folder", "directory", "dir"],
    &["uri", "url", "link", "href"],
    &["id", "uuid", "identifier", "key"],
    &["name", "title"],
];

/// Values by words in their names, and inputs from the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValuePool {
    known: BTreeMap<Vec<String>, Vec<Value>>,
    given: Vec<Value>,
}

impl ValuePool {
    /// Takes arguments the user gave for the tool: they are used before anything that is made.
    pub fn give(&mut self, arguments: Value) {
        self.given.push(arguments);
    }

    /// Keeps the values of a tool result that may be useful again: ids, names, paths, by the names they have there.
    pub fn harvest(&mut self, result: &Value) {
        let mut left = PARTS;
        if let Some(structured) = result.get("structuredContent") {
            self.walk(structured, &[], &mut left);
        }
        for item in result.get("content").and_then(Value::as_array).into_iter().flatten() {
            for link in [item, item.get("resource").unwrap_or(&Value::Null)] {
                if let Some(uri) = link.get("uri") {
                    self.keep(&["uri".to_owned()], uri);
                }
            }
            let Some(text) = item.get("text").and_then(Value::as_str) else { continue };
            match first_json(text) {
                Some(value @ (Value::Object(_) | Value::Array(_))) => self.walk(&value, &[], &mut left),
                Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => self.read(text),
            }
        }
    }

    /// True if there is nothing to feed in.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.given.is_empty()
    }

    /// Inputs from the user.
    pub(crate) fn given(&self) -> &[Value] {
        &self.given
    }

    /// Values for a property, given the names on the way to it; the likeliest first.
    pub(crate) fn values_for(&self, names: &[&str]) -> Vec<&Value> {
        let Some(property) = names.last() else { return Vec::new() };
        let wanted = name_words(property);
        let mut found: Vec<(usize, &Vec<Value>)> = self
            .known
            .iter()
            .map(|(known, values)| (likeness(&wanted, known), values))
            .filter(|(likeness, _)| *likeness > 0)
            .collect();
        found.sort_by_key(|(likeness, _)| std::cmp::Reverse(*likeness));
        found.into_iter().flat_map(|(_, values)| values).collect()
    }

    fn walk(&mut self, value: &Value, name: &[String], left: &mut usize) {
        let Some(fewer) = left.checked_sub(1) else { return };
        *left = fewer;
        match value {
            Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort_unstable();
                for key in keys {
                    // `users: [{id: …}]` is a `user id` as well as an `id`.
                    let own = name_words(key);
                    let qualified: Vec<String> = name.last().into_iter().chain(&own).cloned().collect();
                    let inner = &map[key];
                    if matches!(inner, Value::String(_) | Value::Number(_)) {
                        self.keep(&own, inner);
                        self.keep(&qualified, inner);
                    } else {
                        self.walk(inner, &own, left);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item, name, left)),
            Value::String(_) | Value::Number(_) => self.keep(name, value),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Finds ids, URLs and paths in prose.
    fn read(&mut self, text: &str) {
        let text = &text[..text.floor_char_boundary(20_000)];
        for (name, pattern) in PROSE.iter() {
            for found in pattern.find_iter(text).take(VALUES) {
                self.keep(&[(*name).to_owned()], &Value::from(found.as_str().trim()));
            }
        }
    }

    fn keep(&mut self, name: &[String], value: &Value) {
        let useful = match value {
            Value::String(text) => !text.is_empty() && text.len() <= LONGEST,
            Value::Number(_) => true,
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
        };
        if !useful || name.is_empty() || self.known.len() >= NAMES && !self.known.contains_key(name) {
            return;
        }
        let values = self.known.entry(name.to_vec()).or_default();
        if values.len() < VALUES && !values.iter().any(|known| same(known, value)) {
            values.push(value.clone());
        }
    }
}

static PROSE: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let patterns = [
        ("id", r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"),
        ("url", r#"\bhttps?://[^\s"'<>)]+"#),
        ("path", r"(?m)(?:^|\s)(?:\./|/)?(?:[\w.-]+/)*[\w-]+\.[a-z]{1,5}\b"),
    ];
    patterns.into_iter().filter_map(|(name, pattern)| Some((name, Regex::new(pattern).ok()?))).collect()
});

fn name_words(name: &str) -> Vec<String> {
    words(name).iter().map(|word| singular(word).to_owned()).collect()
}

/// Similarity of a known name to a wanted one; 0 if they do not match.
fn likeness(wanted: &[String], known: &[String]) -> usize {
    if wanted == known {
        return 100;
    }
    let (Some(one), Some(other)) = (wanted.last(), known.last()) else { return 0 };
    let synonyms = SYNONYMS.iter().any(|group| group.contains(&one.as_str()) && group.contains(&other.as_str()));
    if one != other && !synonyms {
        return 0;
    }
    // One may say more than the other, but they must not say different things: an order is not a user.
    let (short, long) = if wanted.len() < known.len() { (wanted, known) } else { (known, wanted) };
    let agree = short[..short.len() - 1].iter().all(|word| long.contains(word));
    match (agree, one == other) {
        (true, true) => 60 + short.len(),
        (true, false) => 30 + short.len(),
        (false, _) => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_again_under_similar_names() {
        let mut pool = ValuePool::default();
        assert!(pool.is_empty());
        pool.harvest(&json!({"content": [
            {"type": "text", "text": "{\"users\": [{\"id\": 7, \"name\": \"Zoë\"}], \"orders\": [{\"id\": \"o-1\"}], \"fileNames\": [\"a.txt\"]}"},
            {"type": "text", "text": "see https://example.com/x and docs/readme.md for f81d4fae-7dec-41d0-8765-00a0c91e6bf6"},
            {"type": "resource_link", "uri": "file:///a", "name": "a"}
        ]}));
        for (property, expected) in [
            ("user_id", json!(7)),
            ("userId", json!(7)),
            ("order_id", json!("o-1")),
            ("name", json!("Zoë")),
            ("uri", json!("file:///a")),
            ("url", json!("https://example.com/x")),
            ("fileName", json!("a.txt")),
        ] {
            assert_eq!(pool.values_for(&[property]).first(), Some(&&expected), "{property}");
        }
        assert!(pool.values_for(&["id"]).contains(&&json!("f81d4fae-7dec-41d0-8765-00a0c91e6bf6")));
        assert!(pool.values_for(&["colour"]).is_empty());
        assert!(pool.values_for(&[]).is_empty());
    }

    #[test]
    fn a_pool_stays_small_and_does_not_care_for_the_order_of_keys() {
        let mut pool = ValuePool::default();
        let many: Vec<Value> = (0..100_000).map(|number| json!({"id": number, format!("k{number}"): "x"})).collect();
        pool.harvest(&json!({"structuredContent": {"items": many}}));
        pool.harvest(&json!({"structuredContent": {"text": "x".repeat(10_000), "flag": true, "none": null}}));
        assert!(pool.known.len() <= NAMES && pool.values_for(&["id"]).len() <= 2 * VALUES);
        assert!(pool.values_for(&["text"]).is_empty());
        let (mut one, mut other) = (ValuePool::default(), ValuePool::default());
        one.harvest(&json!({"structuredContent": {"a": 1, "b": {"a": 2}}}));
        other.harvest(&json!({"structuredContent": {"b": {"a": 2}, "a": 1}}));
        assert_eq!(one.values_for(&["a"]), other.values_for(&["a"]));
        one.harvest(&json!("not a result"));
    }
}
