//! Rate at which agents chose the right tool, over all of their runs.

use std::sync::Arc;

use mcprove_model::{CallRole, Case, CaseFinished, Finding, Verdict};

use crate::agent::same_function;

/// The runs of agents that are held to choosing a tool.
#[derive(Debug, Default)]
pub(crate) struct Selections {
    seen: Vec<Selection>,
}

#[derive(Debug)]
struct Selection {
    case: Arc<Case>,
    runs: u32,
    chosen: u32,
}

impl Selections {
    /// Takes in a run of an agent that is run several times.
    pub(crate) fn add(&mut self, case: &Arc<Case>, finished: &CaseFinished) {
        let Some(agent) = case.agent().filter(|agent| agent.runs.get() > 1) else { return };
        let Some(asked) = &agent.tool_selection else { return };
        match finished.verdict {
            Verdict::Passed | Verdict::Failed => {}
            // What was not run chose nothing, and says nothing.
            Verdict::Skipped { .. } | Verdict::Error => return,
        }
        let same = same_function(&asked.expected_tool, &agent.equal_function_sets);
        let calls = finished.calls.iter().filter(|call| call.role == CallRole::Agent);
        let is_chosen = calls.filter_map(|call| call.subject.as_deref()).any(|tool| same.contains(&tool));
        let at = self.seen.iter().position(|seen| Arc::ptr_eq(&seen.case, case)).unwrap_or_else(|| {
            self.seen.push(Selection { case: Arc::clone(case), runs: 0, chosen: 0 });
            self.seen.len() - 1
        });
        self.seen[at].runs += 1;
        self.seen[at].chosen += u32::from(is_chosen);
    }

    /// Findings about agents that chose the tool too rarely.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        self.seen.iter().filter_map(Selection::finding).collect()
    }
}

impl Selection {
    fn finding(&self) -> Option<Finding> {
        let asked = self.case.agent()?.tool_selection.as_ref()?;
        let rate = f64::from(self.chosen) / f64::from(self.runs);
        if rate >= asked.min_selection_rate {
            return None;
        }
        let message =
            format!("`{}` chose `{}` in {} of {} runs", self.case.name, asked.expected_tool, self.chosen, self.runs);
        let finding = Finding::error("tool-selection", message).at(self.case.source.place(asked.span));
        Some(finding.compared(format!("a share of {}", asked.min_selection_rate), format!("{rate:.2}")))
    }
}
