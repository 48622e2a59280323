//! Matchers: what is expected of the value a target leads to, one file each.
//!
//! Long because the table of all matchers is here.

mod all_of;
mod any_of;
mod assert_set;
mod between;
mod bounds;
pub(crate) mod cel;
mod contains;
mod contains_all;
mod contains_any;
mod difference;
mod ends_with;
mod exact;
mod exists;
pub mod graded;
mod gt;
mod gte;
mod icontains;
mod is_json;
mod is_sql;
mod is_valid_tools_call;
mod is_xml;
mod length;
mod levenshtein;
mod lt;
mod lte;
mod not;
mod one_of;
mod parts;
mod regex;
mod schema;
mod several;
mod similar;
mod snapshot;
mod starts_with;
mod subset;
mod text;
mod transform;

pub(crate) use assert_set::assertions_in;
pub use cel::is_true_of_everything;
pub use regex::is_found_everywhere;

use std::fmt::Debug;
use std::sync::Arc;

use mcprove_model::{
    Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck, Question, Snapshot, Span, StoredValues, nearest,
};
use serde_json::{Value, json};

use crate::excerpt;
use crate::jq::Program;
use crate::target::Target;

/// Expectation on a value.
pub(crate) trait Matcher: Debug + Send + Sync {
    /// Compares the value with the expectation.
    fn judge(&self, value: &Value) -> Result<(), Mismatch>;

    /// Compares the value with the expectation, where that depends on stored values.
    fn judge_with(&self, value: &Value, _stored: &StoredValues) -> Result<(), Mismatch> {
        self.judge(value)
    }

    /// The error that keeps it from judging a value: then it neither holds nor does not, and its opposite neither.
    fn unjudged(&self, _value: &Value, _stored: &StoredValues) -> Option<Mismatch> {
        None
    }

    /// True if it depends on what is stored.
    fn wants_stored(&self) -> bool {
        false
    }

    /// Snapshots that it would have stored of the value.
    fn to_store(&self, _value: &Value, _stored: &StoredValues) -> Vec<Snapshot> {
        Vec::new()
    }

    /// True if a language model decides it.
    fn is_graded(&self) -> bool {
        false
    }

    /// The questions to judges that it depends on.
    fn questions(&self, _value: &Value) -> Vec<Question> {
        Vec::new()
    }

    /// True if it may remark on a value that is as expected.
    fn makes_remarks(&self) -> bool {
        false
    }

    /// A remark on a value that is as expected, where it makes some.
    fn remark(&self, _value: &Value, _stored: &StoredValues) -> Option<String> {
        None
    }

    /// A name that targets of other assertions may begin with, and what it stands for.
    fn supplies(&self, _value: &Value, _stored: &StoredValues) -> Option<(&'static str, Value)> {
        None
    }

    /// True if a target that leads nowhere is as expected.
    fn accepts_missing(&self, _missing: Missing) -> bool {
        false
    }
}

/// Reason for a target that leads nowhere.
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
    /// Passing and failing examples.
    pub examples: &'static [Example],
}

/// The value of a matcher, the value at the target (both as JSON), and the expected result.
#[derive(Debug)]
pub struct Example {
    /// The value under the matcher's name.
    pub given: &'static str,
    /// The value at the target.
    pub seen: &'static str,
    /// True if it holds.
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
    graded::ANSWER_RELEVANCE,
    any_of::KIND,
    between::KIND,
    cel::KIND,
    contains::KIND,
    contains_all::KIND,
    contains_any::KIND,
    graded::CONTEXT_FAITHFULNESS,
    ends_with::KIND,
    exact::KIND,
    exists::KIND,
    graded::FACTUALITY,
    gt::KIND,
    gte::KIND,
    icontains::KIND,
    is_json::KIND,
    is_sql::KIND,
    is_valid_tools_call::KIND,
    is_xml::KIND,
    length::KIND,
    levenshtein::KIND,
    graded::LLM_JUDGE,
    graded::LLM_JURY,
    lt::KIND,
    lte::KIND,
    not::KIND,
    one_of::KIND,
    regex::KIND,
    schema::KIND,
    similar::KIND,
    snapshot::KIND,
    starts_with::KIND,
    subset::KIND,
];

/// Matchers of the tool whose files we run that are not ours, and the nearest thing we have.
const ELSEWHERE: &[(&str, &str)] = &[("citation", "nothing is fetched here; compare addresses with `contains-all`")];

const ASSERTION_KEYS: &[&str] = &["matcher", "message", "name", "target", "transform", "weight"];

/// Decodes a list of `{target, matcher, message, weight, name, transform}` and `{assert-set}`.
pub fn decode_assertions(list: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    found.list(list, "`expect`").iter().filter_map(|node| decode_item(node, found)).collect()
}

fn decode_item(node: &Node, found: &mut Diagnostics<'_>) -> Option<PlannedCheck> {
    match node.as_map() {
        Some([entry]) if entry.key.text == assert_set::KEY => assert_set::decode(entry, found),
        Some(_) | None => decode_assertion(node, found),
    }
}

fn decode_assertion(node: &Node, found: &mut Diagnostics<'_>) -> Option<PlannedCheck> {
    let entries = found.map(node, "an assertion")?;
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    for entry in entries.iter().filter(|entry| !ASSERTION_KEYS.contains(&entry.key.text.as_str())) {
        if entry.key.text == assert_set::KEY {
            let help = "write it as an item of its own: `- assert-set: {threshold: 1, assertions: […]}`";
            found.error_with_help("wrong-key", entry.key.span, "`assert-set` is an item, not a key", help);
        } else {
            found.unknown_key(&entry.key, "an assertion", ASSERTION_KEYS);
        }
    }
    let target = decode_target(node, place, found);
    let Some(matcher) = node.get("matcher") else {
        found.error_with_help("missing-key", place, "this assertion has no `matcher`", "say what to expect");
        return None;
    };
    let weight = node.get("weight").map_or(1.0, |weight| decode_weight(weight, found));
    let message = match node.get("message") {
        Some(message) => found.text(message, "`message`").map(Box::from),
        None => None,
    };
    let name = match node.get("name") {
        Some(name) => found.text(name, "`name`").map(Box::from),
        None => None,
    };
    let transform = match node.get("transform") {
        Some(transform) => Some(Box::new(transform::decode(transform, found)?)),
        None => None,
    };
    let (kind, decoded) = decode_kind(matcher, found)?;
    let check = Expected { target: target?, transform, matcher: decoded, name, message };
    Some(PlannedCheck { name: kind, span: matcher.span, weight, check: Arc::new(check) })
}

fn decode_target(node: &Node, place: Span, found: &mut Diagnostics<'_>) -> Option<Arc<Target>> {
    let Some(target) = node.get("target") else {
        found.error_with_help("missing-key", place, "this assertion has no `target`", "say what to look at");
        return None;
    };
    match Target::shared(found.text(target, "`target`")?) {
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
    // `not-contains` is `not: {contains: …}`.
    let negated = entry
        .key
        .text
        .strip_prefix("not-")
        .and_then(|name| MATCHERS.iter().find(|kind| kind.name == name && !graded::GRADED.contains(&name)));
    if let Some(kind) = negated {
        let matcher = (kind.decode)(&entry.value, found)?;
        return Some(("not", not::of(matcher, kind.name, &entry.value)));
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

/// True for the name of a matcher that a language model decides.
pub fn is_graded(name: &str) -> bool {
    graded::GRADED.contains(&name)
}

/// Decodes a matcher inside another, which facts alone decide.
pub(crate) fn decode_inner(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    let matcher = decode_matcher(node, found)?;
    if matcher.is_graded() {
        let message = "a model-graded matcher cannot be inside another";
        found.error_with_help("bad-matcher", node.span, message, "make it an assertion of its own");
        return None;
    }
    Some(matcher)
}

/// Decodes a list of matchers.
pub(crate) fn decode_matchers(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<Vec<Arc<dyn Matcher>>> {
    let items = items(node, what, found)?;
    let decoded: Vec<_> = items.iter().filter_map(|item| decode_inner(item, found)).collect();
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
    let names = factual_names();
    let negated = json!({
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "propertyNames": {"pattern": format!("^not-({})$", names.join("|"))},
        "description": "The matcher after `not-` does not hold.",
    });
    json!({"oneOf": MATCHERS.iter().map(one).chain([negated]).collect::<Vec<_>>()})
}

/// The names of the matchers that no language model decides.
fn factual_names() -> Vec<&'static str> {
    MATCHERS.iter().map(|kind| kind.name).filter(|name| !graded::GRADED.contains(name)).collect()
}

/// The JSON Schema of a matcher inside another: its name is checked, what is under the name is not.
fn inner_schema() -> Value {
    let names = factual_names();
    let pattern = format!("^(not-)?({})$", names.join("|"));
    json!({"type": "object", "minProperties": 1, "maxProperties": 1, "propertyNames": {"pattern": pattern}})
}

/// The JSON Schema of a list of `{target, matcher, message, weight, name, transform}` and `{assert-set}`.
pub fn assertions_schema() -> Value {
    let mut matcher = matcher_schema();
    matcher["description"] = "What is expected of the value: one matcher.".into();
    let assertion = json!({
        "type": "object",
        "required": ["target", "matcher"],
        "additionalProperties": false,
        "properties": {
            "target": {
                "type": "string",
                "minLength": 1,
                "description": "Where to look: `result.content[0].text`, or an RFC 9535 path that begins with `$`.",
            },
            "matcher": matcher,
            "message": {"type": "string", "description": "What to say when it does not hold."},
            "name": {"type": "string", "description": "What to call it when it does not hold, and in `derivedMetrics`."},
            "transform": transform::schema(),
            "weight": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "How much it counts where a `threshold` is set; 1 when left out.",
            },
        },
    });
    let set = assert_set::schema(&assertion);
    json!({"type": "array", "items": {"anyOf": [assertion, set]}})
}

/// A target, what is expected there, and what to say when it is not so. A large suite is mostly made of these, so they are
/// small.
#[derive(Debug)]
struct Expected {
    target: Arc<Target>,
    transform: Option<Box<Program>>,
    matcher: Arc<dyn Matcher>,
    name: Option<Box<str>>,
    message: Option<Box<str>>,
}

impl Expected {
    /// The value at the target as the matcher sees it.
    fn judge_value(&self, value: &Value, stored: &StoredValues) -> Result<(), Mismatch> {
        let Some(program) = &self.transform else { return self.matcher.judge_with(value, stored) };
        match program.run(value) {
            Ok(value) => self.matcher.judge_with(&value, stored),
            Err(reason) => {
                let message = format!("cannot be transformed: {reason}");
                Err(mismatch(message, format!("a value that `{}` takes", program.text()), value))
            }
        }
    }

    /// The value at the target, transformed; nothing where there is none.
    fn value(&self, seen: &Observation) -> Option<Value> {
        let value = self.target.look_up(seen).ok()?;
        match &self.transform {
            Some(program) => program.run(&value).ok(),
            None => Some(value.into_owned()),
        }
    }

    fn missing(&self) -> Missing {
        if self.target.is_singular() { Missing::TheOne } else { Missing::NoneOfSeveral }
    }
}

impl Check for Expected {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let target = self.target.text();
        let judged = match self.target.look_up(seen) {
            Ok(value) => self.judge_value(&value, &seen.stored).map_err(|mut mismatch| {
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

    fn remark(&self, seen: &Observation) -> Option<String> {
        // Most matchers make none, and the value is looked up for those that do.
        let value = self.matcher.makes_remarks().then(|| self.value(seen))??;
        Some(format!("`{}` is {}", self.target.text(), self.matcher.remark(&value, &seen.stored)?))
    }

    fn is_model_graded(&self) -> bool {
        self.matcher.is_graded() || self.target.root() == Some(graded::JURY)
    }

    fn questions(&self, seen: &Observation) -> Vec<Question> {
        self.value(seen).map(|value| self.matcher.questions(&value)).unwrap_or_default()
    }

    fn supplies(&self, seen: &Observation) -> Option<(&'static str, Value)> {
        self.matcher.supplies(&self.value(seen)?, &seen.stored)
    }

    fn label(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn wants_stored(&self) -> bool {
        self.matcher.wants_stored()
    }

    fn to_store(&self, seen: &Observation) -> Vec<Snapshot> {
        self.value(seen).map(|value| self.matcher.to_store(&value, &seen.stored)).unwrap_or_default()
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
