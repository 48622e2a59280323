//! `derivedMetrics`: numbers made of the scores of named assertions, each with a threshold or reported only.

use std::sync::Arc;

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck, nearest};
use serde_json::{Value, json};

use super::{decode_threshold, threshold_schema};

/// The key, in `expect` and in a test.
pub const KEY: &str = "derivedMetrics";

/// The ways to combine several numbers; true if the result is divided by the weights.
const WAYS: &[(&str, bool)] = &[("weighted_average", true), ("weighted_sum", false)];

/// Decodes a list of metrics over the named checks of the same block.
pub(super) fn decode(node: &Node, checks: &[PlannedCheck], found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    found.list(node, "`derivedMetrics`").iter().filter_map(|item| decode_metric(item, checks, found)).collect()
}

/// The JSON Schema of the list.
pub fn schema() -> Value {
    let term = json!({
        "type": "object",
        "required": ["ref"],
        "additionalProperties": false,
        "properties": {
            "ref": {"type": "string", "description": "The `name` of an assertion or a set; it scores 1 if it holds, else 0."},
            "weight": {"type": "number", "exclusiveMinimum": 0, "description": "Its weight; 1 when left out."},
        },
    });
    let terms = |description: &str| json!({"type": "array", "minItems": 1, "items": term, "description": description});
    let value = json!({
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
        "properties": {
            "weighted_average": terms("The sum of the scores times their weights, divided by the weights."),
            "weighted_sum": terms("The sum of the scores times their weights."),
        },
        "description": "How it is computed.",
    });
    let mut least = threshold_schema();
    least["description"] = "The least value that passes.".into();
    json!({
        "x-definition": "derived-metrics",
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name", "value"],
            "additionalProperties": false,
            "properties": {
                "name": {"type": "string", "minLength": 1, "description": "The name of the metric."},
                "threshold": least,
                "value": value,
            },
        },
        "description": "Numbers made of the scores of named assertions; one with a `threshold` must reach it.",
    })
}

fn decode_metric(node: &Node, checks: &[PlannedCheck], found: &mut Diagnostics<'_>) -> Option<PlannedCheck> {
    found.map(node, "a metric")?;
    found.known_keys(node, "a metric", &["name", "threshold", "value"]);
    let (Some(name), Some(value)) = (node.get("name"), node.get("value")) else {
        found.error_with_help("missing-key", node.span, "a metric needs `name` and `value`", "add both");
        return None;
    };
    let name = found.text(name, "`name`")?.to_owned();
    let entries = found.map(value, "`value`")?;
    let way = |entry: &mcprove_model::Entry| WAYS.iter().find(|(way, _)| *way == entry.key.text);
    let [entry] = entries else {
        let help = "write `weighted_sum` or `weighted_average`";
        found.error_with_help("wrong-type", value.span, "`value` has exactly one key", help);
        return None;
    };
    let Some((_, is_average)) = way(entry) else {
        found.unknown_key(&entry.key, "`value`", &["weighted_average", "weighted_sum"]);
        return None;
    };
    let threshold = match node.get("threshold") {
        Some(threshold) => Some(decode_threshold(threshold, found)?),
        None => None,
    };
    let items = found.list(&entry.value, "the terms of a metric");
    let terms: Vec<Term> = items.iter().filter_map(|term| decode_term(term, checks, found)).collect();
    if terms.is_empty() || terms.len() != items.len() {
        return None;
    }
    let check = DerivedMetric { name, threshold, is_average: *is_average, terms };
    // It is a gate of its own, and counts for nothing in the share of assertions that held.
    Some(PlannedCheck { name: KEY, span: node.span, weight: 0.0, check: Arc::new(check) })
}

fn decode_term(node: &Node, checks: &[PlannedCheck], found: &mut Diagnostics<'_>) -> Option<Term> {
    found.map(node, "a term")?;
    found.known_keys(node, "a term", &["ref", "weight"]);
    let Some(reference) = node.get("ref") else {
        found.error_with_help("missing-key", node.span, "a term has no `ref`", "name an assertion");
        return None;
    };
    let name = found.text(reference, "`ref`")?;
    let weight = match node.get("weight") {
        None => 1.0,
        Some(weight) => {
            let number = weight.as_number().and_then(serde_json::Number::as_f64).filter(|weight| *weight > 0.0);
            if number.is_none() {
                found.wrong_kind(weight, "`weight`", "a number above 0");
            }
            number?
        }
    };
    let labels = || checks.iter().filter_map(|planned| planned.check.label());
    let Some(planned) = checks.iter().find(|planned| planned.check.label() == Some(name)) else {
        let help = match nearest(name, labels()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "give an assertion this `name`".to_owned(),
        };
        found.error_with_help("unknown-reference", reference.span, format!("no assertion is named `{name}`"), help);
        return None;
    };
    Some(Term { check: Arc::clone(&planned.check), weight })
}

#[derive(Debug)]
struct Term {
    check: Arc<dyn Check>,
    weight: f64,
}

#[derive(Debug)]
struct DerivedMetric {
    name: String,
    threshold: Option<f64>,
    is_average: bool,
    terms: Vec<Term>,
}

impl DerivedMetric {
    fn value(&self, seen: &Observation) -> f64 {
        let held: f64 = self.terms.iter().filter(|term| term.check.judge(seen).is_ok()).map(|term| term.weight).sum();
        let total: f64 = self.terms.iter().map(|term| term.weight).sum();
        if self.is_average { held / total } else { held }
    }
}

impl Check for DerivedMetric {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let value = self.value(seen);
        let Some(threshold) = self.threshold.filter(|threshold| value < *threshold) else { return Ok(()) };
        Err(Mismatch {
            message: format!("the metric `{}` is {value:.2}", self.name),
            expected: format!("{threshold} at least"),
            actual: format!("{value:.2}"),
            ..Mismatch::default()
        })
    }

    fn remark(&self, seen: &Observation) -> Option<String> {
        Some(format!("the metric `{}` is {:.2}", self.name, self.value(seen)))
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::{Outcome, SourceFile, Span, Vocabulary};

    use super::*;
    use crate::checks;

    fn decoded(block: Value) -> (Vec<PlannedCheck>, Vec<String>) {
        let source = SourceFile::new("t.yaml", "");
        let mut found = Diagnostics::new(&source);
        let checks = checks::decode(Vocabulary::Tool, &Node::from_json(Span::default(), block), &mut found);
        (checks, found.into_findings().into_iter().map(|finding| finding.message).collect())
    }

    fn block(threshold: f64, way: &str) -> Value {
        json!({
            "assertions": [
                {"target": "result.a", "matcher": {"exact": 1}, "name": "a"},
                {"assert-set": {"name": "rest", "threshold": 0.5, "assertions": [
                    {"target": "result.b", "matcher": {"exact": 2}},
                    {"target": "result.c", "matcher": {"exact": 3}},
                ]}},
            ],
            KEY: [{"name": "blend", "threshold": threshold, "value": {way: [{"ref": "a", "weight": 3.0}, {"ref": "rest"}]}}],
        })
    }

    #[test]
    fn a_metric_is_made_of_named_assertions_and_sets() {
        let seen = Observation::new(Outcome::Result(json!({"a": 1, "b": 0, "c": 0})), "");
        for (threshold, way, holds) in
            [(0.75, "weighted_average", true), (0.8, "weighted_average", false), (1.0, "weighted_sum", true)]
        {
            let block = block(threshold, way);
            assert_eq!(crate::schema::errors(&checks::expect_schema(), &block), Ok(Vec::new()));
            let (checks, findings) = decoded(block);
            assert_eq!(findings, Vec::<String>::new());
            let judged: Vec<bool> = checks.iter().map(|planned| planned.check.judge(&seen).is_ok()).collect();
            assert_eq!(judged, [true, false, holds], "{threshold} {way}");
        }
        let better = Observation::new(Outcome::Result(json!({"a": 1, "b": 2, "c": 0})), "");
        assert!(decoded(block(1.0, "weighted_average")).0[2].check.judge(&better).is_ok());
    }

    #[test]
    fn a_reference_to_nothing_is_an_error() {
        let list = json!([{"name": "m", "value": {"weighted_sum": [{"ref": "b"}]}}]);
        let assertions = json!([{"target": "result.a", "matcher": {"exact": 1}, "name": "a"}]);
        let (_, findings) = decoded(json!({"assertions": assertions, KEY: list}));
        assert_eq!(findings, ["no assertion is named `b`"]);
    }
}
