//! `orchestration`: five scores of how tools were used, each from 0 to 100.

use std::sync::Arc;

use mcprove_model::{AgentMeasure, Diagnostics, Node, Observation, Targets};
use serde_json::{Value, json};

use super::{MeasureKind, calls, percent};
use crate::recovery::{ToolOutcome, error_recovery};

static TARGETS: Targets = Targets {
    name: "orchestration",
    block: "`orchestration`",
    known: &[
        "orchestration.discovery",
        "orchestration.efficiency",
        "orchestration.error_recovery",
        "orchestration.parameterization",
        "orchestration.syntax",
    ],
};

pub(super) const KIND: MeasureKind = MeasureKind {
    key: "orchestration",
    summary: "Scores from 0 to 100: right tools found, arguments given, calls well formed, errors recovered from, and calls saved.",
    targets: &TARGETS,
    // Which of the scores matter is for the author to say; the block itself asks for well-formed calls.
    default: r#"[{"target": "orchestration.syntax", "matcher": {"gte": 100}}]"#,
    decode: |node, sets, found| decode(node, sets, found),
    schema: || (json!({}), &[]),
};

#[derive(Debug)]
struct Orchestration {
    sets: Vec<Vec<String>>,
}

#[expect(clippy::unnecessary_wraps, reason = "the type of all decoders")]
fn decode(_: &Node, sets: &[Vec<String>], _: &mut Diagnostics<'_>) -> Option<Arc<dyn AgentMeasure>> {
    Some(Arc::new(Orchestration { sets: sets.to_vec() }))
}

impl AgentMeasure for Orchestration {
    fn name(&self) -> &'static str {
        "orchestration"
    }

    fn measure(&self, seen: &Observation) -> Value {
        let calls = calls(seen);
        let outcomes: Vec<ToolOutcome<'_>> =
            calls.iter().map(|call| ToolOutcome { tool: call.tool, errored: call.is_error }).collect();
        let reached = |set: &&Vec<String>| set.iter().any(|tool| calls.iter().any(|call| call.is(tool)));
        let has_arguments = calls.iter().filter(|call| call.args.as_object().is_some_and(|args| !args.is_empty()));
        let is_formed = calls.iter().filter(|call| !call.tool.trim().is_empty() && call.args.is_object());
        let mut scores = json!({
            "parameterization": percent(has_arguments.count(), calls.len()),
            "syntax": percent(is_formed.count(), calls.len()),
            "error_recovery": error_recovery(&outcomes, &self.sets),
        });
        // Without classes the right tools are unknown, so these targets lead nowhere.
        if !self.sets.is_empty() {
            scores["discovery"] = json!(percent(self.sets.iter().filter(reached).count(), self.sets.len()));
            let efficiency = if calls.is_empty() { 0.0 } else { percent(self.sets.len(), calls.len()).min(100.0) };
            scores["efficiency"] = json!(efficiency);
        }
        scores
    }
}
