//! From what an agent did to findings: how it ended, what was expected, what it was held to.

use std::collections::BTreeMap;

use mcprove_judge::agent_measures::weakest;
use mcprove_judge::recovery::{AgentMarks, RecoveryBudget, RecoveryVerdict, never_hit, score_agent_run};
use mcprove_model::{
    AgentModel, AgentRecord, Expectation, FileSeen, Finding, Observation, Outcome, StopReason, TextPlace, shorten,
};
use serde_json::json;

use super::envelope::envelope;
use super::injection::Injection;
use super::transcript::Transcript;
use super::{AgentCase, price};
use crate::{agent_runs, expectations, grading, spending};

/// Maximum length of a prompt or an answer in the record.
const SHOWN: usize = 4_000;

/// Judges a run that is over, and gives what was seen of it; nothing when it could not be run.
pub(super) async fn judge(
    talk: &mut AgentCase<'_>,
    transcript: &Transcript,
    injection: &Injection,
    expect: &Expectation,
    files: BTreeMap<String, FileSeen>,
) -> Option<Observation> {
    let verdict = recovery(talk, transcript, injection);
    let record = record(talk, transcript, verdict.as_ref());
    if matches!(talk.agent.model, AgentModel::Named(_)) {
        let place = talk.case.source.place(talk.case.span);
        let spent = spending::of_run(talk.case, &record.model, record.cost_usd_micros);
        talk.record.findings.extend(spent.map(|finding| finding.at(place)));
    }
    talk.record.agent = Some(Box::new(record));
    if let Some(finding) = transcript.stopped.as_ref().and_then(|stopped| stopped.finding.as_ref()) {
        talk.record.findings.push(Finding::clone(finding));
    }
    match transcript.reason() {
        // Without answers of the model, the run says nothing about the agent.
        StopReason::ProviderError | StopReason::CassetteMismatch => return None,
        StopReason::Completed
        | StopReason::TurnBudget
        | StopReason::ToolCallBudget
        | StopReason::TokenBudget
        | StopReason::TimeBudget
        | StopReason::ScriptEnded
        | StopReason::ScriptError => {}
    }
    let mut seen = observation(transcript);
    seen.extra = envelope(transcript, &talk.agent.equal_function_sets, verdict.as_ref());
    seen.files = files;
    measure(talk, &mut seen);
    Box::pin(grading::supply(&mut seen, expect, talk.case, talk.context, talk.record)).await;
    if talk.record.is_ungraded {
        return None;
    }
    let case = talk.case;
    if !expect.checks.iter().any(|planned| planned.check.judges_stop_reason()) {
        let place = case.source.place(case.span);
        talk.record.findings.extend(did_not_finish(talk, transcript).map(|finding| finding.at(place)));
    }
    if transcript.truncated {
        let message = "an answer of the model was cut off at `max_tokens`";
        talk.add(Finding::warning("cut-off", message).help("raise `max_tokens`"));
    }
    talk.record.findings.extend(expectations::judge(&case.source, expect, &seen));
    score(talk, expect, &seen);
    for gate in &talk.agent.gates {
        let (expect, problems) = expectations::resolve(case, &gate.expect, talk.variables);
        talk.record.findings.extend(problems);
        talk.record.findings.extend(expectations::judge(&case.source, &expect, &seen));
    }
    let (trajectory, problems) = expectations::resolve(case, &talk.agent.trajectory, talk.variables);
    talk.record.findings.extend(problems);
    talk.record.findings.extend(expectations::judge(&case.source, &trajectory, &seen));
    let selection = tool_selection(talk, transcript);
    talk.record.findings.extend(selection);
    if let (Some(verdict), Some(asked)) = (&verdict, &talk.agent.recovery) {
        let place = case.source.place(asked.span);
        talk.record.findings.extend(verdict.findings.iter().map(|finding| finding.clone().at(place.clone())));
    } else if !talk.agent.faults.is_empty() {
        let place = case.source.place(case.span);
        talk.record.findings.extend(never_hit(&injection.hits()).into_iter().map(|finding| finding.at(place.clone())));
    }
    let holds_nothing = expect.all().next().is_none()
        && talk.agent.gates.is_empty()
        && talk.agent.stability.is_none()
        && trajectory.checks.is_empty()
        && talk.agent.tool_selection.is_none()
        && talk.agent.recovery.is_none()
        && case.verify.is_empty();
    if holds_nothing {
        let note = "nothing was checked but that the agent finishes: it has no `expect`";
        let place = case.source.place(case.span);
        talk.add(Finding::note(Finding::NOTHING_CHECKED, note).at(place));
    }
    Some(seen)
}

/// Adds the values of all measures to what targets look into.
fn measure(talk: &AgentCase<'_>, seen: &mut Observation) {
    for gate in &talk.agent.gates {
        let values = gate.measure.measure(seen);
        let place = &mut seen.extra[gate.measure.name()];
        match (place.as_object_mut(), values) {
            (Some(known), serde_json::Value::Object(values)) => known.extend(values),
            (_, values) => *place = values,
        }
    }
}

/// Keeps the scores that are compared with those of other runs and models.
fn score(talk: &mut AgentCase<'_>, expect: &Expectation, seen: &Observation) {
    let agent = talk.agent;
    let Some(record) = &mut talk.record.agent else { return };
    if agent.stability.is_some() {
        record.scores.insert(agent_runs::STABILITY.to_owned(), weakest(seen));
    }
    if agent.matrix_assert.is_some() {
        record.scores.insert(agent_runs::SCORE.to_owned(), expectations::share(expect, seen));
    }
}

fn observation(transcript: &Transcript) -> Observation {
    let answer = transcript.answer().unwrap_or_default();
    let result = json!({"content": [{"type": "text", "text": answer}], "isError": transcript.stopped.is_some()});
    let mut seen = Observation::of_tool_call(Outcome::Result(result));
    seen.trace = transcript.traced();
    seen.elapsed_us = transcript.elapsed_ms.saturating_mul(1_000);
    seen
}

fn recovery(talk: &AgentCase<'_>, transcript: &Transcript, injection: &Injection) -> Option<RecoveryVerdict> {
    let asked = talk.agent.recovery?;
    let marks = AgentMarks {
        detections: injection.detections(),
        max_detection_ms: asked.max_detection_ms,
        call_timeout_ms: Some(injection.deadline_ms()),
        replied_cleanly: transcript.replied_cleanly(),
        faults_hit: injection.hits(),
    };
    let budget = RecoveryBudget {
        max_recovery_ms: asked.max_recovery_ms,
        require_clean_timeout: asked.require_clean_timeout,
        allow_unhit: asked.allow_unhit,
    };
    Some(score_agent_run(&marks, &budget))
}

/// The finding about a run without a final answer.
fn did_not_finish(talk: &AgentCase<'_>, transcript: &Transcript) -> Option<Finding> {
    let budget = &talk.agent.budget;
    let made = transcript.calls.len();
    let (why, help) = match transcript.reason() {
        StopReason::Completed | StopReason::ScriptError | StopReason::ProviderError | StopReason::CassetteMismatch => {
            return None;
        }
        StopReason::TurnBudget => (
            format!("the model answered {} times without coming to an end", budget.max_turns),
            "raise `max_turns`, if it was on its way",
        ),
        StopReason::ToolCallBudget => (
            format!("it asked for more than the {} calls it may make", budget.tool_calls()),
            "raise `max_tool_calls`, if it was on its way",
        ),
        StopReason::TokenBudget => (
            format!("it used {} tokens of {}", transcript.usage.total(), budget.token_budget.unwrap_or_default()),
            "raise `token_budget`, if it was on its way",
        ),
        StopReason::TimeBudget => {
            ("its time was up".to_owned(), "raise `time_budget` (or `timeout`), if it was on its way")
        }
        StopReason::ScriptEnded => {
            ("the script ran out without `say`".to_owned(), "end the script with a `say:` that always holds")
        }
    };
    let calls = if made == 1 { "1 call was made".to_owned() } else { format!("{made} calls were made") };
    let message = format!("the agent did not finish: {why}; {calls}");
    Some(
        Finding::error("did-not-finish", message)
            .compared("a final answer".to_owned(), format!("stopped by `{}`", transcript.reason().name()))
            .help(help),
    )
}

/// Where an agent is run once, it must choose the tool; the share over several runs is judged in the end.
fn tool_selection(talk: &AgentCase<'_>, transcript: &Transcript) -> Vec<Finding> {
    let Some(asked) = &talk.agent.tool_selection else { return Vec::new() };
    let place: TextPlace = talk.case.source.place(asked.span);
    let mut findings = Vec::new();
    let same = same_function(&asked.expected_tool, &talk.agent.equal_function_sets);
    let is_chosen = transcript.calls.iter().any(|call| same.contains(&call.tool.as_str()));
    if !is_chosen && asked.min_selection_rate > 0.0 && talk.agent.runs.get() == 1 {
        let names: Vec<&str> = transcript.calls.iter().map(|call| call.tool.as_str()).collect();
        let actual = if names.is_empty() { "no calls".to_owned() } else { names.join(" → ") };
        let message = format!("the agent did not choose `{}`", asked.expected_tool);
        let expected = format!("a call of {}", same.join(" or "));
        findings.push(Finding::error("tool-selection", message).compared(expected, actual).at(place.clone()));
    }
    if let Some(most) = asked.max_total_tokens
        && transcript.usage.total() > most
    {
        let used = transcript.usage.total();
        let message = format!("the run used {used} tokens, more than the {most} it may");
        findings.push(Finding::error("tool-selection", message).at(place));
    }
    findings
}

/// A tool and those that do the same.
pub(crate) fn same_function<'t>(tool: &'t str, sets: &'t [Vec<String>]) -> Vec<&'t str> {
    let mut same = vec![tool];
    let others = sets.iter().filter(|set| set.iter().any(|own| own == tool)).flatten();
    for other in others {
        if !same.contains(&other.as_str()) {
            same.push(other);
        }
    }
    same
}

fn record(talk: &AgentCase<'_>, transcript: &Transcript, verdict: Option<&RecoveryVerdict>) -> AgentRecord {
    let shown = |text: &str| shorten(text, SHOWN).into_owned();
    AgentRecord {
        model: talk.agent.model.name().to_owned(),
        replayed: transcript.replayed,
        prompts: transcript.turns.iter().map(|turn| shown(&turn.user)).collect(),
        answer: transcript.answer().map(shown),
        stop_reason: transcript.reason(),
        turns: transcript.model_turns,
        usage: transcript.usage,
        cost_usd_micros: match &talk.agent.model {
            AgentModel::Script(_) => None,
            AgentModel::Named(named) => price::cost_usd_micros(named, transcript.usage),
        },
        recovery: verdict.map(|verdict| verdict.summary.clone()),
        scores: BTreeMap::new(),
    }
}
