//! `evals`, `rubrics` and `scorers`: answers that language models or commands grade, and `eval` of other tests.

use std::sync::Arc;

use mcprove_judge::matchers::graded::{self, Graded, THRESHOLD, eval, rubric};
use mcprove_model::{Act, Diagnostics, Expectation, Judge, Node, PlannedCheck, Score, Scorer, Skip};
use serde_json::{Value, json};

use super::list::Kind;
use super::performance::{MILLISECONDS, milliseconds};
use super::{Suite, Unit};
use crate::assertion_file::block::{self, Input};
use crate::assertion_file::texts;
use crate::field::{self, Field};
use crate::schema::fragment;

/// The key of the list.
pub(super) const KEY: &str = "evals";

pub(super) const KIND: Kind = Kind {
    key: KEY,
    summary: "Grade an answer with a language model (model-graded), or with `scorers` that are commands.",
    fields: &[FIELDS],
    decode,
};

/// Keys of the other tool's evals, and what to do instead.
pub(super) const OUTSIDE: &[(&str, &str)] =
    &[("matrix", "`panel` of `judge` asks several models; write a test for each prompt")];

/// The keys of a scorer.
pub(super) const SCORER: &[Field] = &[
    Field::required(
        "command",
        || json!({"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "Reads `{prompt, response, rubric}` and prints `{verdict, score, reasoning}`."}),
    ),
    Field::optional("cwd", || fragment::text("The folder it is started in; the caller's when left out.")),
    Field::optional("env", || fragment::scalars("Variables added to the caller's environment.")),
    Field::required("name", || fragment::text("Its name.")),
    Field::optional("timeout_ms", || {
        fragment::count_within("How long it may take; 30000 when left out.", &MILLISECONDS)
    }),
    Field::required("type", || json!({"const": "exec", "description": "The kind of scorer: a command."})),
];

const FIELDS: &[Field] = &[
    Field::optional("judge", || {
        let jury = fragment::map(
            "The same judge, asked several times.",
            json!({
                "consensus": {"type": "number", "minimum": 0, "maximum": 1, "description": "The share of the answers that must pass; 0.5 when left out."},
                "size": fragment::count("How often.", 1),
            }),
            &[],
        );
        let properties = json!({
            "aggregate": {"enum": ["majority", "mean", "median"], "description": "What a `panel` comes to; `mean` when left out."},
            "jury": jury,
            "model": fragment::text("The model that grades; `script` grades by `script`."),
            "panel": fragment::texts("Several models, each asked once."),
            "script": graded::script_schema(),
            "tie_break": {"enum": ["fail", "pass"], "description": "What an even split of a `panel` means; `fail` when left out."},
        });
        fragment::map("The judge; `judge` of the suite when left out.", properties, &[])
    }),
    Field::required("prompt", || fragment::text("The question.")),
    Field::optional("response", || fragment::text("The answer to grade.")),
    Field::optional("rubric", || {
        json!({
            "anyOf": [{"type": "string"}, rubric::schema()],
            "description": "What a good answer is: a text, criteria, a tree of questions, `{preset: NAME}`, or `{ref: NAME}`.",
        })
    }),
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
    fragment::list(
        "Commands that grade the answers of `evals`.",
        fragment::map("A scorer.", Value::Object(field::properties(SCORER)), &["name", "type", "command"]),
    )
}

/// The JSON Schema of `rubrics`.
pub(super) fn rubrics_schema() -> Value {
    fragment::any_map("Rubrics by name, which `rubric: {ref: NAME}` refers to; scorers are given them.")
}

/// Why an eval is not run, if so.
pub(super) fn skip_reason(test: &Node, suite: &Suite<'_>) -> Option<Skip> {
    let reason = if suite.scorers.is_empty() && !names_judge(test, suite) {
        "model-graded: it needs a judge, and none is named; add `judge: {model: …}`, or `scorers` with a command"
    } else if test.get("response").is_none() {
        "it has no `response` to grade"
    } else {
        return None;
    };
    Some(Skip { reason: reason.to_owned() })
}

/// The checks of `eval` of an agent or a composition.
pub(super) fn decode_metrics(
    test: &Node,
    has_turns: bool,
    suite: &Suite<'_>,
    found: &mut Diagnostics<'_>,
) -> Vec<PlannedCheck> {
    let entry = test.as_map().unwrap_or_default().iter().find(|entry| entry.key.text == eval::KEY);
    let Some(entry) = entry.filter(|entry| !entry.value.is_null()) else { return Vec::new() };
    eval::decode(entry, has_turns, &|name| named_rubric(name, suite), found)
}

fn named_rubric(name: &str, suite: &Suite<'_>) -> Option<Node> {
    suite.rubrics.iter().find(|(known, _)| known == name).map(|(_, rubric)| rubric.clone())
}

/// True if a judge is named.
fn names_judge(test: &Node, suite: &Suite<'_>) -> bool {
    let named = |key: &str| test.get("judge").and_then(|judge| judge.get(key)).is_some_and(|value| !value.is_null());
    named("model") || named("panel") || suite.options.judge.is_some()
}

fn decode_scorer(node: &Node, found: &mut Diagnostics<'_>) -> Option<Scorer> {
    field::entries(node, "a scorer", SCORER, found)?;
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
    let env = node.get("env").map_or_else(Vec::new, |env| {
        let texts = texts::map(env, "`env`", found);
        texts.into_iter().map(|(entry, text)| (entry.key.text.to_string(), text.to_owned())).collect()
    });
    let cwd = texts::optional(node, "cwd", found).map(str::to_owned);
    let timeout = milliseconds(node, "timeout_ms", found).unwrap_or(Scorer::TIMEOUT);
    (!words.is_empty()).then_some(Scorer { name, words, env, cwd, timeout })
}

fn decode(input: &Input<'_>, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let test = input.node;
    let prompt = input.named("prompt", found)?.as_text()?.to_owned();
    let rubric = test.get("rubric").filter(|rubric| !rubric.is_null());
    let judge = test.get("judge").filter(|judge| !judge.is_null());
    let mut graded = match rubric {
        Some(map) if map.as_map().is_some() => {
            eval::by_rubric(rubric::decode(map, &|name| named_rubric(name, suite), found)?, Judge::default())
        }
        Some(text) => {
            let text = found.text(text, "`rubric`")?;
            Graded::score(format!("The prompt was: {prompt}\nA good answer: {text}"), Judge::default(), THRESHOLD)
        }
        None => {
            let text =
                format!("The prompt was: {prompt}\nA good answer does what the prompt asks, completely and correctly.");
            Graded::score(text, Judge::default(), THRESHOLD)
        }
    };
    if let Some(threshold) = test.get("threshold").and_then(|share| share.as_number()?.as_f64()) {
        graded.jurors.iter_mut().for_each(|juror| juror.threshold = threshold);
    }
    eval::decode_jurors(judge, &mut graded, found)?;
    let shown = rubric.map_or(Value::Null, |rubric| match rubric.get("ref").and_then(Node::as_text) {
        Some(name) => named_rubric(name, suite).map_or(Value::Null, |rubric| rubric.to_json()),
        None => rubric.to_json(),
    });
    let span = input.place;
    let response = texts::optional(test, "response", found).unwrap_or_default().to_owned();
    let score = Score { prompt, response, rubric: shown, scorers: Arc::clone(&suite.scorers), span };
    let mut expect = Expectation::default();
    if names_judge(test, suite) {
        expect.judged.push(eval::of_answer("the answer", graded, span));
    }
    Some((Act::Score(Box::new(score)), expect))
}
