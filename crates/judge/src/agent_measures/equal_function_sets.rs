//! `equal_function_sets` with classes: one tool of each class was called, and no other.

use std::sync::Arc;

use mcprove_model::{AgentMeasure, Diagnostics, Node, Observation, Targets};
use serde_json::{Value, json};

use super::{MeasureKind, calls, percent, some_texts, texts_schema};

static TARGETS: Targets = Targets {
    name: "tool_selection",
    block: "`equal_function_sets`",
    known: &["tool_selection.f1", "tool_selection.precision", "tool_selection.recall"],
};

pub(super) const KIND: MeasureKind = MeasureKind {
    key: "equal_function_sets",
    summary: "Classes of tools that do the same; a tool of each must be called.",
    targets: &TARGETS,
    default: r#"[{"target": "tool_selection.f1", "matcher": {"gte": 50}}]"#,
    decode,
    schema: || {
        let class = json!({
            "type": "object",
            "required": ["name", "members"],
            "additionalProperties": false,
            "properties": {
                "members": texts_schema("Tools: `tool`, or `server.tool`."),
                "name": {"type": "string", "description": "The name of the class."},
            },
        });
        let classes = json!({"type": "array", "minItems": 1, "items": class, "description": "The classes."});
        (json!({"classes": classes}), &["classes"])
    },
};

#[derive(Debug)]
struct Classes(Vec<Vec<String>>);

fn decode(node: &Node, _: &[Vec<String>], found: &mut Diagnostics<'_>) -> Option<Arc<dyn AgentMeasure>> {
    let list = node.get("classes").filter(|list| !list.is_null());
    let mut all = Vec::new();
    for class in list.map(|list| found.list(list, "`classes`")).unwrap_or_default() {
        found.known_keys(class, "a class", &["members", "name"]);
        all.push(some_texts(class, "members", found)?);
    }
    if all.is_empty() {
        let help = "add `classes: [{name: …, members: […]}]`";
        found.error_with_help("missing-key", node.span, "`equal_function_sets` has no classes", help);
        return None;
    }
    Some(Arc::new(Classes(all)))
}

/// The sets of tools that do the same, by their own names.
pub fn classes(node: &Node) -> Vec<Vec<String>> {
    let of = |class: &Node| -> Vec<String> {
        let members = class.get("members").and_then(Node::as_list).unwrap_or_default().iter();
        let own = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
        members.filter_map(|member| member.as_text().map(own)).collect()
    };
    node.get("classes").and_then(Node::as_list).unwrap_or_default().iter().map(of).collect()
}

impl AgentMeasure for Classes {
    fn name(&self) -> &'static str {
        "tool_selection"
    }

    fn measure(&self, seen: &Observation) -> Value {
        let calls = calls(seen);
        let is_in = |class: &[String], at: usize| class.iter().any(|tool| calls[at].is(tool));
        let right = (0..calls.len()).filter(|at| self.0.iter().any(|class| is_in(class, *at))).count();
        let reached = self.0.iter().filter(|class| (0..calls.len()).any(|at| is_in(class, at))).count();
        let precision = if calls.is_empty() { 0.0 } else { percent(right, calls.len()) };
        let recall = percent(reached, self.0.len());
        let sum = precision + recall;
        let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
        json!({"f1": f1, "precision": precision, "recall": recall})
    }
}
