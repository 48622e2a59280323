//! Matchers: what is expected of the value a target leads to, one file each.

mod all_of;
mod any_of;
mod between;
mod bounds;
mod contains;
mod contains_all;
mod contains_any;
mod ends_with;
mod exact;
mod exists;
mod gt;
mod gte;
mod icontains;
mod is_json;
mod is_valid_tools_call;
mod length;
mod lt;
mod lte;
mod not;
mod one_of;
mod parts;
mod regex;
mod schema;
mod several;
mod snapshot;
mod starts_with;
mod subset;
mod text;

pub use regex::is_found_everywhere;

use std::fmt::Debug;
use std::sync::Arc;

use mcprove_model::{
    Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck, Snapshot, Span, StoredValues, nearest,
};
use serde_json::{Value, json};

use crate::excerpt;
use crate::target::Target;

/// What is expected of a value.
pub(crate) trait Matcher: Debug + Send + Sync {
    /// Says whether the value is as expected.
    fn judge(&self, value: &Value) -> Result<(), Mismatch>;

    /// Says whether the value is as expected, where that depends on what is stored.
    fn judge_with(&self, value: &Value, _stored: &StoredValues) -> Result<(), Mismatch> {
        self.judge(value)
    }

    /// Whether it depends on what is stored.
    fn wants_stored(&self) -> bool {
        false
    }

    /// What it would have stored of the value.
    fn to_store(&self, _value: &Value, _stored: &StoredValues) -> Vec<Snapshot> {
        Vec::new()
    }

    /// Whether a target that leads nowhere is as expected.
    fn accepts_missing(&self, _missing: Missing) -> bool {
        false
    }
}

/// How a target leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The one value it names is not there.
    TheOne,
    /// It may match any number of values and matches none; what counts or lists them sees an empty list.
    NoneOfSeveral,
}

/// A matcher as it was decoded.
pub(crate) type Decoded = Option<Arc<dyn Matcher>>;

/// One kind of matcher: its name in files, how it is decoded, and what it is for.
pub struct MatcherKind {
    /// The key in a `matcher` map.
    pub name: &'static str,
    /// One sentence for the documentation.
    pub summary: &'static str,
    decode: fn(&Node, &mut Diagnostics<'_>) -> Decoded,
    /// The JSON Schema of the value under the key.
    pub schema: fn() -> Value,
    /// What holds and what does not.
    pub examples: &'static [Example],
}

/// A value a matcher is given, a value it sees (both as JSON), and whether it holds.
#[derive(Debug)]
pub struct Example {
    /// What is written under the matcher's name.
    pub given: &'static str,
    /// What the target leads to.
    pub seen: &'static str,
    /// Whether it holds.
    pub holds: bool,
}

pub(crate) const fn holds(given: &'static str, seen: &'static str) -> Example {
    Example { given, seen, holds: true }
}

pub(crate) const fn fails(given: &'static str, seen: &'static str) -> Example {
    Example { given, seen, holds: false }
}

/// Every matcher, sorted by name.
pub const MATCHERS: &[MatcherKind] = &[
    all_of::KIND,
    any_of::KIND,
    between::KIND,
    contains::KIND,
    contains_all::KIND,
    contains_any::KIND,
    ends_with::KIND,
    exact::KIND,
    exists::KIND,
    gt::KIND,
    gte::KIND,
    icontains::KIND,
    is_json::KIND,
    is_valid_tools_call::KIND,
    length::KIND,
    lt::KIND,
    lte::KIND,
    not::KIND,
    one_of::KIND,
    regex::KIND,
    schema::KIND,
    snapshot::KIND,
    starts_with::KIND,
    subset::KIND,
];

/// Matchers of the tool whose files we run that are not ours, and the nearest thing we have.
const ELSEWHERE: &[(&str, &str)] = &[
    ("answer-relevance", "no language model judges here; state facts with `contains-all` or `regex`"),
    ("cel", "use `schema`, or the bounds `lt`, `lte`, `gt`, `gte` and `between`"),
    ("citation", "nothing is fetched here; compare addresses with `contains-all`"),
    ("context-faithfulness", "no language model judges here; state facts with `contains-all` or `regex`"),
    ("factuality", "no language model judges here; state facts with `contains-all` or `regex`"),
    ("is-sql", "use `regex`"),
    ("is-xml", "use `regex`"),
    ("levenshtein", "use `icontains` or `regex`"),
    ("llm-judge", "no language model judges here; state facts with `contains-all` or `regex`"),
    ("llm-jury", "no language model judges here; state facts with `contains-all` or `regex`"),
    ("similar", "use `icontains` or `regex`"),
];

const ASSERTION_KEYS: &[&str] = &["matcher", "message", "name", "target", "weight"];

/// Decodes a list of `{target, matcher, message, weight, name}`.
pub fn decode_assertions(list: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    found.list(list, "`expect`").iter().filter_map(|node| decode_assertion(node, found)).collect()
}

fn decode_assertion(node: &Node, found: &mut Diagnostics<'_>) -> Option<PlannedCheck> {
    let entries = found.map(node, "an assertion")?;
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    for entry in entries.iter().filter(|entry| !ASSERTION_KEYS.contains(&entry.key.text.as_str())) {
        match entry.key.text.as_str() {
            "assert-set" => {
                let help = "give each assertion a `weight`, and the test a `threshold`";
                found.error_with_help("unsupported-key", entry.key.span, "`assert-set` is not supported", help);
                return None;
            }
            "transform" => {
                let help = "a target looks at a part of the answer; `is-json` reads JSON in a text";
                found.error_with_help("unsupported-key", entry.key.span, "`transform` is not supported", help);
            }
            _ => found.unknown_key(&entry.key, "an assertion", ASSERTION_KEYS),
        }
    }
    let target = decode_target(node, place, found);
    let Some(matcher) = node.get("matcher") else {
        found.error_with_help("missing-key", place, "this assertion has no `matcher`", "say what to expect");
        return None;
    };
    let weight = node.get("weight").map_or(1.0, |weight| decode_weight(weight, found));
    let message = match node.get("message") {
        Some(message) => found.text(message, "`message`").map(str::to_owned),
        None => None,
    };
    let name = match node.get("name") {
        Some(name) => found.text(name, "`name`").map(str::to_owned),
        None => None,
    };
    let (kind, decoded) = decode_kind(matcher, found)?;
    let check = Expected { target: target?, matcher: decoded, name, message };
    Some(PlannedCheck { name: kind, span: matcher.span, weight, check: Arc::new(check) })
}

fn decode_target(node: &Node, place: Span, found: &mut Diagnostics<'_>) -> Option<Target> {
    let Some(target) = node.get("target") else {
        found.error_with_help("missing-key", place, "this assertion has no `target`", "say what to look at");
        return None;
    };
    match Target::parse(found.text(target, "`target`")?) {
        Ok(parsed) => Some(parsed),
        Err(message) => {
            let help = "write a path such as `result.content[0].text`, or an RFC 9535 path that begins with `$`";
            found.error_with_help("bad-target", target.span, message, help);
            None
        }
    }
}

fn decode_weight(node: &Node, found: &mut Diagnostics<'_>) -> f64 {
    let weight = node.as_number().and_then(serde_json::Number::as_f64).filter(|weight| *weight > 0.0);
    weight.unwrap_or_else(|| {
        found.wrong_kind(node, "`weight`", "a number above 0");
        1.0
    })
}

/// Decodes a map with exactly one matcher.
pub(crate) fn decode_matcher(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    decode_kind(node, found).map(|(_, matcher)| matcher)
}

/// Decodes a map with exactly one matcher, and says which it is.
fn decode_kind(node: &Node, found: &mut Diagnostics<'_>) -> Option<(&'static str, Arc<dyn Matcher>)> {
    let entries = found.map(node, "`matcher`")?;
    let [entry] = entries else {
        let text = format!("a matcher has exactly one key, found {}", entries.len());
        found.error_with_help("bad-matcher", node.span, text, "write for example `{ contains: text }`, or use `allOf`");
        return None;
    };
    if let Some(kind) = MATCHERS.iter().find(|kind| kind.name == entry.key.text) {
        return (kind.decode)(&entry.value, found).map(|matcher| (kind.name, matcher));
    }
    if let Some((name, instead)) = ELSEWHERE.iter().find(|(name, _)| *name == entry.key.text) {
        let message = format!("the matcher `{name}` is not supported");
        found.error_with_help("unsupported-matcher", entry.key.span, message, *instead);
        return None;
    }
    let names = MATCHERS.iter().map(|kind| kind.name);
    let help = match nearest(&entry.key.text, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known matchers: {}", names.collect::<Vec<_>>().join(", ")),
    };
    found.error_with_help("unknown-matcher", entry.key.span, format!("unknown matcher `{}`", entry.key.text), help);
    None
}

/// Decodes a list of matchers.
pub(crate) fn decode_matchers(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<Vec<Arc<dyn Matcher>>> {
    let items = items(node, what, found)?;
    let decoded: Vec<_> = items.iter().filter_map(|item| decode_matcher(item, found)).collect();
    (decoded.len() == items.len()).then_some(decoded)
}

/// The items of a list that must have some: without any it would always hold, or never.
pub(crate) fn items<'n>(node: &'n Node, what: &str, found: &mut Diagnostics<'_>) -> Option<&'n [Node]> {
    let items = found.list(node, what);
    if node.as_list().is_some_and(<[Node]>::is_empty) {
        found.error_with_help("bad-matcher", node.span, format!("{what} lists nothing"), "list at least one");
    }
    (!items.is_empty()).then_some(items)
}

/// The JSON Schema of a matcher: a map with one of the names.
pub fn matcher_schema() -> Value {
    let one = |kind: &MatcherKind| {
        let mut schema = (kind.schema)();
        if let Value::Object(map) = &mut schema {
            map.insert("description".to_owned(), json!(kind.summary));
        }
        json!({"type": "object", "required": [kind.name], "properties": {kind.name: schema}, "additionalProperties": false})
    };
    json!({"oneOf": MATCHERS.iter().map(one).collect::<Vec<_>>()})
}

/// The JSON Schema of a matcher inside another: its name is checked, what is under the name is not.
fn inner_schema() -> Value {
    let names: Vec<&str> = MATCHERS.iter().map(|kind| kind.name).collect();
    json!({"type": "object", "minProperties": 1, "maxProperties": 1, "propertyNames": {"enum": names}})
}

/// The JSON Schema of a list of `{target, matcher, message, weight, name}`.
pub fn assertions_schema() -> Value {
    json!({"type": "array", "items": {
        "type": "object",
        "required": ["target", "matcher"],
        "additionalProperties": false,
        "properties": {
            "target": {
                "type": "string",
                "minLength": 1,
                "description": "Where to look: `result.content[0].text`, or an RFC 9535 path that begins with `$`.",
            },
            "matcher": matcher_schema(),
            "message": {"type": "string", "description": "What to say when it does not hold."},
            "name": {"type": "string", "description": "What to call it when it does not hold."},
            "weight": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "How much it counts where a `threshold` is set; 1 when left out.",
            },
        },
    }})
}

/// A target, what is expected there, and what to say when it is not so.
#[derive(Debug)]
struct Expected {
    target: Target,
    matcher: Arc<dyn Matcher>,
    name: Option<String>,
    message: Option<String>,
}

impl Expected {
    fn missing(&self) -> Missing {
        if self.target.is_singular() { Missing::TheOne } else { Missing::NoneOfSeveral }
    }
}

impl Check for Expected {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let target = self.target.text();
        let judged = match self.target.look_up(seen) {
            Ok(value) => self.matcher.judge_with(&value, &seen.stored).map_err(|mut mismatch| {
                mismatch.message = format!("`{target}` {}", mismatch.message);
                mismatch
            }),
            Err(_) if self.matcher.accepts_missing(self.missing()) => Ok(()),
            Err(reason) => Err(Mismatch {
                message: format!("`{target}` leads nowhere: {reason}"),
                expected: format!("a value at `{target}`"),
                actual: "nothing".to_owned(),
                ..Mismatch::default()
            }),
        };
        judged.map_err(|mut mismatch| {
            if let Some(message) = &self.message {
                mismatch.message = format!("{message} ({})", mismatch.message);
            }
            if let Some(name) = &self.name {
                mismatch.message = format!("{name}: {}", mismatch.message);
            }
            mismatch
        })
    }

    fn wants_stored(&self) -> bool {
        self.matcher.wants_stored()
    }

    fn to_store(&self, seen: &Observation) -> Vec<Snapshot> {
        self.target.look_up(seen).map(|value| self.matcher.to_store(&value, &seen.stored)).unwrap_or_default()
    }

    fn wants_protocol_error(&self) -> bool {
        self.target.is_error()
    }

    fn judges_stop_reason(&self) -> bool {
        self.target.is_stop_reason()
    }
}

/// A mismatch that shows both sides as JSON.
pub(crate) fn mismatch(message: impl Into<String>, expected: impl Into<String>, actual: &Value) -> Mismatch {
    Mismatch {
        message: message.into(),
        expected: expected.into(),
        actual: excerpt::around(&shown(actual), 0..0),
        ..Mismatch::default()
    }
}

/// A value for people: text plain, the rest as JSON.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
