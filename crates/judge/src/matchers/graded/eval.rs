//! `eval`: what judges decide about a whole run of an agent, a graph of calls, or a given answer.

use std::sync::Arc;

use mcprove_model::{Check, Diagnostics, Entry, Judge, Mismatch, Node, Observation, PlannedCheck, Question, Span};
use serde_json::{Value, json};

use super::decode::share;
use super::rubric::{self, Rubric};
use super::{Decision, Fold, Graded, Juror, Marking, THRESHOLD};
use crate::checks::decode_threshold;
use crate::excerpt;

/// The key, and the name of the check.
pub const KEY: &str = "eval";

/// Metrics with a rubric of their own.
const METRICS: &[(&str, &str)] = &[
    (
        "argument_correctness",
        "The arguments of every call are right: they say what the user meant, nothing is missing, made up or in the wrong form.",
    ),
    ("mcp_task_completion", "What the user asked for was done, completely, and the final answer says so truthfully."),
    ("mcp_use", "The tools that suit the intent were called, with suitable arguments, and none that was not needed."),
    (
        MULTI_TURN,
        "In this turn, the tools that suit the intent were called, with suitable arguments, and none that was not needed.",
    ),
    ("plan_quality", "The calls are a sensible plan: each has a purpose, the order is right, and results are used."),
];

const MULTI_TURN: &str = "multi_turn_mcp_use";

/// The least score of a metric where nothing is said.
const METRIC_THRESHOLD: f64 = 0.5;

/// Text that a judge is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// Everything that happened.
    Whole,
    /// One turn of the user after the other; the mean counts.
    Turns,
}

/// Decision of judges about a run.
#[derive(Debug)]
struct Eval {
    name: String,
    subject: Subject,
    graded: Graded,
}

/// Decodes the block; `has_turns` is true if the user speaks more than once.
pub fn decode(
    entry: &Entry,
    has_turns: bool,
    named: &dyn Fn(&str) -> Option<Node>,
    found: &mut Diagnostics<'_>,
) -> Vec<PlannedCheck> {
    let names: Vec<&str> = METRICS.iter().map(|(name, _)| *name).chain(["rubric"]).collect();
    let mut checks = Vec::new();
    for metric in found.known_keys(&entry.value, "`eval`", &names) {
        let name = metric.key.text.to_string();
        let span = metric.key.span;
        if name == "rubric" {
            let rubric = rubric::decode(&metric.value, named, found);
            checks.extend(rubric.map(|rubric| of_rubric(name, rubric, span)));
            continue;
        }
        if name == MULTI_TURN && !has_turns {
            let message = "`multi_turn_mcp_use` needs several turns of the user";
            found.error_with_help("wrong-key", span, message, "add `turns:`, or write `mcp_use`");
            continue;
        }
        checks.extend(decode_metric(metric, name, found));
    }
    if checks.is_empty() && entry.value.as_map().is_some_and(<[Entry]>::is_empty) {
        found.error_with_help("nothing-asked", entry.key.span, "`eval` has no metric", "add for example `mcp_use: {}`");
    }
    checks
}

/// The JSON Schema of the block.
pub fn schema() -> Value {
    let metric = |asked: &str| {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "strict": {"type": "boolean", "description": "Only a perfect score passes."},
                "threshold": share("The least score that passes; 0.5 when left out."),
            },
            "description": asked,
        })
    };
    let mut properties: serde_json::Map<String, Value> =
        METRICS.iter().map(|(name, asked)| ((*name).to_owned(), metric(asked))).collect();
    properties.insert("rubric".to_owned(), rubric::schema());
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "description": "Model-graded: what a judge decides about the whole run.",
    })
}

/// A check of a given answer by a rubric, for every kind of judge.
pub fn of_answer(name: &str, graded: Graded, span: Span) -> PlannedCheck {
    planned(Eval { name: name.to_owned(), subject: Subject::Whole, graded }, span)
}

/// The grading by a rubric that is a map.
pub fn by_rubric(rubric: Rubric, judge: Judge) -> Graded {
    let least = rubric.least();
    let rubric_text = "Each criterion says what it asks of the value.".to_owned();
    let mut graded = Graded::score(rubric_text, judge, least);
    graded.marking = Marking::Rubric(rubric);
    graded
}

/// Decodes who grades an answer: `model`, `jury`, `panel`.
pub fn decode_jurors(judge: Option<&Node>, graded: &mut Graded, found: &mut Diagnostics<'_>) -> Option<()> {
    let Some(judge) = judge else { return Some(()) };
    found.map(judge, "`judge`")?;
    found.known_keys(judge, "`judge`", &["aggregate", "jury", "model", "panel", "script", "tie_break"]);
    let one = super::decode_judge(judge, "`judge`", found)?;
    let least = graded.jurors.first().map_or(THRESHOLD, |juror| juror.threshold);
    graded.jurors = vec![Juror { judge: one.clone(), threshold: least }];
    if let Some(jury) = judge.get("jury").filter(|jury| !jury.is_null()) {
        found.known_keys(jury, "`jury`", &["consensus", "size"]);
        let size = jury.get("size").and_then(Node::as_count).and_then(|size| usize::try_from(size).ok()).unwrap_or(3);
        let consensus = match jury.get("consensus") {
            None => 0.5,
            Some(share) => decode_threshold(share, found)?,
        };
        (graded.samples, graded.fold) = (size.clamp(1, 25), Fold::Quorum(consensus, None));
    }
    if let Some(panel) = judge.get("panel").filter(|panel| !panel.is_null()) {
        let models: Vec<String> =
            found.list(panel, "`panel`").iter().filter_map(Node::as_text).map(str::to_owned).collect();
        if models.is_empty() {
            found.wrong_kind(panel, "`panel`", "a list of models");
            return None;
        }
        let juror = |model: String| Juror { judge: Judge { model: Some(model), ..one.clone() }, threshold: least };
        graded.jurors = models.into_iter().map(juror).collect();
        graded.samples = 1;
        graded.fold = match judge.get("aggregate").and_then(Node::as_text).unwrap_or("mean") {
            "median" => Fold::Median(least),
            "majority" => Fold::MajorityOr(judge.get("tie_break").and_then(Node::as_text) == Some("pass")),
            _ => Fold::Mean(least),
        };
    }
    Some(())
}

fn of_rubric(name: String, rubric: Rubric, span: Span) -> PlannedCheck {
    planned(Eval { name, subject: Subject::Whole, graded: by_rubric(rubric, Judge::default()) }, span)
}

fn planned(eval: Eval, span: Span) -> PlannedCheck {
    PlannedCheck { name: KEY, span, weight: 0.0, check: Arc::new(eval) }
}

fn decode_metric(entry: &Entry, name: String, found: &mut Diagnostics<'_>) -> Option<PlannedCheck> {
    let node = &entry.value;
    if !node.is_null() {
        found.map(node, &format!("`{name}`"))?;
        found.known_keys(node, &format!("`{name}`"), &["strict", "threshold"]);
    }
    let threshold = match node.get("threshold").filter(|threshold| !threshold.is_null()) {
        None => METRIC_THRESHOLD,
        Some(threshold) => decode_threshold(threshold, found)?,
    };
    let strict = node.get("strict").and_then(|strict| found.boolean(strict, "`strict`")).unwrap_or(false);
    let least = if strict { 1.0 } else { threshold };
    let (_, text) = METRICS.iter().find(|(known, _)| *known == name)?;
    let subject = if name == MULTI_TURN { Subject::Turns } else { Subject::Whole };
    let graded = Graded::score((*text).to_owned(), Judge::default(), least);
    Some(planned(Eval { name, subject, graded }, entry.key.span))
}

impl Eval {
    fn candidates(&self, seen: &Observation) -> Vec<String> {
        let extra = &seen.extra;
        if let Some(response) = extra.get("response") {
            return vec![super::super::shown(response)];
        }
        let Some(turns) = extra.pointer("/conversation/turns").and_then(Value::as_array) else {
            // A graph of calls.
            return vec![extra.to_string()];
        };
        let empty = Vec::new();
        let results = extra["tool_results"].as_array().unwrap_or(&empty);
        let calls: Vec<Value> = extra["tool_calls"]
            .as_array()
            .unwrap_or(&empty)
            .iter()
            .zip(results)
            .map(|(call, result)| {
                let parts = [("tool", &call["name"]), ("arguments", &call["args"]), ("turn", &call["turn"])];
                let mut made: serde_json::Map<String, Value> =
                    parts.into_iter().map(|(key, value)| (key.to_owned(), value.clone())).collect();
                made.insert("result".to_owned(), result["result"].clone());
                Value::Object(made)
            })
            .collect();
        match self.subject {
            Subject::Whole => vec![json!({"conversation": turns, "calls": calls}).to_string()],
            Subject::Turns => turns
                .iter()
                .enumerate()
                .map(|(at, turn)| {
                    let own: Vec<&Value> = calls.iter().filter(|call| call["turn"] == json!(at)).collect();
                    json!({"user": turn["user"], "calls": own, "answer": turn["response"]}).to_string()
                })
                .collect(),
        }
    }

    fn decide(&self, seen: &Observation) -> Result<Decision, String> {
        let candidates = self.candidates(seen);
        let mut all = Vec::new();
        for candidate in &candidates {
            all.push(self.graded.decide(candidate, &seen.stored)?);
        }
        if let [one] = all.as_slice() {
            return Ok(one.clone());
        }
        let score = all.iter().map(|decision| decision.score).sum::<f64>() / super::count(all.len().max(1));
        let least = self.graded.jurors.first().map_or(METRIC_THRESHOLD, |juror| juror.threshold);
        let words: Vec<String> =
            all.iter().enumerate().map(|(at, one)| format!("turn {}: {}", at + 1, one.words)).collect();
        Ok(Decision { passed: !all.is_empty() && score + 1e-9 >= least, score, words: words.join(" | ") })
    }
}

impl Check for Eval {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let name = &self.name;
        let expected = self.graded.asked();
        match self.decide(seen) {
            Ok(decision) if decision.passed => Ok(()),
            Ok(decision) => Err(Mismatch {
                message: format!("`{name}` is {:.2}, model-graded: {}", decision.score, decision.words),
                expected,
                actual: excerpt::around(&self.candidates(seen).join("\n"), 0..0),
                ..Mismatch::default()
            }),
            Err(reason) => Err(Mismatch {
                message: format!("`{name}` {reason}"),
                expected,
                actual: "no grade".to_owned(),
                ..Mismatch::default()
            }),
        }
    }

    fn remark(&self, seen: &Observation) -> Option<String> {
        let decision = self.decide(seen).ok()?;
        Some(format!("`{}` is {:.2}, model-graded: {}", self.name, decision.score, decision.words))
    }

    fn is_model_graded(&self) -> bool {
        true
    }

    fn questions(&self, seen: &Observation) -> Vec<Question> {
        self.candidates(seen).iter().flat_map(|candidate| self.graded.questions_about(candidate)).collect()
    }
}
