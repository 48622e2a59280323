//! `args_contain`: a tool was called with these arguments, perhaps among others.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck, TracedCall};
use serde_json::{Value, json};

use super::{NONE, times, tool_schema, tools_of};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};
use crate::excerpt::{self, head, quoted};
use crate::json_equality::{JsonEquality, compare};

const NAME: &str = "args_contain";

/// Differences that are listed.
const LISTED: usize = 5;

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "Some call of this tool has these arguments; it may have others, at every depth.",
    decode,
    schema,
    examples: &[
        holds(
            r#"{"type": "args_contain", "tool": "edit", "args": {"line": 6}}"#,
            Seen::Trace(r#"[{"tool": "edit", "args": {"line": 6.0, "text": "x"}}]"#),
        ),
        holds(
            r#"{"type": "args_contain", "tool": "edit", "args": {"at": {"line": "6"}}}"#,
            Seen::Trace(
                r#"[{"tool": "edit", "args": {}}, {"tool": "edit", "args": {"at": {"line": 6, "column": 1}}}]"#,
            ),
        ),
        holds(
            r#"{"type": "args_contain", "tool": "edit", "args": {"edits": [{"line": 1}]}}"#,
            Seen::Trace(r#"[{"tool": "edit", "args": {"edits": [{"line": 1, "text": "x"}]}}]"#),
        ),
        fails(
            r#"{"type": "args_contain", "tool": "edit", "args": {"line": 6, "text": "y"}}"#,
            Seen::Trace(r#"[{"tool": "edit", "args": {"line": 6}}, {"tool": "edit", "args": {"text": "y"}}]"#),
        ),
        fails(
            r#"{"type": "args_contain", "tool": "edit", "args": {"lines": [1]}}"#,
            Seen::Trace(r#"[{"tool": "edit", "args": {"lines": [1, 2]}}]"#),
        ),
        fails(
            r#"{"type": "args_contain", "tool": "edit", "args": {"line": 6}}"#,
            Seen::Trace(r#"[{"tool": "read", "args": {"line": 6}}]"#),
        ),
    ],
};

#[derive(Debug)]
struct ArgsContain {
    tool: String,
    args: Value,
}

fn decode(item: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    found.known_keys(item, "`args_contain`", &["type", "tool", "args"]);
    let tool = super::required(item, NAME, "tool", found);
    let args = super::required(item, NAME, "args", found);
    let (Some(tool), Some(args)) = (tool.and_then(|tool| found.text(tool, "`tool`")), args) else {
        return Vec::new();
    };
    if found.map(args, "`args`").is_none() {
        return Vec::new();
    }
    vec![shape::planned(NAME, args.span, ArgsContain { tool: tool.to_owned(), args: args.to_json() })]
}

fn schema() -> Value {
    let args = json!({"type": "object", "description": "Arguments that a call has, among others."});
    let properties = [("tool", tool_schema()), ("args", args)];
    super::item_schema(NAME, &properties, &["tool", "args"])
}

impl Check for ArgsContain {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let closest = self
            .calls(seen)
            .map(|(number, call)| (number, call, differences(&self.args, &call.args)))
            .min_by_key(|(_, _, differences)| differences.len());
        let expected = excerpt::around(&format!("{} {}", self.tool, self.args), 0..0);
        let Some((number, call, differences)) = closest else {
            let names = tools_of(seen);
            return Err(Mismatch {
                message: format!("{} was never called", quoted(&self.tool)),
                expected,
                actual: named::shown(&names, NONE),
                diff: None,
                help: named::did_you_mean(&self.tool, &names),
            });
        };
        let Some(first) = differences.first() else { return Ok(()) };
        let calls = self.calls(seen).count();
        let message = if calls == 1 {
            format!("{} was called with other arguments: {first}", quoted(&self.tool))
        } else {
            let times = times(calls);
            format!(
                "{} was called {times}, never with these arguments; in the closest call {first}",
                quoted(&self.tool)
            )
        };
        Err(Mismatch {
            message,
            expected,
            actual: excerpt::around(&format!("call {number}: {} {}", call.tool, call.args), 0..0),
            diff: None,
            help: (differences.len() > 1).then(|| listed(&differences)),
        })
    }

    fn remark(&self, seen: &Observation) -> Option<String> {
        let best = self.calls(seen).map(|(_, call)| contained(&self.args, &call.args)).max()?;
        let tool = quoted(&self.tool);
        (best == JsonEquality::Loose)
            .then(|| format!("the arguments of {tool} are taken as equal because their texts are; their types differ"))
    }
}

impl ArgsContain {
    /// The calls of the tool with their numbers in the whole sequence, from 1.
    fn calls<'o>(&self, seen: &'o Observation) -> impl Iterator<Item = (usize, &'o TracedCall)> {
        seen.trace.iter().enumerate().filter(|(_, call)| call.tool == self.tool).map(|(at, call)| (at + 1, call))
    }
}

/// Compares a value with the expected part of it; maps may have more, lists and scalars may not.
fn contained(expected: &Value, actual: &Value) -> JsonEquality {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => expected
            .iter()
            .map(|(key, value)| actual.get(key).map_or(JsonEquality::Different, |actual| contained(value, actual)))
            .min()
            .unwrap_or(JsonEquality::Same),
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            expected.iter().zip(actual).map(|(e, a)| contained(e, a)).min().unwrap_or(JsonEquality::Same)
        }
        (
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
            actual,
        ) => compare(expected, actual),
    }
}

/// The missing parts of an actual value, one sentence for each place.
fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(&mut String::new(), expected, actual, &mut found);
    found
}

fn collect(path: &mut String, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    if contained(expected, actual) != JsonEquality::Different {
        return;
    }
    let length = path.len();
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            for (key, value) in expected {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
                match actual.get(key) {
                    Some(actual) => collect(path, value, actual, found),
                    None => found.push(format!("{} is missing", quoted(path))),
                }
                path.truncate(length);
            }
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            for (index, (expected, actual)) in expected.iter().zip(actual).enumerate() {
                path.push('[');
                path.push_str(&index.to_string());
                path.push(']');
                collect(path, expected, actual, found);
                path.truncate(length);
            }
        }
        (
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
            actual,
        ) => {
            let place = if path.is_empty() { "`args`".to_owned() } else { quoted(path) };
            let (actual, expected) = (actual.to_string(), expected.to_string());
            found.push(format!("{place} is {}, not {}", head(&actual, 60), head(&expected, 60)));
        }
    }
}

fn listed(differences: &[String]) -> String {
    let more = differences.len().saturating_sub(LISTED);
    let shown = differences[..differences.len() - more].join("; ");
    if more == 0 { shown } else { format!("{shown}; and {more} more differences") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::{Trial, observation};

    const TRIAL: Trial = Trial(super::super::CHECKS);

    #[test]
    fn the_closest_call_is_shown() {
        let asked = r#"{"type": "args_contain", "tool": "edit", "args": {"a": 1, "b": {"c": [1, 2]}, "d": true}}"#;
        let seen = Seen::Trace(
            r#"[{"tool": "edit", "args": {}}, {"tool": "read"}, {"tool": "edit", "args": {"a": 1, "b": {"c": [1, 3]}}}]"#,
        );
        let mismatch = TRIAL.mismatch(NAME, asked, seen);
        assert_eq!(
            mismatch.message,
            "`edit` was called twice, never with these arguments; in the closest call `b.c[1]` is 3, not 2"
        );
        assert_eq!(mismatch.actual, r#"call 3: edit {"a":1,"b":{"c":[1,3]}}"#);
        assert_eq!(mismatch.help.as_deref(), Some("`b.c[1]` is 3, not 2; `d` is missing"));
    }

    #[test]
    fn a_tool_that_was_not_called_is_told_so() {
        let asked = r#"{"type": "args_contain", "tool": "edti", "args": {"a": 1}}"#;
        let mismatch = TRIAL.mismatch(NAME, asked, Seen::Trace(r#"[{"tool": "edit", "args": {"a": 1}}]"#));
        assert_eq!(mismatch.message, "`edti` was never called");
        assert_eq!(mismatch.help.as_deref(), Some("did you mean `edit`, which is there?"));
    }

    #[test]
    fn a_loose_equality_is_remarked_on() {
        let seen = observation(&Seen::Trace(r#"[{"tool": "a", "args": {"n": 1}}]"#));
        let remark = |args: &str| {
            let asked = format!(r#"{{"type": "args_contain", "tool": "a", "args": {args}}}"#);
            TRIAL.decoded(NAME, &asked).remove(0).check.remark(&seen)
        };
        assert_eq!(remark(r#"{"n": 1}"#), None);
        assert!(remark(r#"{"n": "1"}"#).is_some());
    }
}
