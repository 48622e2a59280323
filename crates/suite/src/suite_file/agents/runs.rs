//! `stability` and `matrix_assert`: what is expected of several runs, and of the best of several models.

use std::num::NonZeroU32;

use mcprove_judge::agent_measures::STABILITY_TARGETS;
use mcprove_model::{Diagnostics, Expectation, MatrixAssert, Node, Vocabulary};
use serde_json::{Value, json};

use crate::assertion_file::expectation;
use crate::assertion_file::templates::Scope;
use crate::field::{self, Field};
use crate::schema::fragment;

const VOCABULARY: Vocabulary = Vocabulary::Targets(&STABILITY_TARGETS);

const STABILITY: &[Field] = &[Field::optional("expect", || fragment::expect(VOCABULARY))];

const MATRIX_ASSERT: &[Field] = &[
    Field::optional(
        "max_score",
        || json!({"type": "number", "minimum": 0, "maximum": 1, "description": "The score that the best must reach."}),
    ),
    Field::optional("select_best", || fragment::flag("Name the best in the report.")),
];

/// Decodes `stability`, which needs several runs.
pub(super) fn decode_stability(
    test: &Node,
    runs: NonZeroU32,
    scope: &Scope,
    found: &mut Diagnostics<'_>,
) -> Option<Expectation> {
    let node = test.get("stability").filter(|node| !node.is_null())?;
    field::entries(node, "`stability`", STABILITY, found)?;
    if runs.get() < 2 {
        let message = "`stability` compares several runs, and there is one";
        found.error_with_help("missing-key", node.span, message, "add `runs: 3`");
        return None;
    }
    let written = node.get("expect").filter(|expect| expect.as_list().is_none_or(|list| !list.is_empty()));
    let default = json!([{"target": "stability.weakest_score", "matcher": {"gte": 0.5}}]);
    let default = Node::from_json(node.span, default);
    Some(expectation::decode(written.or(Some(&default)), VOCABULARY, scope, found))
}

/// The JSON Schema of `stability`.
pub(super) fn stability_schema() -> Value {
    field::map("Required consistency over all of its `runs`; without a value, the weakest must score 0.5.", STABILITY)
}

/// Decodes `matrix_assert`.
pub(super) fn decode_matrix(test: &Node, found: &mut Diagnostics<'_>) -> Option<MatrixAssert> {
    let entry = test.as_map()?.iter().find(|entry| entry.key.text == "matrix_assert" && !entry.value.is_null())?;
    let node = &entry.value;
    field::entries(node, "`matrix_assert`", MATRIX_ASSERT, found)?;
    let max_score = match node.get("max_score").filter(|score| !score.is_null()) {
        None => None,
        Some(score) => Some(mcprove_judge::checks::decode_threshold(score, found)?),
    };
    let best = node.get("select_best").filter(|best| !best.is_null());
    let select_best = best.and_then(|best| found.boolean(best, "`select_best`")).unwrap_or(false);
    if max_score.is_none() && best.is_none() {
        let help = "add `max_score: 0.8`, or `select_best: true`";
        found.error_with_help("nothing-asked", entry.key.span, "`matrix_assert` asks for nothing", help);
        return None;
    }
    Some(MatrixAssert { max_score, select_best, span: entry.key.span })
}

/// The JSON Schema of `matrix_assert`.
pub(super) fn matrix_schema() -> Value {
    field::map("Expectation about the best of its `models`, by the share of its expectations that hold.", MATRIX_ASSERT)
}
