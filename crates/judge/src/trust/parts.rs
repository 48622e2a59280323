//! The parts of a value that can be carried on: its texts and its objects, also those inside JSON text.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};

use serde_json::{Map, Number, Value};

use crate::sameness;

/// How many times JSON text inside JSON text is looked into.
pub(super) const NESTING: usize = 2;

/// A step from a value to a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'v> {
    Key(&'v str),
    Index(usize),
}

/// A part of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'v> {
    /// A text: the value of a string, never a key.
    Text(&'v str),
    /// An object with the hash of what it means.
    Object(&'v Map<String, Value>, u64),
}

/// Whether objects are wanted too; their hashes cost time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Texts,
    TextsAndObjects,
}

/// Calls `see` with every part of a value, keys in sorted order, so that the order they came in changes nothing.
pub(super) fn walk<'v>(value: &'v Value, want: Want, see: &mut impl FnMut(&[Step<'v>], Part<'v>)) {
    visit(value, want, &mut Vec::new(), see);
}

fn visit<'v>(
    value: &'v Value,
    want: Want,
    path: &mut Vec<Step<'v>>,
    see: &mut impl FnMut(&[Step<'v>], Part<'v>),
) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => scalar_hash(value, want),
        Value::String(text) => {
            see(path, Part::Text(text));
            scalar_hash(value, want)
        }
        Value::Array(items) => {
            let mut hasher = DefaultHasher::new();
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                (b'[', visit(item, want, path, see)).hash(&mut hasher);
                path.pop();
            }
            hasher.finish()
        }
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            let mut hasher = DefaultHasher::new();
            for (key, member) in sorted {
                path.push(Step::Key(key));
                let hash = visit(member, want, path, see);
                path.pop();
                if want == Want::TextsAndObjects {
                    (b'{', key, hash).hash(&mut hasher);
                }
            }
            let hash = hasher.finish();
            if want == Want::TextsAndObjects {
                see(path, Part::Object(members, hash));
            }
            hash
        }
    }
}

fn scalar_hash(value: &Value, want: Want) -> u64 {
    if want == Want::Texts {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    match value {
        Value::Null => b'n'.hash(&mut hasher),
        Value::Bool(bool) => (b'b', bool).hash(&mut hasher),
        Value::Number(number) => hash_number(number, &mut hasher),
        Value::String(text) => (b's', text).hash(&mut hasher),
        Value::Array(_) | Value::Object(_) => unreachable!("not scalars"),
    }
    hasher.finish()
}

/// Numbers are the same however they are written: `1` and `1.0`.
fn hash_number(number: &Number, hasher: &mut DefaultHasher) {
    let has_fraction = number.is_f64() && number.as_f64().is_some_and(|float| float.fract() != 0.0);
    match sameness::truncated(number).filter(|_| !has_fraction) {
        Some(whole) => (b'i', whole).hash(hasher),
        None => (b'f', number.as_f64().map(f64::to_bits)).hash(hasher),
    }
}

/// The JSON documents in a text: the whole text, or objects and lists that begin on a line of their own.
pub(super) fn documents(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    if text.trim_start().starts_with('"') {
        found.extend(serde_json::from_str(text).ok());
        return found;
    }
    if !text.contains(['{', '[']) {
        return found;
    }
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        if trimmed.starts_with(['{', '[']) {
            let mut documents = serde_json::Deserializer::from_str(trimmed).into_iter::<Value>();
            if let Some(Ok(value)) = documents.next() {
                found.push(value);
                rest = &trimmed[documents.byte_offset()..];
                continue;
            }
        }
        let Some((_, after)) = trimmed.split_once('\n') else { return found };
        rest = after;
    }
}

/// The JSON Pointer of a path.
pub(super) fn pointer(path: &[Step<'_>]) -> String {
    let mut pointer = String::new();
    for step in path {
        pointer.push('/');
        match step {
            Step::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => {
                let _ = write!(pointer, "{index}");
            }
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hash_of(text: &str) -> u64 {
        let value: Value = serde_json::from_str(text).expect(text);
        let mut last = 0;
        walk(&value, Want::TextsAndObjects, &mut |_, part| {
            if let Part::Object(_, hash) = part {
                last = hash;
            }
        });
        last
    }

    #[test]
    fn objects_have_the_same_hash_when_they_mean_the_same() {
        assert_eq!(hash_of(r#"{"a": 1, "b": [true, "x"]}"#), hash_of(r#"{"b": [true, "x"], "a": 1.0}"#));
        for other in [r#"{"a": 1, "b": [true, "y"]}"#, r#"{"a": "1", "b": [true, "x"]}"#, r#"{"a": 1.5}"#, "{}"] {
            assert_ne!(hash_of(r#"{"a": 1, "b": [true, "x"]}"#), hash_of(other), "{other}");
        }
        assert_ne!(hash_of(r#"{"a": [1, [2]]}"#), hash_of(r#"{"a": [[1], 2]}"#));
    }

    #[test]
    fn texts_are_found_with_their_places() {
        let value = json!({"b/c": ["x", {"~": "y"}], "a": 1});
        let mut seen = Vec::new();
        walk(&value, Want::Texts, &mut |path, part| {
            if let Part::Text(text) = part {
                seen.push((pointer(path), text.to_owned()));
            }
        });
        assert_eq!(seen, [("/b~1c/0".to_owned(), "x".to_owned()), ("/b~1c/1/~0".to_owned(), "y".to_owned())]);
    }

    #[test]
    fn documents_are_found_alone_in_lines_and_around_prose() {
        assert_eq!(documents(r#" {"a": 1} "#), [json!({"a": 1})]);
        assert_eq!(documents("{\"a\": 1}\n{\"a\": 2}\n"), [json!({"a": 1}), json!({"a": 2})]);
        assert_eq!(documents("found:\n[1,\n 2]\nhint: more"), [json!([1, 2])]);
        assert_eq!(documents("[link](x) and {braces}\n[1"), Vec::<Value>::new());
        assert_eq!(documents("12"), Vec::<Value>::new());
        assert_eq!(documents(r#""a\nb""#), [json!("a\nb")]);
        assert_eq!(documents(r#""a" and "b""#), Vec::<Value>::new());
    }

    #[test]
    fn many_unfinished_documents_end() {
        let hostile = "[1,\n".repeat(20_000);
        assert!(documents(&hostile).is_empty());
    }
}
