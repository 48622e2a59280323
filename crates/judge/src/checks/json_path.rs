//! `json_path`: values at paths in the JSON of the result.

use std::borrow::Cow;

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use serde_json::{Map, Value, json};

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};
use crate::diff::{self, Sides};
use crate::excerpt::{self, head, quoted};
use crate::json_equality::{JsonEquality, compare};
use crate::json_path::{JsonPath, kind_of};

const NAME: &str = "json_path";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The JSON of the result has these values at these paths (RFC 9535, or short: `a.b[0]`). \
              A path that may match several nodes is compared as the list of them.",
    decode,
    schema,
    examples: &[
        holds(r#"{"$.a.b[0]": 1, "a.c": "x"}"#, Seen::Text(r#"{"a": {"b": [1], "c": "x"}}"#)),
        holds(r#"{"$.n": 1000000}"#, Seen::Text(r#"{"n": 1e6}"#)),
        holds(r#"{"n": "1", "t": "true"}"#, Seen::Text(r#"{"n": 1, "t": true}"#)),
        holds(r#"{"items[*].id": [1, 2]}"#, Seen::Text(r#"{"items": [{"id": 1}, {"id": 2}]}"#)),
        holds(r#"{"$": [1, {"b": null}]}"#, Seen::Text(r#"[1.0, {"b": null}]"#)),
        holds(r#"{"$.a": 1}"#, Seen::Result(r#"{"content": [], "structuredContent": {"a": 1}}"#)),
        holds(r#"{"$.a": 1}"#, Seen::Text("{\n \"a\": 1\n}\n\nhint: there is more")),
        fails(r#"{"$.a": 2}"#, Seen::Text(r#"{"a": 1}"#)),
        fails(r#"{"$.b": null}"#, Seen::Text(r#"{"a": 1}"#)),
        fails(r#"{"$.a": 1}"#, Seen::Text("no JSON")),
        fails(r#"{"items[*].id": 1}"#, Seen::Text(r#"{"items": [{"id": 1}]}"#)),
        fails(r#"{"$.n": 9007199254740993}"#, Seen::Text(r#"{"n": 9007199254740992}"#)),
    ],
};

#[derive(Debug)]
struct ValueAt {
    path: JsonPath,
    written: String,
    expected: Value,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let Some(entries) = node.as_map() else {
        let help = "write `json_path: {\"$.path\": value}`".to_owned();
        shape::wrong(found, node, NAME, "a map from paths to values", help);
        return Vec::new();
    };
    let mut checks = Vec::new();
    for entry in entries {
        match JsonPath::parse(&entry.key.text) {
            Ok(path) => {
                let check = ValueAt { path, written: entry.key.text.to_string(), expected: entry.value.to_json() };
                checks.push(shape::planned(NAME, entry.value.span, check));
            }
            Err(message) => {
                let help = "paths look like `$.items[0].name`, or `$.items[*].name` for all of them (RFC 9535)";
                found.error_with_help("bad-json-path", entry.key.span, message, help);
            }
        }
    }
    checks
}

fn schema() -> Value {
    json!({"type": "object"})
}

impl Check for ValueAt {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let Some(document) = seen.json() else { return Err(self.no_json(seen)) };
        let Some(actual) = self.find(document) else { return Err(self.missing(document, seen)) };
        match compare(&self.expected, &actual) {
            JsonEquality::Same | JsonEquality::Loose => Ok(()),
            JsonEquality::Different => Err(self.different(&actual)),
        }
    }

    fn remark(&self, seen: &Observation) -> Option<String> {
        let actual = self.find(seen.json()?)?;
        if compare(&self.expected, &actual) != JsonEquality::Loose {
            return None;
        }
        let how = format!("{} is {}, the file says {}", self.place(), typed(&actual), typed(&self.expected));
        Some(format!("{how}: taken as equal because their texts are"))
    }
}

impl ValueAt {
    /// The one node of a singular path, or the list of all that match.
    fn find<'v>(&self, document: &'v Value) -> Option<Cow<'v, Value>> {
        let mut nodes = self.path.query(document).into_iter();
        if self.path.is_singular() {
            nodes.next().map(Cow::Borrowed)
        } else {
            Some(Cow::Owned(nodes.cloned().collect()))
        }
    }

    fn place(&self) -> String {
        quoted(if self.written.trim().is_empty() { "$" } else { &self.written })
    }

    fn expected_text(&self) -> String {
        excerpt::around(&self.expected.to_string(), 0..0)
    }

    fn no_json(&self, seen: &Observation) -> Mismatch {
        Mismatch {
            message: format!("{} needs JSON: the text is not JSON and structuredContent is missing", self.place()),
            expected: self.expected_text(),
            actual: excerpt::of_text(seen, 0..0),
            ..Mismatch::default()
        }
    }

    fn missing(&self, document: &Value, seen: &Observation) -> Mismatch {
        let missing = self.path.missing_in(document);
        let (why, help) = missing.map_or((String::new(), None), |m| (format!(": {}", m.message), m.help));
        let structured = seen.structured.as_ref().filter(|structured| self.find(structured).is_some());
        let elsewhere = structured.map(|_| {
            format!(
                "`structuredContent` has {}, but the text is JSON too, and then the text is looked at",
                self.place()
            )
        });
        Mismatch {
            message: format!("{} is missing{why}", self.place()),
            expected: self.expected_text(),
            actual: excerpt::around(&document.to_string(), 0..0),
            diff: None,
            help: elsewhere.or(help),
        }
    }

    fn different(&self, actual: &Value) -> Mismatch {
        let (expected_text, actual_text) = (self.expected.to_string(), actual.to_string());
        let from = diff::common_prefix(&expected_text, &actual_text);
        let is_nested = |value: &Value| value.is_array() || value.is_object();
        let wants_list = !self.path.is_singular() && !self.expected.is_array();
        Mismatch {
            message: format!("{} is {}, not {}", self.place(), head(&actual_text, 60), head(&expected_text, 60)),
            expected: excerpt::around(&expected_text, from..from),
            actual: excerpt::around(&actual_text, from..from),
            diff: (is_nested(&self.expected) && is_nested(actual)).then(|| {
                diff::unified(
                    Sides { old: "expected", new: "actual" },
                    &sorted_lines(&self.expected),
                    &sorted_lines(actual),
                )
            }),
            help: wants_list.then(|| {
                format!(
                    "{} may match several nodes, so it is compared as a list: write [{}]",
                    self.place(),
                    head(&expected_text, 60)
                )
            }),
        }
    }
}

fn typed(value: &Value) -> String {
    let text = value.to_string();
    if value.is_null() { text } else { format!("{} {}", kind_of(value), head(&text, 60)) }
}

/// A value on several lines with its keys sorted, so that a diff shows no difference in order.
fn sorted_lines(value: &Value) -> String {
    let sorted = sorted(value);
    serde_json::to_string_pretty(&sorted).unwrap_or_else(|_| sorted.to_string())
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            Value::Object(entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{check, decoded, findings, mismatch, result, text};
    use super::*;

    #[test]
    fn each_path_is_a_check_in_written_order() {
        let checks = decoded(NAME, r#"{"$.z": 1, "$.a": 2}"#);
        let shown = format!("{checks:?}");
        assert_eq!(checks.len(), 2);
        assert!(shown.find("$.z") < shown.find("$.a"), "{shown}");
    }

    #[test]
    fn a_bad_path_is_a_finding() {
        let findings = findings(NAME, r#"{"$.a[": 1}"#);
        assert_eq!(findings[0].rule, "bad-json-path");
        assert_eq!(findings[0].message, "`$.a[` is not a JSON path: a `[` is not closed");
    }

    #[test]
    fn different_values_are_both_named() {
        let mismatch = mismatch(NAME, r#"{"$.a": 2}"#, &text(r#"{"a": 1}"#));
        assert_eq!(mismatch.message, "`$.a` is 1, not 2");
        assert_eq!((mismatch.expected.as_str(), mismatch.actual.as_str(), mismatch.diff), ("2", "1", None));
    }

    #[test]
    fn objects_are_shown_as_a_diff_without_noise_of_order() {
        let mismatch = mismatch(NAME, r#"{"$": {"b": 1, "a": 2}}"#, &text(r#"{"a": 2, "b": 3}"#));
        let diff = mismatch.diff.expect("a diff");
        assert!(diff.contains("-  \"b\": 1\n+  \"b\": 3") && diff.contains("   \"a\": 2"), "{diff}");
    }

    #[test]
    fn a_missing_key_is_told_with_what_is_there() {
        let mismatch = mismatch(NAME, r#"{"$.user.nme": 2}"#, &text(r#"{"user": {"name": 1}}"#));
        assert_eq!(mismatch.message, "`$.user.nme` is missing: `$.user` has no key `nme`; its keys are `name`");
        assert_eq!(mismatch.help.as_deref(), Some("did you mean `name`?"));
    }

    #[test]
    fn structured_content_is_pointed_at_when_the_text_hides_it() {
        let seen = result(json!({"content": [{"type": "text", "text": "[]"}], "structuredContent": {"a": 1}}));
        assert!(
            mismatch(NAME, r#"{"$.a": 1}"#, &seen).help.expect("help").starts_with("`structuredContent` has `$.a`")
        );
    }

    #[test]
    fn a_loose_equality_is_remarked_on() {
        let seen = text(r#"{"n": 1, "t": "x"}"#);
        let remark = check(NAME, r#"{"$.n": "1"}"#).remark(&seen).expect("a remark");
        assert!(remark.starts_with("`$.n` is a number 1, the file says text \"1\""), "{remark}");
        assert_eq!(check(NAME, r#"{"$.t": "x"}"#).remark(&seen), None);
        assert_eq!(check(NAME, r#"{"$.n": 1.0}"#).remark(&seen), None);
    }

    #[test]
    fn a_scalar_for_a_path_of_several_is_explained() {
        let mismatch = mismatch(NAME, r#"{"$[*]": 1}"#, &text("[1]"));
        assert!(mismatch.help.expect("help").ends_with("write [1]"));
    }
}
