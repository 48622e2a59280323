//! A walk through a reply that collects deviations with their places.

use mcprove_model::{json_kind, member};
use serde_json::{Map, Value};

use super::ShapeFault;

/// More deviations than this are not reported.
const MOST: usize = 20;

/// The official clients that refuse a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clients {
    Both,
    TypeScript,
    Python,
    Neither,
}

impl Clients {
    fn name(self) -> &'static str {
        match self {
            Self::Both => "the TypeScript and Python SDK clients",
            Self::TypeScript => "the TypeScript SDK client",
            Self::Python => "the Python SDK client",
            Self::Neither => "",
        }
    }
}

/// The deviations found so far, and the current place.
#[derive(Debug)]
pub(super) struct Walk {
    /// True since 2026-07-28, where schemas and structured content may be of any kind.
    pub(super) modern: bool,
    pointer: String,
    faults: Vec<ShapeFault>,
}

impl Walk {
    pub(super) fn new(modern: bool) -> Self {
        Self { modern, pointer: String::new(), faults: Vec::new() }
    }

    pub(super) fn into_faults(self) -> Vec<ShapeFault> {
        self.faults
    }

    /// Reports a deviation at the current place; `what` follows the place.
    pub(super) fn fault(&mut self, what: &str, clients: Clients) {
        if self.faults.len() < MOST {
            let place = if self.pointer.is_empty() { "the result".to_owned() } else { format!("`{}`", self.pointer) };
            let message = format!("{place} {what}");
            self.faults.push(ShapeFault { pointer: self.pointer.clone(), message, refused_by: clients.name() });
        }
    }

    fn wrong(&mut self, wanted: &str, found: &Value, clients: Clients) {
        self.fault(&format!("must be {wanted}, found {}", json_kind(found)), clients);
    }

    /// The members of an object.
    pub(super) fn object<'v>(&mut self, value: &'v Value, clients: Clients) -> Option<&'v Map<String, Value>> {
        if value.as_object().is_none() {
            self.wrong("an object", value, clients);
        }
        value.as_object()
    }

    /// Visits the items of a list.
    pub(super) fn each(&mut self, value: &Value, visit: fn(&mut Self, &Value)) {
        let Some(items) = value.as_array() else {
            self.wrong("a list", value, Clients::Both);
            return;
        };
        for (index, item) in items.iter().enumerate() {
            self.at(&index.to_string(), |walk| visit(walk, item));
        }
    }

    /// Visits a member that must be there.
    pub(super) fn required(
        &mut self,
        map: &Map<String, Value>,
        key: &str,
        absent: Clients,
        visit: impl FnOnce(&mut Self, &Value),
    ) {
        match member(map, key) {
            Some(value) => self.at(key, |walk| visit(walk, value)),
            None => self.fault(&format!("has no `{key}`"), absent),
        }
    }

    /// Visits a member that may be absent; pydantic takes null for an absent one, zod does not.
    pub(super) fn optional(&mut self, map: &Map<String, Value>, key: &str, visit: impl FnOnce(&mut Self, &Value)) {
        match member(map, key) {
            Some(Value::Null) => self.at(key, |walk| walk.fault("must not be null: leave it out", Clients::TypeScript)),
            Some(value) => self.at(key, |walk| visit(walk, value)),
            None => {}
        }
    }

    pub(super) fn text(&mut self, value: &Value) {
        if !value.is_string() {
            self.wrong("a string", value, Clients::Both);
        }
    }

    pub(super) fn required_text(&mut self, map: &Map<String, Value>, key: &str) {
        self.required(map, key, Clients::Both, Self::text);
    }

    pub(super) fn optional_text(&mut self, map: &Map<String, Value>, key: &str) {
        self.optional(map, key, Self::text);
    }

    /// An absolute URI. Newer clients take any string; the protocol does not.
    pub(super) fn uri(&mut self, map: &Map<String, Value>, key: &str) {
        self.required(map, key, Clients::Both, |walk, value| {
            walk.text(value);
            if let Some(text) = value.as_str().filter(|text| !has_scheme(text)) {
                walk.fault(&format!("is not a URI: {:?}", mcprove_model::shorten(text, 60)), Clients::Neither);
            }
        });
    }

    /// Base64, as JavaScript's `atob` reads it.
    pub(super) fn base64(&mut self, value: &Value) {
        self.text(value);
        if value.as_str().is_some_and(|text| !is_base64(text)) {
            self.fault("is not Base64", Clients::TypeScript);
        }
    }

    pub(super) fn optional_flag(&mut self, map: &Map<String, Value>, key: &str) {
        self.optional(map, key, Self::flag);
    }

    /// A flag that pydantic declares without null.
    pub(super) fn flag_never_null(&mut self, map: &Map<String, Value>, key: &str) {
        if let Some(value) = member(map, key) {
            self.at(key, |walk| walk.flag(value));
        }
    }

    /// A flag; pydantic turns some numbers and strings into one.
    fn flag(&mut self, value: &Value) {
        let is_coerced = match value {
            Value::Bool(_) => return,
            Value::Number(number) => matches!(number.as_i64(), Some(0 | 1)),
            Value::String(text) => {
                let words = ["0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"];
                words.contains(&text.to_ascii_lowercase().as_str())
            }
            Value::Null | Value::Array(_) | Value::Object(_) => false,
        };
        self.wrong("true or false", value, if is_coerced { Clients::TypeScript } else { Clients::Both });
    }

    /// A number; pydantic reads one in a string, too.
    pub(super) fn number(&mut self, value: &Value) {
        let is_coerced = value.as_str().is_some_and(|text| text.trim().parse::<f64>().is_ok());
        if !value.is_number() {
            self.wrong("a number", value, if is_coerced { Clients::TypeScript } else { Clients::Both });
        }
    }

    /// A whole number.
    pub(super) fn integer(&mut self, value: &Value) {
        self.number(value);
        if value.as_f64().is_some_and(|number| number.fract() != 0.0) {
            self.fault("must be a whole number", Clients::Both);
        }
    }

    /// Visits the value at a deeper place.
    pub(super) fn at(&mut self, token: &str, visit: impl FnOnce(&mut Self)) {
        if self.faults.len() >= MOST {
            return;
        }
        let before = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(token);
        visit(self);
        self.pointer.truncate(before);
    }
}

/// RFC 3986: a letter, then letters, digits, `+`, `-` and `.`, then a colon.
fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// "Forgiving" Base64 of the web platform: white space and missing padding are fine.
fn is_base64(text: &str) -> bool {
    let bytes: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = if bytes.len().is_multiple_of(4) {
        bytes.strip_suffix(b"==").or_else(|| bytes.strip_suffix(b"=")).unwrap_or(&bytes)
    } else {
        &bytes
    };
    bytes.len() % 4 != 1 && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// RFC 3339 with a zone, as zod reads it; seconds may be left out.
pub(super) fn is_date_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |at: std::ops::Range<usize>| bytes.get(at).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let date = digits(0..4) && bytes.get(4) == Some(&b'-') && digits(5..7) && bytes.get(7) == Some(&b'-');
    let minutes = digits(8..10) && bytes.get(10) == Some(&b'T') && digits(11..13) && bytes.get(13) == Some(&b':');
    if !(date && minutes && digits(14..16)) {
        return false;
    }
    let rest = &text[16..];
    let zone =
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':' && !rest.starts_with(['+', '-']) || c == '.');
    match zone.as_bytes() {
        [b'Z'] => true,
        [b'+' | b'-', a, b, b':', c, d] => [a, b, c, d].iter().all(|digit| digit.is_ascii_digit()),
        _ => false,
    }
}
