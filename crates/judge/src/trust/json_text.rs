//! The texts and objects inside JSON text, read in one go and without building values.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::parts::{Want, hash};

/// Something inside JSON text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inside<'a> {
    /// A whole string, never a key.
    Text(&'a str),
    /// A whole object, by the hash of what it means.
    Object(u64),
}

/// Calls `see` with everything inside the JSON documents of a text: the whole text, or objects and lists that begin on
/// a line of their own. For an incomplete document, everything before the break counts.
pub(super) fn read(text: &str, want: Want, see: &mut dyn FnMut(Inside<'_>)) {
    let mut reader = Reader { want, see };
    if text.trim_start().starts_with('"') {
        // The quotes of a phrase are not JSON: this must be all of the text.
        if let Ok(whole) = serde_json::from_str::<String>(text) {
            (reader.see)(Inside::Text(&whole));
        }
        return;
    }
    if !text.contains(['{', '[']) {
        return;
    }
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        if trimmed.starts_with(['{', '[']) {
            let mut json = serde_json::Deserializer::from_str(trimmed);
            if reader.deserialize(&mut json).is_ok() {
                if json.end().is_ok() {
                    return;
                }
                rest = &trimmed[document_length(trimmed)..];
                continue;
            }
        }
        let Some((_, after)) = trimmed.split_once('\n') else { return };
        rest = after;
    }
}

/// Length of the document at the beginning of a text.
fn document_length(text: &str) -> usize {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    documents.next();
    documents.byte_offset()
}

/// Reads one value and gives the hash of what it means.
struct Reader<'s> {
    want: Want,
    see: &'s mut dyn FnMut(Inside<'_>),
}

impl<'de> DeserializeSeed<'de> for &mut Reader<'_> {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<u64, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Reader<'_> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<u64, E> {
        Ok(hash::null())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<u64, E> {
        Ok(hash::boolean(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        Ok(hash::number(&Number::from(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u64, E> {
        Ok(hash::number(&Number::from(value)))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<u64, E> {
        Ok(Number::from_f64(value).map_or_else(hash::null, |number| hash::number(&number)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<u64, E> {
        (self.see)(Inside::Text(value));
        Ok(hash::text(value, self.want))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<u64, A::Error> {
        let mut list = hash::List::default();
        while let Some(item) = items.next_element_seed(&mut *self)? {
            list.add(item);
        }
        Ok(list.finish())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<u64, A::Error> {
        let mut object = hash::Object::default();
        while let Some(key) = members.next_key_seed(Key(self.want))? {
            let value = members.next_value_seed(&mut *self)?;
            object.add(key, value);
        }
        let hash = object.finish();
        if self.want == Want::TextsAndObjects {
            (self.see)(Inside::Object(hash));
        }
        Ok(hash)
    }
}

/// Reads a key and gives its hash.
struct Key(Want);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<u64, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<u64, E> {
        Ok(hash::text(key, self.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::parts::{ValuePart, walk};
    use super::*;

    fn parts(text: &str) -> (Vec<String>, Vec<u64>) {
        let (mut texts, mut objects) = (Vec::new(), Vec::new());
        read(text, Want::TextsAndObjects, &mut |inside| match inside {
            Inside::Text(text) => texts.push(text.to_owned()),
            Inside::Object(hash) => objects.push(hash),
        });
        (texts, objects)
    }

    fn texts(text: &str) -> Vec<String> {
        parts(text).0
    }

    #[test]
    fn documents_are_found_alone_in_lines_and_around_prose() {
        assert_eq!(texts(r#" {"a": "x"} "#), ["x"]);
        assert_eq!(texts("{\"a\": \"x\"}\n{\"a\": \"y\\n\"}\n"), ["x", "y\n"]);
        assert_eq!(texts("found:\n[\"x\",\n \"y\"] or so\nhint: more"), ["x", "y"]);
        assert_eq!(texts("[link](\"x\") and {\"braces\"}\n[1"), Vec::<String>::new());
        assert_eq!(texts(r#""a\nb""#), ["a\nb"]);
        assert_eq!(texts(r#""a" and "b""#), Vec::<String>::new());
        assert_eq!(texts(r#"{"rows": ["x", "y", "cut o"#), ["x", "y"]);
    }

    #[test]
    fn many_unfinished_documents_end() {
        assert!(texts(&"[1,\n".repeat(2_000)).is_empty());
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_i64..9).prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a\\n\"é]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[ab]{1,2}", inner, 0..4).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn text_and_value_have_the_same_parts(value in prop::collection::vec(json_value(), 0..3)) {
            let value = Value::from(value);
            let (mut texts, mut objects) = (Vec::new(), Vec::new());
            walk(&value, Want::TextsAndObjects, &mut |_, part| match part {
                ValuePart::Text(text) => texts.push(text.to_owned()),
                ValuePart::Object(_, hash) => objects.push(hash),
            });
            prop_assert_eq!(parts(&value.to_string()), (texts.clone(), objects.clone()));
            prop_assert_eq!(parts(&format!("as asked:\n{value:#}\n")), (texts, objects));
        }
    }
}
