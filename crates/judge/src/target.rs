//! Targets: where in an answer a matcher looks.
//!
//! `result.content[0].text`, `a["weird key"]`, `.length` of a list; a target that begins with `$` is an RFC 9535 path.
//! A target that leads nowhere is reported with the missing segment and the alternatives there; it is never null.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use mcprove_model::{Observation, Outcome, member_of, nearest};
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::json_path::JsonPath;

/// A target, ready to be looked up.
#[derive(Clone, Debug)]
pub struct Target {
    text: SmolStr,
    way: Way,
}

/// Number of targets that are kept to be shared.
const RECENT: usize = 8;

thread_local! {
    /// The targets that were last read: the tests of a suite look at the same few places.
    static SHARED: RefCell<Vec<Arc<Target>>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone, Debug)]
enum Way {
    Segments(Box<[Segment]>),
    Path(JsonPath),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Key(SmolStr),
    Index(usize),
    Length,
}

impl Segment {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Index(_) | Self::Length => None,
        }
    }
}

impl Target {
    /// Reads a target; the error is a message for the author.
    pub fn parse(text: &str) -> Result<Self, String> {
        let way = if text.starts_with('$') {
            Way::Path(JsonPath::parse(text)?)
        } else {
            Way::Segments(segments(text)?.into())
        };
        Ok(Self { text: text.into(), way })
    }

    /// Reads a target that others may have, too.
    pub(crate) fn shared(text: &str) -> Result<Arc<Self>, String> {
        SHARED.with_borrow_mut(|recent| {
            if let Some(target) = recent.iter().find(|target| target.text == text) {
                return Ok(Arc::clone(target));
            }
            let target = Arc::new(Self::parse(text)?);
            if recent.len() == RECENT {
                recent.remove(0);
            }
            recent.push(Arc::clone(&target));
            Ok(target)
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if it speaks of a JSON-RPC error.
    pub fn is_error(&self) -> bool {
        match self.root() {
            Some("result") => self.leading_keys().nth(1) == Some("error"),
            root => root == Some("error"),
        }
    }

    /// True if it speaks of why the run of an agent ended.
    pub fn is_stop_reason(&self) -> bool {
        self.root() == Some("conversation") && self.leading_keys().eq(["conversation", "stop_reason"])
    }

    /// The name it begins with; a path need not begin with one.
    pub(crate) fn root(&self) -> Option<&str> {
        self.leading_keys().next()
    }

    /// The keys it begins with, up to the first step that is not one key.
    fn leading_keys(&self) -> impl Iterator<Item = &str> {
        let (segments, path) = match &self.way {
            Way::Segments(segments) => (&segments[..], None),
            Way::Path(path) => (&[][..], Some(path)),
        };
        segments.iter().map_while(Segment::key).chain(path.into_iter().flat_map(JsonPath::leading_keys))
    }

    /// True if it leads to one value at most; otherwise it leads to the list of all that it matches.
    pub(crate) fn is_singular(&self) -> bool {
        match &self.way {
            Way::Segments(_) => true,
            Way::Path(path) => path.is_singular(),
        }
    }

    /// The value at the target, or the reason why it leads nowhere.
    pub fn look_up<'s>(&self, seen: &'s Observation) -> Result<Cow<'s, Value>, String> {
        match &self.way {
            Way::Segments(segments) => match segments.split_first() {
                Some((Segment::Key(root), rest)) => match root_of(root, seen) {
                    Some(Cow::Borrowed(value)) => walk(value, root, rest),
                    Some(Cow::Owned(value)) => walk(&value, root, rest).map(|found| Cow::Owned(found.into_owned())),
                    None => Err(format!("there is no `{root}` here")),
                },
                Some((Segment::Index(_) | Segment::Length, _)) | None => Err("a target begins with a name".to_owned()),
            },
            Way::Path(path) => {
                let envelope = envelope(seen);
                let found = path.query(&envelope);
                match (found.as_slice(), path.is_singular()) {
                    ([], _) => Err(format!("`{}` matches nothing", self.text)),
                    ([one], true) => Ok(Cow::Owned((*one).clone())),
                    (many, _) => Ok(Cow::Owned(Value::Array(many.iter().map(|value| (*value).clone()).collect()))),
                }
            }
        }
    }
}

/// The value a name at the beginning of a target stands for.
fn root_of<'s>(name: &str, seen: &'s Observation) -> Option<Cow<'s, Value>> {
    match (name, &seen.outcome) {
        ("result", Outcome::Result(result)) => Some(Cow::Borrowed(result)),
        ("result", Outcome::Error(error)) => Some(Cow::Owned(json!({"jsonrpc": "2.0", "error": error}))),
        ("error", Outcome::Result(_)) if seen.extra.get("error").is_none() => Some(Cow::Owned(Value::Null)),
        ("error", Outcome::Error(error)) => Some(Cow::Owned(json!(error))),
        (name, _) => seen.extra.get(name).map(Cow::Borrowed),
    }
}

/// Everything a path can look into.
fn envelope(seen: &Observation) -> Value {
    let mut envelope = match &seen.extra {
        Value::Object(extra) => extra.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => serde_json::Map::new(),
    };
    for name in ["result", "error"] {
        if let Some(value) = root_of(name, seen) {
            envelope.insert(name.to_owned(), value.into_owned());
        }
    }
    Value::Object(envelope)
}

fn walk<'v>(start: &'v Value, root: &str, segments: &[Segment]) -> Result<Cow<'v, Value>, String> {
    let mut value = start;
    for (at, segment) in segments.iter().enumerate() {
        let next = match segment {
            Segment::Key(key) => member_of(value, key),
            Segment::Index(index) => value.get(*index),
            Segment::Length => match value {
                Value::Array(items) => return Ok(Cow::Owned(json!(items.len()))),
                Value::Object(_) => value.get("length"),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            },
        };
        let Some(next) = next else {
            let way: String = segments[..at].iter().map(shown).collect();
            return Err(missing(&format!("{root}{way}"), segment, value));
        };
        value = next;
    }
    Ok(Cow::Borrowed(value))
}

fn missing(way: &str, segment: &Segment, value: &Value) -> String {
    let there = match value {
        Value::Object(map) if map.is_empty() => "an empty object".to_owned(),
        Value::Object(map) => {
            let keys: Vec<&str> = map.keys().map(String::as_str).collect();
            let near = match segment {
                Segment::Key(key) => nearest(key, keys.iter().copied()).map(|near| format!("; did you mean `{near}`?")),
                Segment::Index(_) | Segment::Length => None,
            };
            format!("an object with {}{}", keys.join(", "), near.unwrap_or_default())
        }
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::String(_) => "a text".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Null => "null".to_owned(),
    };
    format!("`{way}` has no `{}`: it is {there}", shown(segment).trim_start_matches('.'))
}

fn shown(segment: &Segment) -> String {
    match segment {
        Segment::Key(key) if key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')) => format!(".{key}"),
        Segment::Key(key) => format!("[{key:?}]"),
        Segment::Index(index) => format!("[{index}]"),
        Segment::Length => ".length".to_owned(),
    }
}

fn segments(text: &str) -> Result<Vec<Segment>, String> {
    let mut segments = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (segment, after) =
                bracket(inside).ok_or_else(|| format!("`{text}` has a bracket that is not closed"))?;
            segments.push(segment?);
            rest = after;
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let (key, after) = name.split_at(end);
            if key.is_empty() {
                return Err(format!("`{text}` has an empty segment"));
            }
            segments.push(if key == "length" && after.is_empty() && !segments.is_empty() {
                Segment::Length
            } else {
                Segment::Key(key.into())
            });
            rest = after;
        }
    }
    match segments.first() {
        Some(Segment::Key(_)) => Ok(segments),
        Some(Segment::Index(_) | Segment::Length) | None => {
            Err(format!("`{text}` must begin with a name such as `result`"))
        }
    }
}

/// A segment in brackets, and what follows it.
fn bracket(inside: &str) -> Option<(Result<Segment, String>, &str)> {
    for quote in ['"', '\''] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let end = quoted.find(quote)?;
            let after = quoted[end + 1..].strip_prefix(']')?;
            return Some((Ok(Segment::Key(quoted[..end].into())), after));
        }
    }
    let (index, after) = inside.split_once(']')?;
    let segment = index.trim().parse().map(Segment::Index);
    Some((segment.map_err(|_| format!("`[{index}]` is neither a number nor a quoted name")), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(target: &str, result: Value) -> Result<Value, String> {
        let seen = Observation::new(Outcome::Result(result), "");
        Target::parse(target).expect(target).look_up(&seen).map(Cow::into_owned)
    }

    #[test]
    fn targets_lead_to_values() {
        let result = json!({"content": [{"text": "hi"}, {"text": "ho"}], "a b": {"length": 3}, "list": [1, 2, 3]});
        assert_eq!(look("result.content[1].text", result.clone()), Ok(json!("ho")));
        assert_eq!(look("result.list.length", result.clone()), Ok(json!(3)));
        assert_eq!(look("result[\"a b\"].length", result.clone()), Ok(json!(3)));
        assert_eq!(look("$.result.content[*].text", result.clone()), Ok(json!(["hi", "ho"])));
        assert_eq!(look("result", result.clone()), Ok(result));
    }

    #[test]
    fn the_same_target_is_kept_once() {
        let read = |text: &str| Target::shared(text).expect(text);
        let first = read("result.content");
        assert!(Arc::ptr_eq(&first, &read("result.content")));
        for number in 0..RECENT {
            assert_eq!(read(&format!("result.list[{number}]")).text(), format!("result.list[{number}]"));
        }
        assert!(!Arc::ptr_eq(&first, &read("result.content")), "only the last ones are kept");
        assert!(Target::shared("a..b").is_err());
    }

    #[test]
    fn a_target_that_leads_nowhere_says_where_it_ends() {
        let result = json!({"content": [{"text": "hi"}], "isError": false});
        let told = look("result.contnt[0]", result.clone()).expect_err("missing");
        assert!(told.contains("`result` has no `contnt`") && told.contains("did you mean `content`"), "{told}");
        assert!(look("result.content[3]", result.clone()).expect_err("missing").contains("a list of 1"));
        assert!(look("result.isError.x", result).expect_err("missing").contains("a boolean"));
        assert!(look("fuzz.crashes", json!({})).expect_err("missing").contains("no `fuzz`"));
    }

    #[test]
    fn bad_targets_are_told() {
        for bad in ["", ".", "a..b", "[0]", "a[", "a[x]", "$.["] {
            assert!(Target::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_a_target_speaks_of_is_seen_by_its_keys() {
        for (text, is_error, is_stop_reason) in [
            ("result.error", true, false),
            ("result['error'].code", true, false),
            ("$.result.error.code", true, false),
            ("$['result']['error']['code']", true, false),
            ("$ .result .error", true, false),
            ("$.result.error.data[*].x", true, false),
            ("result.error_count", false, false),
            ("$.result.error_count", false, false),
            ("$.result", false, false),
            ("$..result.error", false, false),
            ("$.result.*.error", false, false),
            ("conversation.stop_reason", false, true),
            ("$.conversation.stop_reason", false, true),
            ("$['conversation']['stop_reason']", false, true),
            ("$.conversation.stop_reasons", false, false),
            ("$.conversation.stop_reason.x", false, false),
        ] {
            let target = Target::parse(text).expect(text);
            assert_eq!((target.is_error(), target.is_stop_reason()), (is_error, is_stop_reason), "{text}");
        }
    }

    #[test]
    fn errors_are_targets_too() {
        let error = mcprove_model::RpcError { code: -32602, message: "no".to_owned(), data: None };
        let seen = Observation::new(Outcome::Error(error), "");
        let target = Target::parse("result.error.code").expect("fine");
        assert!(target.is_error());
        assert_eq!(target.look_up(&seen).map(Cow::into_owned), Ok(json!(-32602)));
        for (text, value) in [("error.code", json!(-32602)), ("$.error.message", json!("no"))] {
            let target = Target::parse(text).expect("fine");
            assert!(target.is_error(), "{text}");
            assert_eq!(target.look_up(&seen).map(Cow::into_owned), Ok(value), "{text}");
        }
        assert_eq!(look("error", json!({"content": []})), Ok(Value::Null));
    }
}
