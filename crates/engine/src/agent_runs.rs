//! Expectations about all runs of an agent together, and about the best of several models.

use std::sync::Arc;

use mcprove_model::{AgentModel, Case, CaseFinished, Finding, Observation, Outcome};
use serde_json::json;

use crate::expectations;

/// The score of a run by its steadiness.
pub(crate) const STABILITY: &str = "stability";

/// The score of a run by the share of its expectations that hold.
pub(crate) const SCORE: &str = "score";

/// Scores of runs so far.
#[derive(Debug, Default)]
pub(crate) struct AgentRuns {
    cases: Vec<(Arc<Case>, Vec<Scores>)>,
}

#[derive(Clone, Copy, Debug)]
struct Scores {
    stability: Option<f64>,
    score: Option<f64>,
}

impl AgentRuns {
    /// Takes in a run that is over; one that was not run says nothing.
    pub(crate) fn add(&mut self, case: &Arc<Case>, finished: &CaseFinished) {
        let Some(agent) = case.agent() else { return };
        let Some(record) = &finished.agent else { return };
        if agent.stability.is_none() && agent.matrix_assert.is_none() {
            return;
        }
        let score = |name: &str| record.scores.get(name).copied();
        let scores = Scores { stability: score(STABILITY), score: score(SCORE) };
        match self.cases.iter_mut().find(|(known, _)| Arc::ptr_eq(known, case)) {
            Some((_, runs)) => runs.push(scores),
            None => self.cases.push((Arc::clone(case), vec![scores])),
        }
    }

    /// Findings about the runs.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.cases.iter().flat_map(|(case, runs)| steadiness(case, runs)).collect();
        let mut judged: Vec<(String, u32)> = Vec::new();
        for (case, _) in &self.cases {
            let place = place_of(case);
            if !judged.contains(&place) {
                findings.extend(self.best_of(&place));
                judged.push(place);
            }
        }
        findings
    }

    /// The best of the models of a test, which are cases that are written at the same place.
    fn best_of(&self, place: &(String, u32)) -> Vec<Finding> {
        let cells = self.cases.iter().filter(|(case, _)| place_of(case) == *place);
        let mean = |runs: &[Scores]| {
            let scores: Vec<f64> = runs.iter().filter_map(|run| run.score).collect();
            (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / count(scores.len()))
        };
        let scored = cells.filter_map(|(case, runs)| Some((case, mean(runs)?)));
        let Some((case, best)) = scored.max_by(|(_, one), (_, other)| one.total_cmp(other)) else { return Vec::new() };
        let Some(asked) = case.agent().and_then(|agent| agent.matrix_assert) else { return Vec::new() };
        let at = case.source.place(asked.span);
        let model = match case.agent().map(|agent| &agent.model) {
            Some(AgentModel::Named(named)) => named.id.as_str(),
            Some(AgentModel::Script(_)) | None => "script",
        };
        let mut findings = Vec::new();
        if asked.select_best {
            let note = format!("the best model of `{}` is `{model}`, with a score of {best:.2}", case.name);
            findings.push(Finding::note(Finding::MATRIX_ASSERT, note).at(at.clone()));
        }
        if let Some(least) = asked.max_score.filter(|least| best < *least) {
            let message = format!("no model of `{}` reaches `max_score`; the best is `{model}`", case.name);
            let finding = Finding::error(Finding::MATRIX_ASSERT, message).at(at);
            findings.push(finding.compared(format!("a score of at least {least}"), format!("{best:.2}")));
        }
        findings
    }
}

/// Where a test is written: the models of one test share it.
fn place_of(case: &Case) -> (String, u32) {
    (case.source.path().to_owned(), case.span.start)
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}

fn steadiness(case: &Case, runs: &[Scores]) -> Vec<Finding> {
    let Some(expect) = case.agent().and_then(|agent| agent.stability.as_ref()) else { return Vec::new() };
    let scores: Vec<f64> = runs.iter().filter_map(|run| run.stability).collect();
    if scores.len() < 2 {
        let text = format!("`stability` of `{}` needs two completed runs, and there are {}", case.name, scores.len());
        return vec![Finding::error("stability", text).at(case.source.place(case.span))];
    }
    let mean = scores.iter().sum::<f64>() / count(scores.len());
    let weakest = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count(scores.len());
    let mut seen = Observation::new(Outcome::Cancelled, String::new());
    seen.extra = json!({STABILITY: {"score": mean, "weakest_score": weakest, "variance": variance}});
    let mut findings = expectations::judge(&case.source, expect, &seen);
    for finding in &mut findings {
        finding.message = format!("`{}`: {}", case.name, finding.message);
    }
    findings
}
