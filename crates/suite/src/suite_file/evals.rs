//! `evals`, `rubrics` and `scorers`: answers that a judge grades. No judge of this version is a language model: an eval that
//! needs one is skipped, visibly, and one that names a model is refused. A scorer that is a command grades fixed answers.

use std::sync::Arc;

use mcprove_model::{Act, Diagnostics, Expectation, Node, Score, Scorer, Skip, nearest};
use serde_json::{Value, json};

use super::list::Kind;
use super::{Suite, Unit, outside};
use crate::assertion_file::block::{self, Input};
use crate::assertion_file::texts;
use crate::field::Field;
use crate::schema::fragment;

/// The key of the list.
pub(super) const KEY: &str = "evals";

pub(super) const KIND: Kind = Kind {
    key: KEY,
    summary: "Grade an answer with `scorers` that are commands; what only a language model could grade is skipped.",
    fields: &[FIELDS],
    decode,
};

const FIELDS: &[Field] = &[
    Field::optional("judge", || {
        let jury = fragment::map(
            "Several judges.",
            json!({"consensus": {"type": "number", "minimum": 0, "maximum": 1}, "size": fragment::count("How many.", 1)}),
            &[],
        );
        fragment::map("Who grades; a model is refused.", json!({"jury": jury}), &[])
    }),
    Field::required("prompt", || fragment::text("What was asked.")),
    Field::optional("response", || fragment::text("The answer to grade.")),
    Field::optional("rubric", || json!({"description": "What a good answer is: a text, criteria, or `{ref: NAME}`."})),
];

const JUDGE_OUTSIDE: &[(&str, &str)] = &[
    ("aggregate", "no language model judges here"),
    ("model", "no language model judges here; grade with a command under `scorers`"),
    ("panel", "no language model judges here; grade with a command under `scorers`"),
    ("tie_break", "no language model judges here"),
];

/// Commands that grade, of all units.
pub(super) fn decode_scorers(units: &[Unit], found: &mut [Diagnostics<'_>]) -> Vec<Scorer> {
    let mut scorers = Vec::new();
    for (unit, found) in units.iter().zip(found) {
        let list = unit.node.get("scorers").filter(|list| !list.is_null());
        for scorer in list.map(|list| found.list(list, "`scorers`")).unwrap_or_default() {
            scorers.extend(decode_scorer(scorer, found));
        }
    }
    scorers
}

/// The JSON Schema of `scorers`.
pub(super) fn scorers_schema() -> Value {
    let properties = json!({
        "command": {"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "Reads `{prompt, response, rubric}` and prints `{verdict, score, reasoning}`."},
        "name": fragment::text("Its name."),
        "type": {"const": "exec"},
    });
    fragment::list(
        "Commands that grade the answers of `evals`.",
        fragment::map("A scorer.", properties, &["name", "type", "command"]),
    )
}

/// The JSON Schema of `rubrics`.
pub(super) fn rubrics_schema() -> Value {
    fragment::any_map("Rubrics by name, which `rubric: {ref: NAME}` refers to; scorers are given them.")
}

/// Why an eval is not run, if so.
pub(super) fn skip_reason(test: &Node, suite: &Suite<'_>) -> Option<Skip> {
    let reason = if suite.scorers.is_empty() {
        "model-graded: it needs a language model as judge, and none is used; `scorers` with a command can grade it"
    } else if test.get("response").is_none() {
        "it has no `response` to grade"
    } else {
        return None;
    };
    Some(Skip { reason: reason.to_owned() })
}

fn decode_scorer(node: &Node, found: &mut Diagnostics<'_>) -> Option<Scorer> {
    found.map(node, "a scorer")?;
    found.known_keys(node, "a scorer", &["command", "name", "type"]);
    let name = block::named(node, "name", node.span, found)?.as_text()?.to_owned();
    let kind = block::named(node, "type", node.span, found)?;
    if kind.as_text() != Some("exec") {
        let message = format!("the scorer type `{}` is not supported", kind.as_text().unwrap_or("?"));
        found.error_with_help("unsupported-key", kind.span, message, "write `type: exec` with a `command`");
        return None;
    }
    let Some(command) = node.get("command") else {
        found.error_with_help(
            "missing-key",
            node.span,
            "the scorer has no `command`",
            "add the program and its arguments",
        );
        return None;
    };
    let words = texts::list(command, "`command`", found);
    (!words.is_empty()).then_some(Scorer { name, words })
}

fn decode(input: &Input<'_>, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let test = &input.entry.value;
    let prompt = block::named(test, "prompt", input.entry.key.span, found)?.as_text()?.to_owned();
    if let Some(judge) = test.get("judge").filter(|judge| !judge.is_null()) {
        let entries = found.map(judge, "`judge`")?;
        outside::known_keys(entries, "`judge`", (&["jury"], JUDGE_OUTSIDE), found);
    }
    let rubric = match test.get("rubric").filter(|rubric| !rubric.is_null()) {
        Some(rubric) => decode_rubric(rubric, suite, found)?,
        None => Value::Null,
    };
    let response = texts::optional(test, "response", found).unwrap_or_default().to_owned();
    let score = Score { prompt, response, rubric, scorers: Arc::clone(&suite.scorers), span: input.entry.key.span };
    Some((Act::Score(Box::new(score)), Expectation::default()))
}

/// The rubric as scorers are given it; one that is referred to must be there.
fn decode_rubric(rubric: &Node, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<Value> {
    let Some(reference) = rubric.get("ref") else { return Some(rubric.to_json()) };
    let name = found.text(reference, "`ref`")?;
    let names = || suite.rubrics.iter().map(|(name, _)| name.as_str());
    let known = suite.rubrics.iter().find(|(known, _)| known == name);
    if known.is_none() {
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add it to `rubrics:`".to_owned(),
        };
        found.error_with_help("unknown-reference", reference.span, format!("there is no rubric `{name}`"), help);
    }
    known.map(|(_, rubric)| rubric.clone())
}
