//! `assert-set`: a bundle of assertions of which a share must hold; it counts as one.

use std::sync::Arc;

use mcprove_model::{Check, Diagnostics, Entry, Mismatch, Node, Observation, PlannedCheck, Question, Snapshot};
use serde_json::{Value, json};

use super::{decode_assertion, decode_weight};
use crate::checks::{decode_threshold, threshold_schema};

/// The key of the bundle.
pub(super) const KEY: &str = "assert-set";

const KEYS: &[&str] = &["assertions", "name", "threshold", "weight"];

/// Decodes an item that is a bundle.
pub(super) fn decode(entry: &Entry, found: &mut Diagnostics<'_>) -> Option<PlannedCheck> {
    let node = &entry.value;
    found.map(node, "`assert-set`")?;
    found.known_keys(node, "`assert-set`", KEYS);
    let name = node.get("name").and_then(|name| found.text(name, "`name`")).map(str::to_owned);
    let weight = node.get("weight").map_or(1.0, |weight| decode_weight(weight, found));
    let (Some(threshold), Some(assertions)) = (node.get("threshold"), node.get("assertions")) else {
        let message = "`assert-set` needs `threshold` and `assertions`";
        found.error_with_help("missing-key", entry.key.span, message, "add both; `threshold: 1` asks for all of them");
        return None;
    };
    let threshold = decode_threshold(threshold, found);
    let items = super::items(assertions, "`assertions` of `assert-set`", found)?;
    let checks: Vec<PlannedCheck> = items.iter().filter_map(|item| decode_assertion(item, found)).collect();
    let check = AssertSet { name, threshold: threshold?, checks };
    Some(PlannedCheck { name: KEY, span: entry.key.span, weight, check: Arc::new(check) })
}

/// The JSON Schema of a bundle.
pub(super) fn schema(assertion: &Value) -> Value {
    let properties = json!({
        "assertions": {"type": "array", "minItems": 1, "items": assertion, "description": "The assertions."},
        "name": {"type": "string", "description": "The name by which `derivedMetrics` refer to it."},
        "threshold": threshold_schema(),
        "weight": {"type": "number", "exclusiveMinimum": 0, "description": "The weight of the set among its neighbours; 1 when left out."},
    });
    let set = json!({
        "type": "object",
        "required": ["threshold", "assertions"],
        "additionalProperties": false,
        "properties": properties,
        "description": "Assertions of which a share must hold, by weight; the set counts as one.",
    });
    json!({
        "x-definition": KEY,
        "type": "object",
        "required": [KEY],
        "additionalProperties": false,
        "properties": {KEY: set},
    })
}

#[derive(Debug)]
struct AssertSet {
    name: Option<String>,
    threshold: f64,
    checks: Vec<PlannedCheck>,
}

impl Check for AssertSet {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let total: f64 = self.checks.iter().map(|planned| planned.weight).sum();
        let (mut held, mut missed) = (0.0, Vec::new());
        for planned in &self.checks {
            match planned.check.judge(seen) {
                Ok(()) => held += planned.weight,
                Err(mismatch) => missed.push(mismatch.message),
            }
        }
        let share = if total > 0.0 { held / total } else { 0.0 };
        if share >= self.threshold {
            return Ok(());
        }
        let name = self.name.as_deref().map(|name| format!(" `{name}`")).unwrap_or_default();
        Err(Mismatch {
            message: format!("{share:.2} of the set{name} held, by weight: {}", missed.join("; ")),
            expected: format!("a share of {} at least", self.threshold),
            actual: format!("{share:.2}"),
            ..Mismatch::default()
        })
    }

    fn remark(&self, seen: &Observation) -> Option<String> {
        let remarks: Vec<String> = self.checks.iter().filter_map(|planned| planned.check.remark(seen)).collect();
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }

    fn is_model_graded(&self) -> bool {
        self.checks.iter().any(|planned| planned.check.is_model_graded())
    }

    fn questions(&self, seen: &Observation) -> Vec<Question> {
        self.checks.iter().flat_map(|planned| planned.check.questions(seen)).collect()
    }

    fn supplies(&self, seen: &Observation) -> Option<(&'static str, Value)> {
        self.checks.iter().find_map(|planned| planned.check.supplies(seen))
    }

    fn label(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn wants_stored(&self) -> bool {
        self.checks.iter().any(|planned| planned.check.wants_stored())
    }

    fn to_store(&self, seen: &Observation) -> Vec<Snapshot> {
        self.checks.iter().flat_map(|planned| planned.check.to_store(seen)).collect()
    }

    fn wants_protocol_error(&self) -> bool {
        self.checks.iter().any(|planned| planned.check.wants_protocol_error())
    }

    fn judges_stop_reason(&self) -> bool {
        self.checks.iter().any(|planned| planned.check.judges_stop_reason())
    }
}

/// The assertions inside an item that is a bundle.
pub(crate) fn assertions_in(item: &Node) -> &[Node] {
    item.get(KEY).and_then(|set| set.get("assertions")).and_then(Node::as_list).unwrap_or_default()
}
