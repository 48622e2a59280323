//! The keys of the matchers that are graded, and of judges.

use std::sync::Arc;

use mcprove_model::{CriterionGrade, Diagnostics, Grade, Judge, Node, ScriptedGrade};
use serde_json::{Map, Value, json};

use super::super::{Decoded, MatcherKind, fails, holds};
use super::{Fold, Graded, Juror, Marking, THRESHOLD};
use crate::checks::{decode_threshold, threshold_schema};

pub(in crate::matchers) const LLM_JUDGE: MatcherKind = MatcherKind {
    name: "llm-judge",
    summary: "Model-graded: a language model scores the value by a `rubric`, at least `threshold` (0.7); with `samples`, more \
              than half of its answers pass; with `criteria`, each is met or not. `model: script` grades by `script`.",
    decode: |node, found| decode_llm_judge(node, found),
    schema: || {
        let criterion = json!({
            "type": "object",
            "required": ["name", "require"],
            "properties": {
                "name": {"type": "string", "minLength": 1, "description": "The name of the criterion."},
                "require": {"type": "string", "minLength": 1, "description": "The condition that the value must meet."},
            },
            "additionalProperties": false,
        });
        let fraction = json!({
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 1,
            "description": "The share of criteria that must be met.",
        });
        let own = json!({
            "combine": {
                "anyOf": [
                    {"const": "all"},
                    {"type": "object", "required": ["fraction"], "properties": {"fraction": fraction}, "additionalProperties": false},
                ],
                "description": "How many criteria must be met: `all`, or a `fraction`; `all` when left out.",
            },
            "criteria": {
                "type": "array",
                "minItems": 1,
                "maxItems": 8,
                "items": criterion,
                "description": "Criteria, each of which is met or not.",
            },
            "rubric": {"type": "string", "minLength": 1, "description": "What a good value is."},
            "samples": {"enum": [1, 3, 5, 7, 9], "description": "How often the model is asked; more than half must pass."},
        });
        schema(own, "rubric")
    },
    examples: &[
        holds(
            r#"{"rubric": "It greets.", "model": "script", "script": [{"score": 0.9, "reasoning": "it does"}]}"#,
            r#""hello""#,
        ),
        fails(
            r#"{"rubric": "It greets.", "model": "script", "script": [{"score": 0.2, "reasoning": "it does not"}]}"#,
            r#""no""#,
        ),
        holds(
            r#"{"rubric": "A reply.", "criteria": [{"name": "short", "require": "It is short."}], "model": "script", "script": [{"criteria": {"short": true}}]}"#,
            r#""ok""#,
        ),
        fails(
            r#"{"rubric": "A reply.", "samples": 3, "model": "script", "script": [{"score": 1}, {"score": 0.1}, {"score": 0.3}]}"#,
            r#""ok""#,
        ),
    ],
};

pub(in crate::matchers) const LLM_JURY: MatcherKind = MatcherKind {
    name: "llm-jury",
    summary: "Model-graded: several language models score the value by a `rubric`; a share of them, `quorum` (0.5), must give at \
              least `threshold` (0.7). `jury.agreement`, `jury.confidence`, `jury.escalate` and `jury.passing` are targets then.",
    decode: |node, found| decode_llm_jury(node, found),
    schema: || {
        let mut juror = schema(json!({}), "model");
        juror["properties"]["model"] = json!({"type": "string", "minLength": 1, "description": MODEL});
        json!({
            "type": "object",
            "required": ["rubric", "jurors"],
            "additionalProperties": false,
            "properties": {
                "bias": {
                    "type": "object",
                    "properties": {"chain_of_thought": {"type": "boolean", "description": "The model reasons before it scores."}},
                    "additionalProperties": false,
                    "description": "Measures against bias.",
                },
                "jurors": {"type": "array", "minItems": 1, "items": juror, "description": "The models that are asked."},
                "min_agreement": share("The share of the jurors that must agree with each other."),
                "quorum": share("The share of the jurors that must pass; 0.5 when left out."),
                "rubric": {"type": "string", "minLength": 1, "description": "What a good value is."},
                "threshold": share("The least score with which a juror passes; 0.7 when left out."),
            },
        })
    },
    examples: &[
        holds(
            r#"{"rubric": "It greets.", "jurors": [{"model": "script", "script": [{"score": 1}]}, {"model": "script", "script": [{"score": 0.2}]}]}"#,
            r#""hello""#,
        ),
        fails(
            r#"{"rubric": "It greets.", "quorum": 1, "jurors": [{"model": "script", "script": [{"score": 1}]}, {"model": "script", "script": [{"score": 0.2}]}]}"#,
            r#""hello""#,
        ),
    ],
};

pub(in crate::matchers) const FACTUALITY: MatcherKind = MatcherKind {
    name: "factuality",
    summary: "Model-graded: a language model finds the value consistent with the facts of `reference`.",
    decode: |node, found| {
        decode_named(
            node,
            "factuality",
            "reference",
            "State facts that agree with this reference, and none that contradicts it",
            found,
        )
    },
    schema: || {
        schema(json!({"reference": {"type": "string", "minLength": 1, "description": "The facts."}}), "reference")
    },
    examples: &[
        holds(r#"{"reference": "Rome is in Italy.", "model": "script", "script": [{"score": 1}]}"#, r#""Rome, Italy""#),
        fails(r#"{"reference": "Rome is in Italy.", "model": "script", "script": [{"score": 0}]}"#, r#""Rome, Peru""#),
    ],
};

pub(in crate::matchers) const ANSWER_RELEVANCE: MatcherKind = MatcherKind {
    name: "answer-relevance",
    summary: "Model-graded: a language model finds that the value answers `query` directly and completely.",
    decode: |node, found| {
        decode_named(node, "answer-relevance", "query", "Answer this question directly and completely", found)
    },
    schema: || schema(json!({"query": {"type": "string", "minLength": 1, "description": "The question."}}), "query"),
    examples: &[
        holds(
            r#"{"query": "How warm is it?", "model": "script", "script": [{"contains": "°C", "score": 1}]}"#,
            r#""21 °C""#,
        ),
        fails(r#"{"query": "How warm is it?", "model": "script", "script": [{"score": 0.1}]}"#, r#""Tuesday""#),
    ],
};

pub(in crate::matchers) const CONTEXT_FAITHFULNESS: MatcherKind = MatcherKind {
    name: "context-faithfulness",
    summary: "Model-graded: a language model finds every claim of the value supported by `context`.",
    decode: |node, found| {
        decode_named(node, "context-faithfulness", "context", "Claim only what this context supports", found)
    },
    schema: || {
        schema(
            json!({"context": {"type": "string", "minLength": 1, "description": "The text that supports claims."}}),
            "context",
        )
    },
    examples: &[
        holds(
            r#"{"context": "The shop opens at 9.", "model": "script", "script": [{"score": 0.8}]}"#,
            r#""It opens at 9.""#,
        ),
        fails(
            r#"{"context": "The shop opens at 9.", "model": "script", "script": [{"score": 0.3}]}"#,
            r#""It opens at 8.""#,
        ),
    ],
};

/// Decodes `model`, `provider` and `script` of a map; `what` is how to speak of it.
pub fn decode_judge(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<Judge> {
    let written = node.get("model").filter(|model| !model.is_null());
    let (model, provider) = match written {
        None => (None, None),
        Some(model) if model.as_map().is_some() => {
            found.known_keys(model, "`model`", &["id", "provider"]);
            let text = |key: &str| model.get(key).and_then(Node::as_text).map(str::to_owned);
            (text("id"), text("provider"))
        }
        Some(model) => (Some(found.text(model, "`model`")?.to_owned()), None),
    };
    let script = match node.get("script").filter(|script| !script.is_null()) {
        None => None,
        Some(script) => Some(decode_script(script, found)?),
    };
    if script.is_some() && model.as_deref() != Some(Judge::SCRIPT) {
        let message = format!("`script` of {what} means nothing without `model: script`");
        found.error_with_help("wrong-key", node.span, message, "write `model: script`, or remove it");
        return None;
    }
    Some(Judge { model, provider, script })
}

/// The JSON Schema of `script`.
pub fn script_schema() -> Value {
    let score = json!({"anyOf": [share(SCORE), {"type": "boolean"}], "description": SCORE});
    let criterion = json!({"anyOf": [score, {
        "type": "object",
        "required": ["score"],
        "properties": {"evidence": {"type": "string", "description": "Words of the value that show it."}, "score": score},
        "additionalProperties": false,
    }]});
    let line = json!({
        "type": "object",
        "minProperties": 1,
        "additionalProperties": false,
        "properties": {
            "contains": {"type": "string", "description": "It applies to values that contain this text."},
            "criteria": {"type": "object", "additionalProperties": criterion, "description": "The score of each criterion, by name."},
            "reasoning": {"type": "string", "description": "The reason that is shown."},
            "score": share(SCORE),
        },
    });
    json!({
        "x-definition": "judge-script",
        "type": "array",
        "minItems": 1,
        "items": line,
        "description": "The grades of `model: script`: of those that apply, each answer takes the next, and the last repeats.",
    })
}

/// The JSON Schema of a judge.
pub fn judge_schema() -> Value {
    json!({
        "type": "object",
        "required": ["model"],
        "additionalProperties": false,
        "properties": {"model": model_schema(), "script": script_schema()},
        "description": "Who grades where a check names no `model`.",
    })
}

fn model_schema() -> Value {
    json!({
        "anyOf": [
            {"type": "string", "minLength": 1},
            {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "string", "description": "The model."},
                    "provider": {"type": "string", "description": "One of `providers`."},
                },
                "additionalProperties": false,
            },
        ],
        "description": MODEL,
    })
}

/// Description of the model of a judge.
const MODEL: &str = "The model that grades, or `script`; that of the suite's `judge` when left out.";

/// Description of a grade.
const SCORE: &str = "The score, from 0 to 1.";

/// A number from 0 to 1.
pub(super) fn share(description: &str) -> Value {
    let mut schema = threshold_schema();
    schema["description"] = description.into();
    schema
}

/// The JSON Schema of a map with a judge, a threshold and keys of its own.
fn schema(own: Value, required: &str) -> Value {
    let mut properties = Map::new();
    properties.insert("model".to_owned(), model_schema());
    properties.insert("script".to_owned(), script_schema());
    properties.insert("threshold".to_owned(), share("The least score that passes; 0.7 when left out."));
    if let Value::Object(own) = own {
        properties.extend(own);
    }
    properties.sort_keys();
    json!({"type": "object", "required": [required], "properties": properties, "additionalProperties": false})
}

fn decode_script(node: &Node, found: &mut Diagnostics<'_>) -> Option<Arc<[ScriptedGrade]>> {
    let before = found.error_count();
    let lines: Vec<ScriptedGrade> =
        found.list(node, "`script`").iter().filter_map(|line| decode_line(line, found)).collect();
    if lines.is_empty() && found.error_count() == before {
        found.error_with_help("missing-key", node.span, "`script` has no grade", "write for example `[{score: 0.9}]`");
    }
    (found.error_count() == before).then(|| lines.into())
}

fn decode_line(node: &Node, found: &mut Diagnostics<'_>) -> Option<ScriptedGrade> {
    found.map(node, "a grade")?;
    found.known_keys(node, "a grade", &["contains", "criteria", "reasoning", "score"]);
    let score = match node.get("score").filter(|score| !score.is_null()) {
        None => None,
        Some(score) => Some(decode_score(score, found)?),
    };
    let mut criteria = Vec::new();
    for entry in node.get("criteria").and_then(Node::as_map).unwrap_or_default() {
        let number = entry.value.get("score").unwrap_or(&entry.value);
        let score = match number.as_bool() {
            Some(met) => f64::from(u8::from(met)),
            None => decode_score(number, found)?,
        };
        let evidence = entry.value.get("evidence").and_then(Node::as_text).map(str::to_owned);
        criteria.push(CriterionGrade { name: entry.key.text.to_string(), score, evidence });
    }
    if score.is_none() && criteria.is_empty() {
        found.error_with_help("missing-key", node.span, "this grade has no score", "add `score:`, or `criteria:`");
        return None;
    }
    let text = |key: &str| node.get(key).and_then(Node::as_text).map(str::to_owned);
    let reasoning = text("reasoning").unwrap_or_else(|| "no reason given".to_owned());
    Some(ScriptedGrade { contains: text("contains"), grade: Grade { by: String::new(), score, criteria, reasoning } })
}

/// A score from 0 to 1.
pub(super) fn decode_score(node: &Node, found: &mut Diagnostics<'_>) -> Option<f64> {
    let score = node.as_number().and_then(serde_json::Number::as_f64).filter(|score| (0.0..=1.0).contains(score));
    if score.is_none() {
        found.wrong_kind(node, "a score", "a number from 0 to 1");
    }
    score
}

fn threshold_of(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Result<Option<f64>, ()> {
    match node.get(key).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => decode_threshold(value, found).map(Some).ok_or(()),
    }
}

/// A text under a key that must be there.
fn text_of(node: &Node, matcher: &str, key: &str, found: &mut Diagnostics<'_>) -> Option<String> {
    let Some(text) = node.get(key).filter(|text| !text.is_null()) else {
        found.error_with_help("missing-key", node.span, format!("`{matcher}` has no `{key}`"), format!("add `{key}:`"));
        return None;
    };
    found.text(text, &format!("`{key}`")).map(str::to_owned)
}

/// One of the matchers whose rubric is given.
fn decode_named(node: &Node, matcher: &str, key: &str, rubric: &str, found: &mut Diagnostics<'_>) -> Decoded {
    found.map(node, &format!("`{matcher}`"))?;
    found.known_keys(node, &format!("`{matcher}`"), &["model", "script", "threshold", key]);
    let text = text_of(node, matcher, key, found)?;
    let judge = decode_judge(node, &format!("`{matcher}`"), found)?;
    let threshold = threshold_of(node, "threshold", found).ok()?.unwrap_or(THRESHOLD);
    Some(Arc::new(Graded::score(format!("{rubric}: {text}"), judge, threshold)))
}

fn decode_llm_judge(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    found.map(node, "`llm-judge`")?;
    let keys = ["combine", "criteria", "model", "rubric", "samples", "script", "threshold"];
    found.known_keys(node, "`llm-judge`", &keys);
    let rubric = text_of(node, "llm-judge", "rubric", found)?;
    let judge = decode_judge(node, "`llm-judge`", found)?;
    let threshold = threshold_of(node, "threshold", found).ok()?;
    let samples = match node.get("samples").filter(|samples| !samples.is_null()) {
        None => 1,
        Some(samples) => match samples.as_count().and_then(|count| usize::try_from(count).ok()) {
            Some(count) if count % 2 == 1 && count <= 9 => count,
            Some(_) | None => {
                found.wrong_kind(samples, "`samples`", "an odd number up to 9");
                return None;
            }
        },
    };
    let fraction = match node.get("combine").filter(|combine| !combine.is_null()) {
        None => None,
        Some(combine) if combine.as_text() == Some("all") => None,
        Some(combine) => match combine.get("fraction").and_then(|share| share.as_number()?.as_f64()) {
            Some(share) if share > 0.0 && share <= 1.0 => Some(share),
            Some(_) | None => {
                found.wrong_kind(combine, "`combine`", "`all`, or `{fraction: 0.5}`");
                return None;
            }
        },
    };
    let marking = match node.get("criteria").filter(|criteria| !criteria.is_null()) {
        None if node.get("combine").is_some() => {
            let message = "`combine` means nothing without `criteria`";
            found.error_with_help("wrong-key", node.span, message, "add `criteria:`, or remove it");
            return None;
        }
        None => Marking::Score,
        Some(criteria) => {
            if fraction.is_none() && threshold.is_some() {
                let message = "`threshold` means nothing where all `criteria` must be met";
                let help = "remove it, or write `combine: {fraction: 0.5}`";
                found.error_with_help("wrong-key", node.span, message, help);
                return None;
            }
            let share = fraction.map_or(1.0, |share| share.max(threshold.unwrap_or(0.0)));
            Marking::Requirements { all: decode_requirements(criteria, found)?, share }
        }
    };
    let mut graded = Graded::score(rubric, judge, threshold.unwrap_or(THRESHOLD));
    (graded.samples, graded.marking) = (samples, marking);
    Some(Arc::new(graded))
}

fn decode_requirements(node: &Node, found: &mut Diagnostics<'_>) -> Option<Vec<(String, String)>> {
    let items = super::super::items(node, "`criteria`", found)?;
    let mut all: Vec<(String, String)> = Vec::new();
    for item in items {
        found.known_keys(item, "a criterion", &["name", "require"]);
        let name = text_of(item, "criteria", "name", found)?;
        let require = text_of(item, "criteria", "require", found)?;
        if all.iter().any(|(known, _)| *known == name) {
            let message = format!("there is a criterion `{name}` already");
            found.error_with_help("duplicate-key", item.span, message, "give each a name of its own");
            return None;
        }
        all.push((name, require));
    }
    Some(all)
}

fn decode_llm_jury(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    found.map(node, "`llm-jury`")?;
    let unsupported = [("max_cost", "`budget` bounds what models may cost; remove it")];
    let keys = ["bias", "jurors", "min_agreement", "quorum", "rubric", "threshold"];
    report_unsupported(node, "`llm-jury`", &unsupported, &keys, found)?;
    let mut rubric = text_of(node, "llm-jury", "rubric", found)?;
    if let Some(bias) = node.get("bias").filter(|bias| !bias.is_null()) {
        let unsupported = [
            ("anchors", "`examples` of a rubric calibrate a judge; remove it"),
            ("style_guard", "no other measure of bias is taken; remove it"),
            ("style_swap", "no other measure of bias is taken; remove it"),
            ("verbosity_guard", "no other measure of bias is taken; remove it"),
        ];
        report_unsupported(bias, "`bias`", &unsupported, &["chain_of_thought"], found)?;
        if bias.get("chain_of_thought").and_then(Node::as_bool) == Some(true) {
            rubric.push_str("\nReason step by step before you decide on the score.");
        }
    }
    let threshold = threshold_of(node, "threshold", found).ok()?.unwrap_or(THRESHOLD);
    let quorum = threshold_of(node, "quorum", found).ok()?.unwrap_or(0.5);
    let agreement = threshold_of(node, "min_agreement", found).ok()?;
    let Some(list) = node.get("jurors") else {
        found.error_with_help("missing-key", node.span, "`llm-jury` has no `jurors`", "add `jurors: [{model: …}]`");
        return None;
    };
    let mut jurors = Vec::new();
    for juror in super::super::items(list, "`jurors`", found)? {
        found.map(juror, "a juror")?;
        found.known_keys(juror, "a juror", &["model", "script", "threshold"]);
        if juror.get("model").is_none() {
            found.error_with_help("missing-key", juror.span, "this juror has no `model`", "add `model:`");
            return None;
        }
        let own = threshold_of(juror, "threshold", found).ok()?;
        jurors.push(Juror { judge: decode_judge(juror, "a juror", found)?, threshold: own.unwrap_or(threshold) });
    }
    let (marking, fold) = (Marking::Score, Fold::Quorum(quorum, agreement));
    Some(Arc::new(Graded { rubric, jurors, samples: 1, marking, fold, is_jury: true }))
}

/// Reports keys of the other tool that are not supported, and unknown ones.
fn report_unsupported(
    node: &Node,
    what: &str,
    unsupported: &[(&str, &'static str)],
    known: &[&'static str],
    found: &mut Diagnostics<'_>,
) -> Option<()> {
    let before = found.error_count();
    for entry in node.as_map().unwrap_or_default() {
        if let Some((name, help)) = unsupported.iter().find(|(name, _)| *name == entry.key.text) {
            let message = format!("`{name}` of {what} is not supported");
            found.error_with_help("unsupported-key", entry.key.span, message, *help);
        } else if !known.contains(&entry.key.text.as_str()) {
            found.unknown_key(&entry.key, what, known);
        }
    }
    (found.error_count() == before).then_some(())
}
