//! `calibration`: how well the confidence of a judge agrees with labels.

use std::sync::Arc;

use mcprove_judge::calibration::{Calibration, Reliability};
use mcprove_judge::target_sets;
use mcprove_model::{Act, Diagnostics, Expectation, Node, Vocabulary};
use serde_json::json;

use super::Suite;
use super::list::Kind;
use crate::assertion_file::block::Input;
use crate::field::{self, Field};
use crate::schema::fragment;

const VOCABULARY: Vocabulary = Vocabulary::Targets(&target_sets::CALIBRATION);

pub(super) const KIND: Kind = Kind {
    key: "calibration",
    summary: "Compare the confidence of a judge with labels, without a server.",
    fields: &[FIELDS],
    decode,
};

const FIELDS: &[Field] = &[
    Field::optional("expect", || fragment::expect(VOCABULARY)),
    Field::required("labels", || fragment::text("A file of `{confidence, correct}`: one per line, or a JSON list.")),
    Field::optional(
        "observed_positive_rate",
        || json!({"type": "number", "minimum": 0, "maximum": 1, "description": "The share of answers that a person finds correct."}),
    ),
    Field::optional("reliability", || field::map("Grades of the judge for labelled items.", RELIABILITY)),
];

const RELIABILITY: &[Field] = &[
    Field::required("tp", || fragment::count("How many.", 0)),
    Field::required("fn", || fragment::count("How many.", 0)),
    Field::required("tn", || fragment::count("How many.", 0)),
    Field::required("fp", || fragment::count("How many.", 0)),
];

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let node = input.node;
    let expect = input.expect(VOCABULARY, found);
    let labels = input.named("labels", found)?.as_text()?.to_owned();
    let rate = node.get("observed_positive_rate").filter(|rate| !rate.is_null());
    let observed_positive_rate = rate.and_then(|rate| number(rate, "`observed_positive_rate`", found));
    let reliability = match node.get("reliability").filter(|matrix| !matrix.is_null()) {
        Some(matrix) => Some(decode_reliability(matrix, found)?),
        None => None,
    };
    let has_default_gate = expect.checks.is_empty();
    let calibration = Calibration { labels, reliability, observed_positive_rate, has_default_gate };
    Some((Act::Offline(Arc::new(calibration)), expect))
}

fn decode_reliability(node: &Node, found: &mut Diagnostics<'_>) -> Option<Reliability> {
    field::entries(node, "`reliability`", RELIABILITY, found)?;
    let mut count = |key: &str| {
        let Some(value) = node.get(key) else {
            found.error_with_help("missing-key", node.span, format!("`reliability` has no `{key}`"), "add all four");
            return None;
        };
        number(value, &format!("`{key}`"), found)
    };
    Some(Reliability { tp: count("tp")?, fn_: count("fn")?, tn: count("tn")?, fp: count("fp")? })
}

fn number(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<f64> {
    let number = node.as_number().and_then(serde_json::Number::as_f64).filter(|number| *number >= 0.0);
    if number.is_none() {
        found.wrong_kind(node, what, "a number, 0 or more");
    }
    number
}
