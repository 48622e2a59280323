//! `trajectory_axes`: which calls come before which.

use std::sync::Arc;

use mcprove_model::{AgentMeasure, Diagnostics, Node, Observation, Targets};
use serde_json::{Value, json};

use super::{MeasureKind, calls, percent};

static TARGETS: Targets = Targets {
    name: "trajectory",
    block: "`trajectory_axes`",
    known: &["trajectory.dependency_satisfaction", "trajectory.order_satisfaction"],
};

pub(super) const KIND: MeasureKind = MeasureKind {
    key: "trajectory_axes",
    summary: "Pairs of tools of which one comes before the other.",
    targets: &TARGETS,
    default: r#"[{"target": "trajectory.dependency_satisfaction", "matcher": {"gte": 100}},
                 {"target": "trajectory.order_satisfaction", "matcher": {"gte": 100}}]"#,
    decode,
    schema: || {
        let pair = |one: &str, other: &str| {
            json!({
                "type": "object",
                "required": [one, other],
                "additionalProperties": false,
                "properties": {
                    one: {"type": "string", "minLength": 1, "description": "The tool that comes first."},
                    other: {"type": "string", "minLength": 1, "description": "The tool that comes after it."},
                },
            })
        };
        let properties = json!({
            "dependencies": {
                "type": "array",
                "items": pair("producer", "consumer"),
                "description": "The last call of `consumer` comes after the last call of `producer`.",
            },
            "order": {
                "type": "array",
                "items": pair("first", "second"),
                "description": "The first call of `first` comes before the last call of `second`.",
            },
        });
        (properties, &[])
    },
};

#[derive(Debug)]
struct Axes {
    dependencies: Vec<(String, String)>,
    order: Vec<(String, String)>,
}

fn decode(node: &Node, _: &[Vec<String>], found: &mut Diagnostics<'_>) -> Option<Arc<dyn AgentMeasure>> {
    let dependencies = pairs(node, "dependencies", "producer", "consumer", found)?;
    let order = pairs(node, "order", "first", "second", found)?;
    if dependencies.is_empty() && order.is_empty() {
        let help = "add `dependencies:` or `order:`";
        found.error_with_help("nothing-asked", node.span, "`trajectory_axes` names no pair of tools", help);
        return None;
    }
    Some(Arc::new(Axes { dependencies, order }))
}

fn pairs(
    node: &Node,
    key: &str,
    one: &'static str,
    other: &'static str,
    found: &mut Diagnostics<'_>,
) -> Option<Vec<(String, String)>> {
    let Some(list) = node.get(key).filter(|list| !list.is_null()) else { return Some(Vec::new()) };
    let mut all = Vec::new();
    for pair in found.list(list, &format!("`{key}`")) {
        let what = format!("a pair of `{key}`");
        found.known_keys(pair, &what, &[one, other]);
        let text = |key: &str| pair.get(key).and_then(Node::as_text).map(str::to_owned);
        let (Some(one), Some(other)) = (text(one), text(other)) else {
            found.wrong_kind(pair, &what, "a map of two tools");
            return None;
        };
        all.push((one, other));
    }
    Some(all)
}

impl AgentMeasure for Axes {
    fn name(&self) -> &'static str {
        "trajectory"
    }

    fn measure(&self, seen: &Observation) -> Value {
        let calls = calls(seen);
        let first = |tool: &str| calls.iter().position(|call| call.is(tool));
        let last = |tool: &str| calls.iter().rposition(|call| call.is(tool));
        let depends = |(producer, consumer): &&(String, String)| matches!((last(producer), last(consumer)), (Some(before), Some(after)) if before < after);
        let is_ordered = |(one, other): &&(String, String)| matches!((first(one), last(other)), (Some(before), Some(after)) if before < after);
        json!({
            "dependency_satisfaction": percent(self.dependencies.iter().filter(depends).count(), self.dependencies.len()),
            "order_satisfaction": percent(self.order.iter().filter(is_ordered).count(), self.order.len()),
        })
    }
}
