//! Messages that two readers may take for different ones: duplicate or differently cased keys, methods other than strings.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The members of a message that decide what it asks for, and those of its `params`.
const TOP: &[&str] = &["method", "params"];
const PARAMS: &[&str] = &["name", "arguments"];

/// True if the JSON of a message can be read in two ways: of duplicate keys, some readers take the first and some the last, and
/// some ignore the case of keys. Text that is not JSON is not ambiguous.
pub fn is_ambiguous(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let mut ambiguous = false;
    let read = Part { place: Place::Message, ambiguous: &mut ambiguous }.deserialize(&mut reader);
    read.is_ok() && ambiguous
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// A message, or a list of them.
    Message,
    Params,
    /// The value of `method`.
    Method,
}

/// One value that is looked at.
struct Part<'a> {
    place: Place,
    ambiguous: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Part<'_> {
    fn scalar(self) {
        *self.ambiguous |= self.place == Place::Method;
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.scalar();
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.scalar();
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.scalar();
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.scalar();
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar();
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if self.place == Place::Message {
            while items.next_element_seed(Part { place: Place::Message, ambiguous: self.ambiguous })?.is_some() {}
        } else {
            *self.ambiguous |= self.place == Place::Method;
            while items.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        *self.ambiguous |= self.place == Place::Method;
        let names = match self.place {
            Place::Message => TOP,
            Place::Params => PARAMS,
            Place::Method => &[],
        };
        let mut seen = vec![false; names.len()];
        while let Some(key) = entries.next_key::<String>()? {
            let found = names.iter().position(|name| is_same_in_some_case(name, &key));
            if let Some(at) = found {
                *self.ambiguous |= seen[at] || key != names[at];
                seen[at] = true;
            }
            let place = match found.map(|at| names[at]) {
                Some("method") => Place::Method,
                Some("params") => Place::Params,
                Some(_) | None => {
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            entries.next_value_seed(Part { place, ambiguous: self.ambiguous })?;
        }
        Ok(())
    }
}

/// True if a reader that ignores case takes a key for a name. Two characters outside of ASCII fold to letters in it.
fn is_same_in_some_case(name: &str, key: &str) -> bool {
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    key.chars().map(fold).eq(name.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_can_be_read_in_two_ways_are_ambiguous() {
        for clear in [
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"Name":1,"a":1,"a":2}}}"#,
            r#"{"id":7,"id":8,"jsonrpc":"2.0","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"name":"a","Name":"b","method":3}}"#,
            r#"[{"method":"a"},{"method":"b"}]"#,
            r#"{"method":"a","params":{"uri":"x","_meta":{"name":1,"name":2}}}"#,
            "log line",
            r#"{"method":"a","method":"b""#,
        ] {
            assert!(!is_ambiguous(clear.as_bytes()), "{clear}");
        }
        for odd in [
            r#"{"method":"tools/call","method":"ping"}"#,
            r#"{"method":"tools/call","params":{"name":"evil","name":"good"}}"#,
            r#"{"method":"tools/call","params":{"name":"evil","n\u0061me":"good"}}"#,
            r#"{"method":"tools/call","params":{"name":"evil"},"params":{"name":"good"}}"#,
            r#"{"method":"tools/call","params":{"name":"good","Name":"evil"}}"#,
            r#"{"method":"tools/call","params":{"name":"a","arguments":{},"ARGUMENTS":{}}}"#,
            r#"{"id":7,"Method":"tools/call"}"#,
            "{\"method\":\"tools/call\",\"param\u{17f}\":{\"name\":\"evil\"}}",
            r#"{"id":7,"method":["tools/call"]}"#,
            r#"{"id":7,"method":{"a":1}}"#,
            r#"{"id":7,"method":7}"#,
            r#"{"id":7,"method":null}"#,
            r#"[{"method":"a"},{"method":"a","Method":"b"}]"#,
            "\u{feff}{\"method\":\"a\",\"method\":\"b\"}",
        ] {
            assert!(is_ambiguous(odd.as_bytes()), "{odd}");
        }
    }
}
