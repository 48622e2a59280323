//! JSON text → a value, within bounds: what a text would take in memory is counted while it is read, because a few
//! bytes of text can become forty times as many.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// The most memory that one message may take once it is read.
pub const MOST: usize = 160 << 20;

/// Memory of a value in a list or a map, with spare capacity.
const VALUE: usize = 108;
/// Memory of a list or map besides its first value.
const LIST: usize = 216;
const MAP: usize = 400;
/// Memory of a string besides its bytes.
const TEXT: usize = 16;

/// The start of the error for a text that would take too much.
const TOO_LARGE: &str = "takes more than";

/// A value with what is known about it.
#[derive(Debug, PartialEq)]
pub struct ParsedJson {
    /// The value.
    pub value: Value,
    /// About how many bytes it takes in memory.
    pub size: usize,
    /// A key that is in one of its objects twice; the last value is kept.
    pub duplicate: Option<String>,
    /// An integer that is larger than those that can be read exactly, as it is written.
    pub inexact: Option<String>,
}

/// Reads a text that may take `most` bytes in memory.
pub fn read(bytes: &[u8], most: usize) -> Result<ParsedJson, serde_json::Error> {
    let count = Count::new(most);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Seed(&count).deserialize(&mut reader)?;
    reader.end()?;
    let inexact = if count.is_wide.get() { inexact_integer(bytes) } else { None };
    Ok(ParsedJson { value, size: most - count.left.get(), duplicate: count.duplicate.into_inner(), inexact })
}

/// A text whose members were taken apart, with what is known about it.
#[derive(Debug, PartialEq)]
pub struct ParsedMembers<const N: usize> {
    /// Its top level.
    pub top: TopLevel<N>,
    /// About how many bytes it takes in memory.
    pub size: usize,
    /// A key that is in one of its objects twice; the last value is kept.
    pub duplicate: Option<String>,
    /// An integer that is larger than those that can be read exactly, as it is written.
    pub inexact: Option<String>,
}

/// The top level of a text.
#[derive(Debug, PartialEq)]
pub enum TopLevel<const N: usize> {
    /// An object.
    Members {
        /// The members that were asked for.
        values: [Option<Value>; N],
        /// The first name of another one.
        other: Option<String>,
    },
    /// Anything else.
    Other(Value),
}

/// Reads a text as [`read`] does; of an object at its top, only the members of these names are kept, without a map of them.
pub fn read_members<const N: usize>(
    bytes: &[u8],
    names: &[&str; N],
    most: usize,
) -> Result<ParsedMembers<N>, serde_json::Error> {
    let count = Count::new(most);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let top = reader.deserialize_any(MembersVisitor { count: &count, names })?;
    reader.end()?;
    let inexact = if count.is_wide.get() { inexact_integer(bytes) } else { None };
    Ok(ParsedMembers { top, size: most - count.left.get(), duplicate: count.duplicate.into_inner(), inexact })
}

/// A value within [`MOST`], for readers that decide themselves where it ends.
#[derive(Debug)]
pub struct BoundedValue(pub Value);

impl<'de> Deserialize<'de> for BoundedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let count = Count::new(MOST);
        Seed(&count).deserialize(deserializer).map(Self)
    }
}

/// A text as JSON; the error says what is wrong with it, or that it takes too much memory.
pub fn value(text: impl AsRef<[u8]>) -> Result<Value, serde_json::Error> {
    read(text.as_ref(), MOST).map(|read| read.value)
}

/// A text as JSON; none if it is not, or takes too much memory. For readers that treat both alike.
pub fn parse(bytes: impl AsRef<[u8]>) -> Option<Value> {
    value(bytes).ok()
}

/// The value of a text and about how many bytes it takes in memory; none if it is not JSON, or takes more than `most`.
pub fn parse_within(bytes: &[u8], most: usize) -> Option<(Value, usize)> {
    read(bytes, most).ok().map(|read| (read.value, read.size))
}

/// About how many bytes of memory a value takes.
pub fn memory_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => VALUE,
        Value::String(text) => VALUE + TEXT + text.len(),
        Value::Array(items) => LIST + items.iter().map(memory_of).sum::<usize>(),
        Value::Object(map) => MAP + map.iter().map(|(key, value)| TEXT + key.len() + memory_of(value)).sum::<usize>(),
    }
}

/// True if an error of [`read`] says that the text would take too much memory.
pub fn is_too_large(error: &serde_json::Error) -> bool {
    error.to_string().starts_with(TOO_LARGE)
}

/// Beyond this, integers may be read as floating-point numbers: those below zero end earlier.
const WIDE: f64 = 9_223_372_036_854_775_808.0;

/// The first integer in a JSON text that a floating-point number cannot hold.
fn inexact_integer(bytes: &[u8]) -> Option<String> {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        match byte {
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
                at += bytes[at..].iter().take_while(is_part).count();
                let text = std::str::from_utf8(&bytes[start..at]).unwrap_or_default();
                if is_inexact(text) {
                    return Some(text.to_owned());
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// True for the text of an integer that is read as another one.
pub fn is_inexact(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = digits.len() > 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_exact = || text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok();
    is_integer && !is_exact() && text.parse::<f64>().is_ok_and(|float| format!("{float:.0}") != text)
}

struct Count {
    left: Cell<usize>,
    most: usize,
    duplicate: RefCell<Option<String>>,
    /// True if a number may be an integer beyond those of 64 bits.
    is_wide: Cell<bool>,
}

impl Count {
    fn new(most: usize) -> Self {
        Self { left: Cell::new(most), most, duplicate: RefCell::default(), is_wide: Cell::new(false) }
    }

    fn take<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.has(bytes)?;
        self.left.set(self.left.get() - bytes);
        Ok(())
    }

    fn has<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        if bytes <= self.left.get() {
            return Ok(());
        }
        Err(E::custom(format_args!("{TOO_LARGE} {} MiB once it is read", self.most >> 20)))
    }
}

#[derive(Clone, Copy)]
struct Seed<'c>(&'c Count);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        if value.abs() >= WIDE {
            self.0.is_wide.set(true);
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.0.take(value.len() + TEXT)?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<Value, E> {
        self.0.take(value.len() + TEXT)?;
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.0.take(if list.is_empty() { LIST + VALUE } else { VALUE })?;
            if list.len() == list.capacity() {
                // A list that grows is copied, so for a moment it takes what it had as well.
                self.0.has(list.capacity() * size_of::<Value>())?;
            }
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.0.take(key.len() + TEXT + if map.is_empty() { MAP + VALUE } else { VALUE })?;
            let value = entries.next_value_seed(self)?;
            match map.entry(key) {
                Entry::Vacant(entry) => drop(entry.insert(value)),
                Entry::Occupied(mut entry) => {
                    self.0.duplicate.borrow_mut().get_or_insert_with(|| entry.key().clone());
                    entry.insert(value);
                }
            }
        }
        Ok(Value::Object(map))
    }
}

/// Reads the top level of a text.
struct MembersVisitor<'c, 'n, const N: usize> {
    count: &'c Count,
    names: &'n [&'n str; N],
}

impl<'de, const N: usize> Visitor<'de> for MembersVisitor<'_, '_, N> {
    type Value = TopLevel<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Seed(self.count).expecting(f)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Seed(self.count).visit_bool(value).map(TopLevel::Other)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Seed(self.count).visit_i64(value).map(TopLevel::Other)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Seed(self.count).visit_u64(value).map(TopLevel::Other)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Seed(self.count).visit_f64(value).map(TopLevel::Other)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Self::Value, E> {
        Seed(self.count).visit_str(value).map(TopLevel::Other)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Seed(self.count).visit_unit().map(TopLevel::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        Seed(self.count).visit_seq(items).map(TopLevel::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut members = [const { None }; N];
        let mut others = BTreeSet::new();
        let mut is_first = true;
        while let Some(key) = entries.next_key_seed(MemberKey(self.names))? {
            let length = match &key {
                Ok(at) => self.names[*at].len(),
                Err(other) => other.len(),
            };
            let around = if std::mem::take(&mut is_first) { MAP + VALUE } else { VALUE };
            self.count.take(length + TEXT + around)?;
            let value = entries.next_value_seed(Seed(self.count))?;
            let twice = match key {
                Ok(at) => members[at].replace(value).map(|_| self.names[at].to_owned()),
                Err(other) => others.replace(other),
            };
            if let Some(twice) = twice {
                self.count.duplicate.borrow_mut().get_or_insert(twice);
            }
        }
        Ok(TopLevel::Members { values: members, other: others.pop_first() })
    }
}

/// Reads a key: the position of a known name, or the key.
struct MemberKey<'n, const N: usize>(&'n [&'n str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for MemberKey<'_, N> {
    type Value = Result<usize, String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<const N: usize> Visitor<'_> for MemberKey<'_, N> {
    type Value = Result<usize, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key).ok_or_else(|| key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_grows_when_it_is_read_is_refused_before_it_has_grown() {
        for item in ["0", "{}", "[]", "[0]", "{\"a\":0}", "\"\""] {
            let text = format!("[{}]", vec![item; 100_000].join(","));
            let error = read(text.as_bytes(), 1 << 20).expect_err(item);
            assert!(is_too_large(&error), "{error}");
            let tree = read(text.as_bytes(), MOST).expect("enough room");
            assert!(tree.size > 100_000 * VALUE, "{item}: {}", tree.size);
        }
        assert!(!is_too_large(&read(b"[1,", MOST).expect_err("cut off")));
        assert!(!is_too_large(&read(b"[1] 2", MOST).expect_err("two values")));
    }

    #[test]
    fn duplicate_keys_are_seen_at_any_depth() {
        let duplicate = |text: &str| read(text.as_bytes(), MOST).expect("JSON").duplicate;
        assert_eq!(duplicate(r#"{"a":[{"isError":true,"isError":false}]}"#).as_deref(), Some("isError"));
        assert_eq!(duplicate(r#"{"a":1,"\u0061":2}"#).as_deref(), Some("a"));
        assert_eq!(duplicate(r#"{"a":{"b":1},"b":2}"#), None);
    }

    #[test]
    fn members_are_taken_apart() {
        let members = |text: &str| read_members(text.as_bytes(), &["a", "b"], MOST).expect("JSON");
        let one = members(r#"{"c":{"a":9},"\u0061":1,"b":null}"#);
        let values = [Some(1.into()), Some(Value::Null)];
        assert_eq!(one.top, TopLevel::Members { values, other: Some("c".to_owned()) });
        assert_eq!(one.duplicate, None);
        let values = [Some(2.into()), None];
        assert_eq!(members(r#"{"a":1,"a":2}"#).top, TopLevel::Members { values, other: None });
        for text in [
            r#"{"a":1,"a":2}"#,
            r#"{"c":1,"c":2}"#,
            r#"{"b":{"x":1,"x":2}}"#,
            "[1,2]",
            "7",
            "\"a\"",
            "{}",
            r#"{"a":18446744073709551617}"#,
        ] {
            let (whole, apart) = (read(text.as_bytes(), MOST).expect("JSON"), members(text));
            assert_eq!(
                (apart.size, apart.duplicate, apart.inexact),
                (whole.size, whole.duplicate, whole.inexact),
                "{text}"
            );
            if let TopLevel::Other(value) = apart.top {
                assert_eq!(value, whole.value, "{text}");
            }
        }
    }

    #[test]
    fn integers_that_are_read_as_others_are_seen() {
        let inexact = |text: &str| read(text.as_bytes(), MOST).expect("JSON").inexact;
        for exact in [
            "18446744073709551615",
            "-9223372036854775808",
            "18446744073709551616",
            "1e300",
            "1.5e20",
            "100000000000000000000",
            "\"18446744073709551617\"",
            "[1e20,\"\\\"18446744073709551617\"]",
        ] {
            assert_eq!(inexact(exact), None, "{exact}");
        }
        for (text, wanted) in [
            ("18446744073709551617", "18446744073709551617"),
            ("{\"a\":[1,-100000000000000000001]}", "-100000000000000000001"),
            ("-9223372036854775809", "-9223372036854775809"),
            ("[\"a\\\"\",123456789012345678901234567890]", "123456789012345678901234567890"),
        ] {
            assert_eq!(inexact(text).as_deref(), Some(wanted), "{text}");
        }
    }

    proptest! {
        #[test]
        fn members_are_refused_where_values_are(text in r#"[\[\]{},:0-9."a-z\\ eE+-]{0,40}"#) {
            let (whole, apart) = (read(text.as_bytes(), 500), read_members(text.as_bytes(), &["a", "b"], 500));
            let message = |error: serde_json::Error| error.to_string();
            prop_assert_eq!(whole.map(|read| read.size).map_err(message), apart.map(|read| read.size).map_err(message));
        }

        #[test]
        fn values_are_those_of_the_usual_parser(text in r#"[\[\]{},:0-9."a-z\\ eE+-]{0,40}"#) {
            let usual = serde_json::from_str::<Value>(&text).ok();
            prop_assert_eq!(read(text.as_bytes(), MOST).ok().map(|tree| tree.value), usual);
        }
    }
}
