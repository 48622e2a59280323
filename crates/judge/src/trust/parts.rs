//! The parts of a value that can be carried on: its texts and its objects, also those inside JSON text.

use std::fmt::Write as _;

use mcprove_model::{bounded_json, documents_at_lines};
use serde_json::{Map, Value};

use crate::json_pointer::escaped;

/// Maximum nesting of JSON text inside JSON text.
pub(super) const NESTING: usize = 2;

/// A step from a value to a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'v> {
    Key(&'v str),
    Index(usize),
}

/// A part of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValuePart<'v> {
    /// A text: the value of a string, never a key.
    Text(&'v str),
    /// An object with the hash of what it means.
    Object(&'v Map<String, Value>, u64),
}

/// With or without objects, whose hashes cost time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Texts,
    TextsAndObjects,
}

/// Calls `see` with every part of a value.
pub(super) fn walk<'v>(value: &'v Value, want: Want, see: &mut impl FnMut(&[Step<'v>], ValuePart<'v>)) {
    visit(value, want, &mut Vec::new(), see);
}

fn visit<'v>(
    value: &'v Value,
    want: Want,
    path: &mut Vec<Step<'v>>,
    see: &mut impl FnMut(&[Step<'v>], ValuePart<'v>),
) -> u64 {
    match value {
        Value::Null => hash::null(),
        Value::Bool(value) => hash::boolean(*value),
        Value::Number(number) => hash::number(number),
        Value::String(text) => {
            see(path, ValuePart::Text(text));
            hash::text(text, want)
        }
        Value::Array(items) => {
            let mut list = hash::List::default();
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                list.add(visit(item, want, path, see));
                path.pop();
            }
            list.finish()
        }
        Value::Object(members) => {
            let mut object = hash::Object::default();
            for (key, member) in members {
                path.push(Step::Key(key));
                object.add(hash::text(key, want), visit(member, want, path, see));
                path.pop();
            }
            let hash = object.finish();
            if want == Want::TextsAndObjects {
                see(path, ValuePart::Object(members, hash));
            }
            hash
        }
    }
}

/// Hashes of what values mean: numbers are the same however they are written, objects in whatever order.
pub(super) mod hash {
    use std::collections::hash_map::DefaultHasher;
    use std::hash::{Hash, Hasher};

    use serde_json::Number;

    use super::Want;
    use crate::json_equality;

    pub(in crate::trust) fn null() -> u64 {
        1
    }

    pub(in crate::trust) fn boolean(value: bool) -> u64 {
        2 + u64::from(value)
    }

    pub(in crate::trust) fn number(number: &Number) -> u64 {
        let has_fraction = number.is_f64() && number.as_f64().is_some_and(|float| float.fract() != 0.0);
        match json_equality::truncated(number).filter(|_| !has_fraction) {
            Some(whole) => of(('i', whole)),
            None => of(('f', number.as_f64().map(f64::to_bits))),
        }
    }

    /// The hash of a text, where hashes are wanted.
    pub(in crate::trust) fn text(text: &str, want: Want) -> u64 {
        match want {
            Want::Texts => 0,
            Want::TextsAndObjects => of(('s', text)),
        }
    }

    /// The hash of a list, from those of its items.
    #[derive(Debug, Default)]
    pub(in crate::trust) struct List(u64);

    impl List {
        pub(in crate::trust) fn add(&mut self, item: u64) {
            self.0 = spread(self.0.wrapping_mul(3).wrapping_add(item).wrapping_add(1));
        }

        pub(in crate::trust) fn finish(&self) -> u64 {
            spread(self.0 ^ 0x6c69_7374)
        }
    }

    /// The hash of an object, from those of its keys and values in any order.
    #[derive(Debug, Default)]
    pub(in crate::trust) struct Object(u64);

    impl Object {
        pub(in crate::trust) fn add(&mut self, key: u64, value: u64) {
            self.0 = self.0.wrapping_add(spread(key ^ spread(value.wrapping_add(7))));
        }

        pub(in crate::trust) fn finish(&self) -> u64 {
            spread(self.0 ^ 0x6f62_6a65)
        }
    }

    fn of(value: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    }

    fn spread(hash: u64) -> u64 {
        let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The JSON documents in a text: the whole text, or objects and lists that begin on a line of their own.
pub(super) fn documents(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    if text.trim_start().starts_with('"') {
        found.extend(bounded_json::parse(text));
    } else if text.contains(['{', '[']) {
        found.extend(documents_at_lines(text));
    }
    found
}

/// The JSON Pointer of a path.
pub(super) fn pointer(path: &[Step<'_>]) -> String {
    let mut pointer = String::new();
    for step in path {
        pointer.push('/');
        match step {
            Step::Key(key) => pointer.push_str(&escaped(key)),
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
            if let ValuePart::Object(_, hash) = part {
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
            if let ValuePart::Text(text) = part {
                seen.push((pointer(path), text.to_owned()));
            }
        });
        seen.sort();
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
        let hostile = "[1,\n".repeat(2_000);
        assert!(documents(&hostile).is_empty());
    }
}
