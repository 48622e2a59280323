//! `golden_path`: how far the calls are from an ideal sequence.

use std::sync::Arc;

use mcprove_model::{AgentMeasure, Diagnostics, Node, Observation, Targets};
use serde_json::{Value, json};

use super::{MeasureKind, calls, flag, some_texts, texts_schema};

static TARGETS: Targets = Targets {
    name: "golden_path",
    block: "`golden_path`",
    known: &[
        "golden_path.backtracks",
        "golden_path.extra_steps",
        "golden_path.missing",
        "golden_path.passed",
        "golden_path.penalty",
        "golden_path.repeated_tools",
    ],
};

pub(super) const KIND: MeasureKind = MeasureKind {
    key: "golden_path",
    summary: "The ideal sequence of calls; steps that are missing, or more than it has, lower the score.",
    targets: &TARGETS,
    default: r#"[{"target": "golden_path.passed", "matcher": {"gte": 1}}]"#,
    decode,
    schema: || {
        let properties = json!({
            "allow_extra_steps": {"type": "boolean", "description": "Calls beyond the path cost nothing."},
            "calls": texts_schema("The tools, in order."),
            "penalize_backtracking": {"type": "boolean", "description": "Going back to an earlier tool costs; true when left out."},
            "penalize_repeated_tools": {"type": "boolean", "description": "The same tool twice in a row costs; true when left out."},
        });
        (properties, &["calls"])
    },
};

/// Cost of one unit of waste.
const WASTE: f64 = 0.5;

#[derive(Debug)]
struct GoldenPath {
    calls: Vec<String>,
    allows_extra: bool,
    penalizes_backtracks: bool,
    penalizes_repeats: bool,
}

fn decode(node: &Node, _: &[Vec<String>], found: &mut Diagnostics<'_>) -> Option<Arc<dyn AgentMeasure>> {
    Some(Arc::new(GoldenPath {
        calls: some_texts(node, "calls", found)?,
        allows_extra: flag(node, "allow_extra_steps", false, found),
        penalizes_backtracks: flag(node, "penalize_backtracking", true, found),
        penalizes_repeats: flag(node, "penalize_repeated_tools", true, found),
    }))
}

impl AgentMeasure for GoldenPath {
    fn name(&self) -> &'static str {
        "golden_path"
    }

    fn measure(&self, seen: &Observation) -> Value {
        let calls = calls(seen);
        let made: Vec<&str> = calls.iter().map(|call| call.tool).collect();
        let ideal: Vec<&str> = self.calls.iter().map(String::as_str).collect();
        let mut rest = calls.iter();
        // A golden tool that was not called in its place is missing: who does nothing wastes nothing.
        let missing = ideal.iter().filter(|golden| !rest.any(|call| call.is(golden))).count();
        let extra = made.len().saturating_sub(ideal.len());
        let backtracks = backtracks(&made).saturating_sub(backtracks(&ideal));
        let repeats = repeats(&made).saturating_sub(repeats(&ideal));
        let mut waste = missing;
        waste += if self.allows_extra { 0 } else { extra };
        waste += if self.penalizes_backtracks { backtracks } else { 0 };
        waste += if self.penalizes_repeats { repeats } else { 0 };
        let penalty = 1.0 / (1.0 + WASTE * u32::try_from(waste).map_or(f64::MAX, f64::from));
        json!({
            "passed": u8::from(waste == 0),
            "penalty": penalty,
            "missing": missing,
            "extra_steps": extra,
            "backtracks": backtracks,
            "repeated_tools": repeats,
        })
    }
}

/// Number of times a tool is called again after another one.
fn backtracks(calls: &[&str]) -> usize {
    let goes_back = |at: &usize| calls[*at] != calls[*at - 1] && calls[..*at - 1].contains(&calls[*at]);
    (1..calls.len()).filter(goes_back).count()
}

/// Number of times a tool is called twice in a row.
fn repeats(calls: &[&str]) -> usize {
    calls.windows(2).filter(|pair| pair[0] == pair[1]).count()
}
