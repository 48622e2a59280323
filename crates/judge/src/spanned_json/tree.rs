//! Values of a spanned text, looked at without copying them.

use std::borrow::Cow;

use mcprove_model::Span;
use serde_json::{Map, Value};

use super::SpannedJson;

/// Kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonKind {
    Null,
    True,
    False,
    Number,
    /// A text without escapes between its quotes.
    Text,
    /// A text with escapes.
    EscapedText,
    List,
    Map,
}

/// A value of a [`SpannedJson`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json<'t> {
    source: &'t SpannedJson,
    at: u32,
}

impl<'t> Json<'t> {
    pub(super) fn new(source: &'t SpannedJson, at: u32) -> Self {
        Self { source, at }
    }

    /// The text it is part of.
    pub(crate) fn source(self) -> &'t SpannedJson {
        self.source
    }

    /// Its slot: values that are earlier in the text have smaller ones.
    pub(crate) fn slot(self) -> u32 {
        self.at
    }

    /// The slot after this value and all its parts.
    pub(crate) fn next_slot(self) -> u32 {
        self.source.slot(self.at).next
    }

    pub(crate) fn kind(self) -> JsonKind {
        self.source.slot(self.at).kind
    }

    pub(crate) fn is_map(self) -> bool {
        self.kind() == JsonKind::Map
    }

    /// Its position.
    pub(crate) fn span(self) -> Span {
        let slot = self.source.slot(self.at);
        Span { start: slot.start, end: slot.end }
    }

    /// Its source text.
    pub(crate) fn raw(self) -> &'t str {
        let slot = self.source.slot(self.at);
        &self.source.text[slot.start as usize..slot.end as usize]
    }

    /// Its key, if it is part of a map.
    pub(crate) fn key(self) -> Option<Self> {
        self.source.slot(self.at).keyed.then(|| Self::new(self.source, self.at - 1))
    }

    /// Its text, without quotes and escapes; `None` if it is not a text.
    pub(crate) fn as_text(self) -> Option<Cow<'t, str>> {
        match self.kind() {
            JsonKind::Text => Some(Cow::Borrowed(self.inner())),
            JsonKind::EscapedText => Some(Cow::Owned(unescaped(self.inner()))),
            JsonKind::Null | JsonKind::True | JsonKind::False | JsonKind::Number | JsonKind::List | JsonKind::Map => {
                None
            }
        }
    }

    /// True if it is this text.
    pub(crate) fn is_text(self, text: &str) -> bool {
        match self.kind() {
            JsonKind::Text => self.inner() == text,
            JsonKind::EscapedText => unescaped(self.inner()) == text,
            JsonKind::Null | JsonKind::True | JsonKind::False | JsonKind::Number | JsonKind::List | JsonKind::Map => {
                false
            }
        }
    }

    pub(crate) fn as_bool(self) -> Option<bool> {
        match self.kind() {
            JsonKind::True => Some(true),
            JsonKind::False => Some(false),
            JsonKind::Null
            | JsonKind::Number
            | JsonKind::Text
            | JsonKind::EscapedText
            | JsonKind::List
            | JsonKind::Map => None,
        }
    }

    /// A whole number that is not negative.
    pub(crate) fn as_count(self) -> Option<u64> {
        if self.kind() == JsonKind::Number { self.raw().parse().ok() } else { None }
    }

    /// The items of a list; none when it is something else.
    pub(crate) fn items(self) -> Items<'t> {
        let end = if self.kind() == JsonKind::List { self.next_slot() } else { self.at + 1 };
        Items { source: self.source, at: self.at + 1, end }
    }

    /// The keys of a map with their values; none when it is something else.
    pub(crate) fn members(self) -> Members<'t> {
        let end = if self.is_map() { self.next_slot() } else { self.at + 1 };
        Members { source: self.source, at: self.at + 1, end }
    }

    /// True if it is a list or map without parts.
    pub(crate) fn is_empty(self) -> bool {
        matches!(self.kind(), JsonKind::List | JsonKind::Map) && self.next_slot() == self.at + 1
    }

    /// The value under a key; of several, the last, as in every common parser.
    pub(crate) fn get(self, key: &str) -> Option<Self> {
        self.members().filter(|(name, _)| name.is_text(key)).last().map(|(_, value)| value)
    }

    /// The same as a [`Value`].
    pub(crate) fn to_value(self) -> Value {
        match self.kind() {
            JsonKind::Null => Value::Null,
            JsonKind::True => Value::Bool(true),
            JsonKind::False => Value::Bool(false),
            // Numbers out of the range of a double have no value; null keeps the rest readable.
            JsonKind::Number => serde_json::from_str(self.raw()).unwrap_or(Value::Null),
            JsonKind::Text | JsonKind::EscapedText => Value::String(self.as_text().unwrap_or_default().into_owned()),
            JsonKind::List => Value::Array(self.items().map(Self::to_value).collect()),
            JsonKind::Map => {
                let text = |key: Self| key.as_text().unwrap_or_default().into_owned();
                Value::Object(self.members().map(|(key, value)| (text(key), value.to_value())).collect::<Map<_, _>>())
            }
        }
    }

    /// Its kind in words, for "expected …, found …".
    pub(crate) fn kind_name(self) -> &'static str {
        match self.kind() {
            JsonKind::Null => "null",
            JsonKind::True | JsonKind::False => "a boolean",
            JsonKind::Number => "a number",
            JsonKind::Text | JsonKind::EscapedText => "a string",
            JsonKind::List => "an array",
            JsonKind::Map => "an object",
        }
    }

    /// Characters it takes without white space between its parts.
    pub(crate) fn compact_len(self) -> usize {
        let slots = &self.source.slots[self.at as usize..self.next_slot() as usize];
        let scalars = slots.iter().filter(|slot| !matches!(slot.kind, JsonKind::List | JsonKind::Map));
        let scalars: usize = scalars.map(|slot| (slot.end - slot.start) as usize).sum();
        // Every part but the first of its list or map has a comma, every key a colon, every list and map two brackets;
        // of the comma that a first part has not, and the two brackets, one character is left.
        let keys = slots.iter().filter(|slot| slot.keyed).count();
        let parts = slots.len() - keys;
        let full = slots
            .windows(2)
            .filter(|pair| matches!(pair[0].kind, JsonKind::List | JsonKind::Map) && pair[1].start < pair[0].end);
        let containers = slots.iter().filter(|slot| matches!(slot.kind, JsonKind::List | JsonKind::Map)).count();
        scalars + keys + (parts - 1) + 2 * containers - full.count()
    }

    /// The JSON Pointer (RFC 6901) of a part, seen from here; empty when it is not a part.
    pub(crate) fn pointer_to(self, part: Self) -> String {
        let mut pointer = String::new();
        let mut here = self;
        while here.at < part.at && part.at < here.next_slot() {
            let found = match here.kind() {
                JsonKind::List => {
                    here.items().enumerate().find(|(_, item)| part.at < item.next_slot()).map(|(index, item)| {
                        pointer.push('/');
                        pointer.push_str(&index.to_string());
                        item
                    })
                }
                _ => here.members().find(|(_, value)| part.at < value.next_slot()).map(|(key, value)| {
                    push_key(&mut pointer, &key.as_text().unwrap_or_default());
                    value
                }),
            };
            let Some(found) = found else { break };
            here = found;
        }
        pointer
    }

    /// The part a JSON Pointer names, seen from here.
    pub(crate) fn pointed(self, pointer: &str) -> Option<Self> {
        let mut here = self;
        for step in pointer.split('/').skip(1) {
            here = if here.kind() == JsonKind::List {
                here.items().nth(step.parse().ok()?)?
            } else if step.contains('~') {
                here.get(&step.replace("~1", "/").replace("~0", "~"))?
            } else {
                here.get(step)?
            };
        }
        (pointer.is_empty() || pointer.starts_with('/')).then_some(here)
    }

    /// The source between the quotes of a text.
    fn inner(self) -> &'t str {
        let raw = self.raw();
        &raw[1..raw.len() - 1]
    }
}

impl PartialEq for Json<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.source, other.source) && self.at == other.at
    }
}

/// The items of a list.
#[derive(Clone, Debug)]
pub(crate) struct Items<'t> {
    source: &'t SpannedJson,
    at: u32,
    end: u32,
}

impl<'t> Iterator for Items<'t> {
    type Item = Json<'t>;

    fn next(&mut self) -> Option<Json<'t>> {
        if self.at >= self.end {
            return None;
        }
        let item = Json::new(self.source, self.at);
        self.at = item.next_slot();
        Some(item)
    }
}

/// The keys of a map with their values.
#[derive(Clone, Debug)]
pub(crate) struct Members<'t> {
    source: &'t SpannedJson,
    at: u32,
    end: u32,
}

impl<'t> Iterator for Members<'t> {
    type Item = (Json<'t>, Json<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let value = Json::new(self.source, self.at + 1);
        let key = Json::new(self.source, self.at);
        self.at = value.next_slot();
        Some((key, value))
    }
}

fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    for c in key.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// A text without its escapes; half of a surrogate pair becomes the replacement character.
fn unescaped(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let (c, length) = escape(&rest[at..]);
        text.push(c);
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    text
}

/// The character an escape stands for, and its length; the parser has checked its form.
fn escape(text: &str) -> (char, usize) {
    match text.as_bytes().get(1) {
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => {
            let unit = |at: usize| text.get(at..at + 4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
            let first = unit(2).unwrap_or_default();
            let second = text.get(6..8).filter(|head| *head == "\\u").and_then(|_| unit(8));
            let mut decoded = char::decode_utf16([first].into_iter().chain(second));
            match decoded.next() {
                Some(Ok(c)) => (c, if c.len_utf16() == 2 { 12 } else { 6 }),
                Some(Err(_)) | None => (char::REPLACEMENT_CHARACTER, 6),
            }
        }
        Some(byte) => (char::from(*byte), 2),
        None => (char::REPLACEMENT_CHARACTER, text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> SpannedJson {
        SpannedJson::parse(text).expect(text)
    }

    #[test]
    fn escapes_are_read() {
        let json = parsed(r#""a\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00\ud800x\ud800A""#);
        let text = json.at(0).as_text().expect("text");
        assert_eq!(text, "a\"\\/\u{8}\u{c}\n\r\tä😀\u{fffd}x\u{fffd}A");
    }

    #[test]
    fn keys_are_found_however_they_are_written_and_the_last_wins() {
        let json = parsed(r#"{"a": 1, "\u0061": 2, "b": {"a": 3}}"#);
        assert_eq!(json.at(0).get("a").map(Json::raw), Some("2"));
        assert_eq!(json.at(0).get("b").and_then(|b| b.get("a")).map(Json::raw), Some("3"));
        assert_eq!(json.at(0).get("c"), None);
        assert_eq!(json.at(0).get("a").and_then(Json::key).map(Json::raw), Some(r#""\u0061""#));
    }

    #[test]
    fn pointers_lead_there_and_back() {
        let json = parsed(r#"{"a/b": [0, {"~c": [1, 2]}], "": 3}"#);
        let root = json.at(0);
        for pointer in ["", "/a~1b", "/a~1b/0", "/a~1b/1/~0c/1", "/"] {
            let part = root.pointed(pointer).expect(pointer);
            assert_eq!(root.pointer_to(part), pointer);
        }
        assert_eq!(root.pointed("/a~1b/1/~0c/1").map(Json::raw), Some("2"));
        for wrong in ["/x", "/a~1b/9", "/a~1b/x", "a", "//"] {
            assert_eq!(root.pointed(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_compact_length_is_the_length_without_space() {
        for text in ["1", "[]", "{}", "[ 1 , [ ], 2 ]", r#"{ "a" : { "b" : [ 1, 2, {} ] }, "c": "x y" }"#] {
            let compact = serde_json::from_str::<Value>(text).expect(text).to_string();
            assert_eq!(parsed(text).at(0).compact_len(), compact.len(), "{text}");
        }
    }
}
