//! Text to slots: RFC 8259, no extensions, without recursion.

use super::{JsonKind, Slot};

/// Maximum nesting of lists and maps; code that walks a tree may recurse that far.
const MAX_DEPTH: usize = 256;

/// Reason why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    /// The byte at which it stops being JSON.
    pub(crate) offset: usize,
    /// Description of the error.
    pub(crate) message: &'static str,
}

/// The slots of a text and which of them are documents.
pub(super) fn parse(text: &str) -> Result<(Vec<Slot>, Vec<u32>), ParseError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ParseError { offset: 0, message: "the text is longer than 4 GiB" });
    }
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    // Catalogs have a value or key about every twenty bytes.
    let slots = Vec::with_capacity(text.len() / 20);
    let mut parser = Parser { bytes: text.as_bytes(), at: start, slots, open: Vec::new() };
    let mut roots = Vec::new();
    parser.skip_space();
    while parser.at < parser.bytes.len() {
        roots.push(parser.here());
        parser.document()?;
        parser.skip_space();
    }
    Ok((parser.slots, roots))
}

struct Parser<'t> {
    bytes: &'t [u8],
    at: usize,
    slots: Vec<Slot>,
    /// The lists and maps that are not closed yet.
    open: Vec<u32>,
}

/// Offsets fit: the length of the text was checked.
#[expect(clippy::cast_possible_truncation, reason = "texts over 4 GiB are refused first")]
fn offset(at: usize) -> u32 {
    at as u32
}

impl Parser<'_> {
    /// The number of the next slot; there are fewer slots than bytes.
    fn here(&self) -> u32 {
        offset(self.slots.len())
    }

    fn document(&mut self) -> Result<(), ParseError> {
        self.value(false)?;
        // After a value: either the next part of what is open begins, or what is open ends.
        while let Some(&container) = self.open.last() {
            let map = self.slots[container as usize].kind == JsonKind::Map;
            let first = self.here() == container + 1;
            self.skip_space();
            match self.peek() {
                Some(b']') if !map => self.close(container),
                Some(b'}') if map => self.close(container),
                Some(b',') if !first => {
                    self.at += 1;
                    self.skip_space();
                    self.part(map)?;
                }
                _ if first => self.part(map)?,
                Some(_) if map => return Err(self.error("expected `,` or `}` here")),
                Some(_) => return Err(self.error("expected `,` or `]` here")),
                None => return Err(self.error("the text ends within a list or an object")),
            }
        }
        Ok(())
    }

    fn close(&mut self, container: u32) {
        self.at += 1;
        let (end, next) = (offset(self.at), self.here());
        let slot = &mut self.slots[container as usize];
        (slot.end, slot.next) = (end, next);
        self.open.pop();
    }

    /// An item of a list, or a key and its value.
    fn part(&mut self, map: bool) -> Result<(), ParseError> {
        if !map {
            return self.value(false);
        }
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a key in double quotes here"));
        }
        self.text(false)?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.error("expected `:` after the key"));
        }
        self.at += 1;
        self.skip_space();
        self.value(true)
    }

    /// A scalar, or the beginning of a list or map, which is then open.
    fn value(&mut self, keyed: bool) -> Result<(), ParseError> {
        match self.peek() {
            Some(b'"') => self.text(keyed),
            Some(b'{') => self.begin(JsonKind::Map, keyed),
            Some(b'[') => self.begin(JsonKind::List, keyed),
            Some(b'-' | b'0'..=b'9') => self.number(keyed),
            Some(b't') => self.word("true", JsonKind::True, keyed),
            Some(b'f') => self.word("false", JsonKind::False, keyed),
            Some(b'n') => self.word("null", JsonKind::Null, keyed),
            Some(_) => Err(self.error("expected a JSON value here")),
            None => Err(self.error("the text ends where a JSON value is expected")),
        }
    }

    fn begin(&mut self, kind: JsonKind, keyed: bool) -> Result<(), ParseError> {
        if self.open.len() == MAX_DEPTH {
            return Err(self.error("lists and objects are nested more than 256 levels deep"));
        }
        self.open.push(self.here());
        self.push(self.at, kind, keyed);
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, kind: JsonKind, keyed: bool) -> Result<(), ParseError> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.error("expected a JSON value here"));
        }
        let start = self.at;
        self.at += word.len();
        self.push(start, kind, keyed);
        Ok(())
    }

    fn number(&mut self, keyed: bool) -> Result<(), ParseError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        self.push(start, JsonKind::Number, keyed);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.error("expected a digit here")) } else { Ok(()) }
    }

    fn text(&mut self, keyed: bool) -> Result<(), ParseError> {
        let start = self.at;
        let mut kind = JsonKind::Text;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    self.push(start, kind, keyed);
                    return Ok(());
                }
                Some(b'\\') => {
                    kind = JsonKind::EscapedText;
                    self.escape()?;
                }
                Some(0..=0x1f) => return Err(self.error("unescaped control character in a string")),
                Some(_) => self.at += 1,
                None => return Err(self.error("the text ends within a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), ParseError> {
        let hex = |bytes: &[u8]| bytes.len() == 4 && bytes.iter().all(u8::is_ascii_hexdigit);
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') if self.bytes.get(self.at + 2..self.at + 6).is_some_and(hex) => self.at += 6,
            _ => return Err(self.error("this is not an escape of JSON")),
        }
        Ok(())
    }

    fn push(&mut self, start: usize, kind: JsonKind, keyed: bool) {
        let next = self.here() + 1;
        self.slots.push(Slot { start: offset(start), end: offset(self.at), next, kind, keyed });
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn error(&self, message: &'static str) -> ParseError {
        ParseError { offset: self.at, message }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::spanned_json::{Json, SpannedJson};

    #[test]
    fn what_is_not_json_is_refused_where_it_stops_being_json() {
        for (text, offset, message) in [
            ("{\"a\":1", 6, "the text ends within a list or an object"),
            ("[1 2]", 3, "expected `,` or `]` here"),
            ("{\"a\" 1}", 5, "expected `:` after the key"),
            ("{\"a\":1 \"b\"}", 7, "expected `,` or `}` here"),
            ("[1,]", 3, "expected a JSON value here"),
            ("{\"a\":1,}", 7, "expected a key in double quotes here"),
            ("[,]", 1, "expected a JSON value here"),
            ("{,}", 1, "expected a key in double quotes here"),
            ("[}", 1, "expected a JSON value here"),
            ("nul", 0, "expected a JSON value here"),
            ("-", 1, "expected a digit here"),
            ("1.", 2, "expected a digit here"),
            ("\"a\nb\"", 2, "unescaped control character in a string"),
            ("\"\\x\"", 1, "this is not an escape of JSON"),
            ("\"\\u12g4\"", 1, "this is not an escape of JSON"),
            ("\"abc", 4, "the text ends within a string"),
            ("<html>", 0, "expected a JSON value here"),
        ] {
            let (_, error) = SpannedJson::parse(text).expect_err(text);
            assert_eq!((error.offset, error.message), (offset, message), "{text}");
        }
        let deep = "[".repeat(MAX_DEPTH + 1);
        assert_eq!(SpannedJson::parse(deep).expect_err("deep").1.offset, MAX_DEPTH);
        assert!(SpannedJson::parse("[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH)).is_ok());
    }

    #[test]
    fn documents_may_follow_each_other() {
        let json = SpannedJson::parse("\u{feff} {\"a\":1}\n[2]\n3").expect("JSON lines");
        let values: Vec<Value> = json.roots().map(Json::to_value).collect();
        assert_eq!(values, [serde_json::json!({"a": 1}), serde_json::json!([2]), serde_json::json!(3)]);
        assert_eq!(SpannedJson::parse("  ").expect("nothing").roots().len(), 0);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        scalar.prop_recursive(5, 60, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_reads_back(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let text = text.expect("values serialise");
            let json = SpannedJson::parse(text.clone()).expect("JSON");
            let root = json.roots().next().expect("one document");
            prop_assert_eq!(root.raw(), text);
            // Reading the same text twice avoids the rounding of numbers in question.
            prop_assert_eq!(root.to_value(), serde_json::from_str::<Value>(json.text()).expect("JSON"));
        }

        #[test]
        fn any_text_is_judged_as_serde_judges_it(text in "[\\[\\]{}\",:0-9a\\\\ntrufalse.eE+\\- ]{0,12}") {
            let ours = SpannedJson::parse(text.clone()).is_ok();
            let theirs = serde_json::Deserializer::from_str(&text).into_iter::<Value>().all(|value| value.is_ok());
            // Adjacent documents without space (`1"a"`) are accepted here and refused there.
            if theirs {
                prop_assert!(ours, "{}", text);
            }
            if serde_json::from_str::<Value>(&text).is_ok() {
                prop_assert_eq!(SpannedJson::parse(text).expect("JSON").roots().len(), 1);
            }
        }
    }
}
