//! A reply as invariants look at it: did it work, which document, which records.

use mcprove_model::{Outcome, first_json, text_of_tool_result};
use serde_json::{Map, Value};

use crate::scan_verdict::error_as_success;
use crate::snapshot::{Masks, is_volatile};

/// The longest reply that may be nothing but an error message.
const SHORT: usize = 2_000;

/// Bytes of a text that are kept and compared; all replies of a sequence are in memory at a time.
const MOST_TEXT: usize = 256 << 10;

/// Values visited in one reply.
const VISITED: usize = 20_000;

/// A reply to a step.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is observed for itself")]
pub struct Reply {
    /// True for a result without an error.
    pub is_fine: bool,
    /// True if there was no usable reply: the server ended, did not answer, or broke the protocol.
    pub is_broken: bool,
    /// True if the server refuses calls for now: a rate limit, a lock.
    pub is_refusal: bool,
    /// True if it is a result whose text says that the call failed.
    pub(super) says_error: bool,
    /// The structured content, or the JSON that the text is.
    pub doc: Option<Value>,
    /// The text, or the message of the error; times and the like are masked.
    pub text: String,
    /// True if something in the text was masked.
    pub is_volatile: bool,
}

impl Reply {
    /// The view of an outcome.
    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Result(result) => Self::of_result(result),
            Outcome::Error(error) => Self::failed(&error.message, false),
            Outcome::Malformed(_) => Self::failed("malformed", true),
            Outcome::Refused(refused) => Self::failed(&refused.what, true),
            Outcome::Closed { .. } => Self::failed("closed", true),
            Outcome::TimedOut { .. } => Self::failed("timed out", true),
            Outcome::Cancelled => Self::failed("cancelled", true),
        }
    }

    /// The reply to a restart.
    pub fn restarted() -> Self {
        Self {
            is_fine: true,
            is_broken: false,
            is_refusal: false,
            says_error: false,
            doc: None,
            text: String::new(),
            is_volatile: false,
        }
    }

    fn failed(message: &str, is_broken: bool) -> Self {
        let is_refusal = !is_broken && is_refusal(beginning(message));
        Self {
            is_fine: false,
            is_broken,
            is_refusal,
            says_error: false,
            doc: None,
            text: masked(beginning(message)),
            is_volatile: false,
        }
    }

    fn of_result(result: &Value) -> Self {
        let raw = if result.get("content").is_some() || result.get("structuredContent").is_some() {
            text_of_tool_result(result)
        } else {
            result.to_string()
        };
        let is_fine = result.get("isError") != Some(&Value::Bool(true));
        let doc = match result.get("structuredContent") {
            Some(structured) if !structured.is_null() => Some(structured.clone()),
            Some(_) | None if result.get("content").is_some() => document_of(&raw),
            Some(_) | None => Some(result.clone()),
        };
        let is_refusal = !is_fine && is_refusal(&raw);
        let says_error = is_fine && raw.len() <= SHORT && error_as_success(result, &Value::Null).is_some();
        let kept = beginning(&raw);
        let is_volatile = is_volatile(kept);
        let text = if is_volatile { masked(kept) } else { kept.to_owned() };
        Self { is_fine, is_broken: false, is_refusal, says_error, doc, text, is_volatile }
    }

    /// True if it says that there is nothing: null, an empty list, map or text.
    pub fn is_nothing(&self) -> bool {
        match &self.doc {
            Some(Value::Null) => true,
            Some(Value::Array(items)) => items.is_empty(),
            Some(Value::Object(map)) => {
                let is_gone = |value: &Value| value.is_null() || is_empty(value);
                // Of several values, an empty text may be one that was written.
                let is_list = |value: &Value| is_gone(value) && !value.is_string();
                map.len() <= 1 && map.values().all(is_gone) || map.values().all(is_list)
            }
            Some(Value::String(text)) => text.trim().is_empty(),
            Some(Value::Bool(_) | Value::Number(_)) => false,
            None => self.text.trim().is_empty(),
        }
    }

    /// The objects of the document, the outermost first.
    pub(super) fn objects(&self) -> Vec<&Map<String, Value>> {
        let mut found = Vec::new();
        let mut open: Vec<&Value> = self.doc.iter().collect();
        let mut visited = 0;
        while let Some(value) = open.pop() {
            visited += 1;
            if visited > VISITED {
                break;
            }
            match value {
                Value::Object(map) => {
                    found.push(map);
                    open.extend(map.values().rev().filter(|value| value.is_object() || value.is_array()));
                }
                Value::Array(items) => open.extend(items.iter().rev()),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        found
    }

    /// The only or longest list of the document: the items of a list reply.
    pub fn items(&self) -> Option<&Vec<Value>> {
        match self.doc.as_ref()? {
            Value::Array(items) => Some(items),
            Value::Object(map) => map.values().filter_map(Value::as_array).max_by_key(|list| list.len()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    /// True if a text or a number of the reply is this key, or a name in a map is.
    pub fn mentions(&self, key: &str) -> bool {
        if key.is_empty() {
            return false;
        }
        let Some(doc) = &self.doc else { return has_word(&self.text, key) };
        let mut open = vec![doc];
        let mut visited = 0;
        while let Some(value) = open.pop() {
            visited += 1;
            if visited > VISITED {
                return false;
            }
            match value {
                Value::Object(map) => {
                    if map.contains_key(key) {
                        return true;
                    }
                    open.extend(map.values());
                }
                Value::Array(items) => open.extend(items),
                Value::String(text) => {
                    if text == key {
                        return true;
                    }
                }
                Value::Number(number) => {
                    if number.to_string() == key {
                        return true;
                    }
                }
                Value::Null | Value::Bool(_) => {}
            }
        }
        false
    }

    /// The number of records that have this key as their own.
    pub(super) fn records_of(&self, key: &str, names: &[String]) -> Vec<&Map<String, Value>> {
        let is_key = |value: &Value| super::key::text_of(value).as_deref() == Some(key);
        let objects = self.objects();
        objects.into_iter().filter(|map| names.iter().any(|name| map.get(name).is_some_and(is_key))).collect()
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn document_of(text: &str) -> Option<Value> {
    match first_json(text)? {
        found @ (Value::Object(_) | Value::Array(_) | Value::Null) => Some(found),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// True if an error says that the call may work later.
fn is_refusal(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "429",
        "is busy",
        "is locked",
        "quota",
        "rate limit",
        "rate-limit",
        "ratelimit",
        "retry after",
        "temporarily",
        "throttl",
        "too many requests",
        "try again",
    ];
    let text = text.to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

/// The part of a text that is kept.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_TEXT)]
}

fn masked(text: &str) -> String {
    Masks::default().apply(text)
}

/// True if a text has a key, not as a part of a longer word.
fn has_word(text: &str, key: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    text.match_indices(key).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + key.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
