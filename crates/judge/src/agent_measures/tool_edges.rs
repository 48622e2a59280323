//! `tool_edges`: tools that are expected, tools that are forbidden, and hand-offs between tools.

use std::sync::Arc;

use mcprove_model::{AgentMeasure, Diagnostics, Node, Observation, Targets};
use serde_json::{Value, json};

use super::{MeasureKind, calls, percent, texts, texts_schema};

static TARGETS: Targets = Targets {
    name: "edges",
    block: "`tool_edges`",
    known: &["edges.allowed_pct", "edges.delegation_pct", "edges.gate_passed", "edges.restricted_attempts"],
};

pub(super) const KIND: MeasureKind = MeasureKind {
    key: "tool_edges",
    summary: "Tools that the run is expected to call, tools that it must never call, and pairs of which one comes after the other.",
    targets: &TARGETS,
    default: r#"[{"target": "edges.restricted_attempts", "matcher": {"lte": 0}}]"#,
    decode,
    schema: || {
        let edge = json!({
            "type": "object",
            "required": ["from", "to"],
            "additionalProperties": false,
            "properties": {
                "from": {"type": "string", "minLength": 1, "description": "The tool that is called first."},
                "to": {"type": "string", "minLength": 1, "description": "The tool that is called after it."},
            },
        });
        let properties = json!({
            "allowed": texts_schema("Tools that are expected."),
            "delegation": {"type": "array", "items": edge, "description": "Pairs of tools; `to` is called after `from`."},
            "restricted": texts_schema("Tools that must not be called."),
        });
        (properties, &[])
    },
};

#[derive(Debug)]
struct ToolEdges {
    allowed: Vec<String>,
    restricted: Vec<String>,
    delegation: Vec<(String, String)>,
}

fn decode(node: &Node, _: &[Vec<String>], found: &mut Diagnostics<'_>) -> Option<Arc<dyn AgentMeasure>> {
    let mut delegation = Vec::new();
    if let Some(list) = node.get("delegation").filter(|list| !list.is_null()) {
        for edge in found.list(list, "`delegation`") {
            found.known_keys(edge, "a pair of `delegation`", &["from", "to"]);
            let text = |key: &str| edge.get(key).and_then(Node::as_text).map(str::to_owned);
            let (Some(from), Some(to)) = (text("from"), text("to")) else {
                found.wrong_kind(edge, "a pair of `delegation`", "a map of `from` and `to`");
                return None;
            };
            delegation.push((from, to));
        }
    }
    let (allowed, restricted) = (texts(node, "allowed", found)?, texts(node, "restricted", found)?);
    if allowed.is_empty() && restricted.is_empty() && delegation.is_empty() {
        let help = "add `allowed:`, `restricted:` or `delegation:`";
        found.error_with_help("nothing-asked", node.span, "`tool_edges` names no tool", help);
        return None;
    }
    Some(Arc::new(ToolEdges { allowed, restricted, delegation }))
}

impl AgentMeasure for ToolEdges {
    fn name(&self) -> &'static str {
        "edges"
    }

    fn measure(&self, seen: &Observation) -> Value {
        let calls = calls(seen);
        let is_called = |tool: &&String| calls.iter().any(|call| call.is(tool));
        let attempts = calls.iter().filter(|call| self.restricted.iter().any(|tool| call.is(tool))).count();
        let is_handed_on = |(from, to): &&(String, String)| {
            let first = calls.iter().position(|call| call.is(from));
            first.is_some_and(|first| calls[first + 1..].iter().any(|call| call.is(to)))
        };
        json!({
            "allowed_pct": percent(self.allowed.iter().filter(is_called).count(), self.allowed.len()),
            "delegation_pct": percent(self.delegation.iter().filter(is_handed_on).count(), self.delegation.len()),
            "restricted_attempts": attempts,
            "gate_passed": u8::from(attempts == 0),
        })
    }
}
