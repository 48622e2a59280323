//! `trajectory` of an agent: the calls it must make, as one sequence with a mode, or as a list of items.

use std::sync::Arc;

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck, nearest, shorten};
use serde_json::{Value, json};

use super::trajectory::{decode_trajectory, trajectory_schema};
use crate::trajectory_match::{ArgsMatcher, ExpectedCall, Mode, divergence, mismatch_count};

const KEYS: &[&str] = &["calls", "mode"];
const CALL_KEYS: &[&str] = &["args", "name"];

/// Decodes the `trajectory` of an agent: `{calls, mode}`, or the items that a document with `trace` takes.
pub(super) fn decode(block: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    if block.as_map().is_none() {
        return decode_trajectory(block, found);
    }
    found.known_keys(block, "`trajectory`", KEYS);
    let mode = match block.get("mode").filter(|mode| !mode.is_null()) {
        Some(mode) => decode_mode(mode, found),
        None => Some(Mode::Strict),
    };
    let Some(list) = block.get("calls").filter(|calls| !calls.is_null()) else {
        let message = "`trajectory` has no `calls`";
        found.error_with_help("missing-key", block.span, message, "list the calls, for example `- {name: search}`");
        return Vec::new();
    };
    let calls: Vec<ExpectedCall> =
        found.list(list, "`calls`").iter().filter_map(|call| decode_call(call, found)).collect();
    let Some(mode) = mode else { return Vec::new() };
    vec![PlannedCheck {
        name: "trajectory",
        span: list.span,
        weight: 1.0,
        check: Arc::new(AgentTrajectory { mode, calls }),
    }]
}

/// The JSON Schema of the `trajectory` of an agent.
pub(super) fn schema() -> Value {
    let args = json!({
        "description": "What its arguments must be; anything when left out.",
        "anyOf": [
            {"enum": ["any", "ignore"]},
            {"type": "object", "required": ["exact"], "properties": {"exact": {"description": "The arguments, exactly."}}, "additionalProperties": false},
            {"type": "object", "required": ["subset"], "properties": {"subset": {"description": "Arguments among others."}}, "additionalProperties": false},
            {"type": "object", "required": ["schema"], "properties": {"schema": {"description": "A JSON Schema that accepts the arguments."}}, "additionalProperties": false},
        ],
    });
    let call = json!({
        "type": "object",
        "required": ["name"],
        "properties": {"args": args, "name": {"type": "string", "description": "The tool."}},
        "additionalProperties": false,
    });
    let map = json!({
        "type": "object",
        "required": ["calls"],
        "properties": {
            "calls": {"type": "array", "items": call, "description": "The calls."},
            "mode": {
                "enum": Mode::NAMES.map(|(name, _)| name),
                "description": "How they are compared with those that were made; strictly when left out.",
            },
        },
        "additionalProperties": false,
    });
    json!({
        "anyOf": [map, trajectory_schema(), {"type": "null"}],
        "description": "The calls that the agent makes, or assertions about their order.",
    })
}

fn decode_mode(node: &Node, found: &mut Diagnostics<'_>) -> Option<Mode> {
    let text = found.text(node, "`mode`")?;
    let mode = Mode::parse(text);
    if mode.is_none() {
        let names = Mode::NAMES.map(|(name, _)| name);
        let help = match nearest(text, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("modes are {}", names.join(", ")),
        };
        found.error_with_help("unknown-mode", node.span, format!("unknown mode `{text}` of `trajectory`"), help);
    }
    mode
}

fn decode_call(node: &Node, found: &mut Diagnostics<'_>) -> Option<ExpectedCall> {
    let what = "a call of `trajectory`";
    // A name alone is a call with any arguments.
    if let Some(tool) = node.as_text() {
        return Some(ExpectedCall { tool: tool.to_owned(), args: ArgsMatcher::Any });
    }
    found.known_keys(node, what, CALL_KEYS);
    let args = node.get("args").map_or(Some(ArgsMatcher::Any), |args| decode_args(args, found));
    let Some(name) = node.get("name").filter(|name| !name.is_null()) else {
        if node.as_map().is_some() {
            found.error_with_help("missing-key", node.span, format!("{what} has no `name`"), "add `name:`, the tool");
        }
        return None;
    };
    Some(ExpectedCall { tool: found.text(name, "`name`")?.to_owned(), args: args? })
}

fn decode_args(node: &Node, found: &mut Diagnostics<'_>) -> Option<ArgsMatcher> {
    match (node.as_text(), node.as_map()) {
        (Some("any"), _) => return Some(ArgsMatcher::Any),
        (Some("ignore"), _) => return Some(ArgsMatcher::Ignore),
        (_, Some([entry])) => match entry.key.text.as_str() {
            "exact" => return Some(ArgsMatcher::Exact(entry.value.to_json())),
            "subset" => return Some(ArgsMatcher::Subset(entry.value.to_json())),
            "schema" => return Some(ArgsMatcher::Schema(entry.value.to_json())),
            _ => {}
        },
        (_, Some(_) | None) => {}
    }
    let help = "write `any`, `ignore`, `{exact: …}`, `{subset: …}` or `{schema: …}`";
    found.error_with_help("wrong-type", node.span, "`args` of a call does not say how they are compared", help);
    None
}

#[derive(Debug)]
struct AgentTrajectory {
    mode: Mode,
    calls: Vec<ExpectedCall>,
}

impl Check for AgentTrajectory {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let Some(first) = divergence(self.mode, &self.calls, &seen.trace) else { return Ok(()) };
        let mode = Mode::NAMES.iter().find(|(_, mode)| *mode == self.mode).map_or("", |(name, _)| name);
        let more = mismatch_count(self.mode, &self.calls, &seen.trace) - 1;
        let message = match more {
            0 => first.to_string(),
            more => format!("{first} (and {more} more)"),
        };
        Err(Mismatch {
            message,
            expected: format!("{mode}: {}", listed(self.calls.iter().map(|call| call.tool.as_str()))),
            actual: listed(seen.trace.iter().map(|call| call.tool.as_str())),
            ..Mismatch::default()
        })
    }
}

fn listed<'t>(tools: impl Iterator<Item = &'t str>) -> String {
    let tools: Vec<&str> = tools.collect();
    if tools.is_empty() { "no calls".to_owned() } else { shorten(&tools.join(" → "), 500).into_owned() }
}

#[cfg(test)]
mod tests {
    use mcprove_model::{Outcome, SourceFile, Span, TracedCall};

    use super::*;

    fn judged(block: Value, tools: &[&str]) -> Vec<String> {
        let source = SourceFile::new("a.yaml", "");
        let mut found = Diagnostics::new(&source);
        assert_eq!(crate::schema::errors(&schema(), &block), Ok(Vec::new()), "{block}");
        let checks = decode(&Node::from_json(Span::default(), block), &mut found);
        assert_eq!(found.count(), 0);
        let mut seen = Observation::new(Outcome::Cancelled, "");
        seen.trace = tools.iter().map(|tool| TracedCall { tool: (*tool).into(), args: json!({"q": "x"}) }).collect();
        checks.iter().filter_map(|planned| planned.check.judge(&seen).err()).map(|m| m.message).collect()
    }

    #[test]
    fn both_forms_judge_the_calls_of_an_agent() {
        let calls =
            json!({"mode": "subsequence", "calls": [{"name": "a", "args": {"subset": {"q": "x"}}}, {"name": "b"}]});
        assert_eq!(judged(calls.clone(), &["a", "z", "b"]), [""; 0]);
        assert_eq!(judged(calls, &["b", "a"]), ["expected call 2 of `b` did not come"]);
        assert_eq!(judged(json!({"calls": [{"name": "a"}]}), &["b", "a"]).len(), 1);
        assert_eq!(judged(json!([{"type": "order", "tools": ["a", "b"]}]), &["a", "b"]), [""; 0]);
    }

    #[test]
    fn mistakes_are_told() {
        let source = SourceFile::new("a.yaml", "");
        for block in [
            json!({"mode": "strict"}),
            json!({"mode": "strickt", "calls": []}),
            json!({"calls": [{"args": "any"}]}),
            json!({"calls": [{"name": "a", "args": {"q": 1}}]}),
            json!({"call": [], "calls": []}),
        ] {
            let mut found = Diagnostics::new(&source);
            decode(&Node::from_json(Span::default(), block.clone()), &mut found);
            assert_eq!(found.count(), 1, "{block}");
        }
    }
}
