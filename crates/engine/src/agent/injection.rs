//! Which calls of an agent a fault answers, and how often each fault was met. Nothing sleeps: time is virtual.

use mcprove_judge::recovery::{FaultEffect, FaultHits, added_description, effect};
use mcprove_model::{Agent, Fault, Finding, nearest};

use super::toolbox::Toolbox;

/// Default time an agent waits for a call.
const PATIENCE_MS: u64 = 30_000;

/// The faults of a case; what they count goes over the whole case.
#[derive(Debug)]
pub(super) struct Injection {
    faults: Vec<(Fault, u64)>,
    deadline_ms: u64,
    detections: u64,
    /// Calls that a server really did not answer in time.
    unanswered: u64,
}

/// A fault that a call met.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Met {
    pub(super) fault: String,
    pub(super) effect: FaultEffect,
}

impl Injection {
    pub(super) fn new(agent: &Agent) -> Self {
        let configured = agent.budget.call_timeout.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let detection = agent.recovery.map(|recovery| recovery.max_detection_ms);
        Self {
            faults: agent.faults.iter().map(|fault| (fault.clone(), 0)).collect(),
            deadline_ms: configured.or(detection).unwrap_or(PATIENCE_MS),
            detections: 0,
            unanswered: 0,
        }
    }

    /// Applies the faults that show in descriptions; they are met when the model is shown the tool.
    pub(super) fn describe(&mut self, toolbox: &mut Toolbox) {
        toolbox.describe(|server, tool| {
            let mut touching = self.faults.iter_mut().filter(|(fault, _)| fault.touches(server, tool));
            touching.find_map(|(fault, hits)| {
                let text = added_description(fault.kind, tool)?;
                *hits += 1;
                Some(text)
            })
        });
    }

    /// Time the agent waits for a call.
    pub(super) fn deadline_ms(&self) -> u64 {
        self.deadline_ms
    }

    /// Faults whose tool no server lists: they could never apply, and the run would prove nothing.
    pub(super) fn misplaced(&self, toolbox: &Toolbox) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (fault, _) in &self.faults {
            let Some(tool) = &fault.tool else { continue };
            let server = fault.server.as_deref();
            if toolbox.names(server).any(|name| name == tool) {
                continue;
            }
            let who = server.map_or("no server of this agent lists".to_owned(), |s| format!("`{s}` does not list"));
            let message = format!("the fault `{}` is for the tool `{tool}`, which {who}", fault.name);
            let help = match nearest(tool, toolbox.names(server)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("listed are {}", toolbox.names(server).collect::<Vec<_>>().join(", ")),
            };
            findings.push(Finding::error("fault-target", message).help(help));
        }
        findings
    }

    /// The fault that applies to a call: the first that touches it counts it. An expired one leaves it to the next.
    pub(super) fn next_fault(&mut self, server: &str, tool: &str) -> Option<Met> {
        let deadline_ms = self.deadline_ms;
        let touches = |(fault, _): &(Fault, u64)| fault.touches(server, tool);
        let is_live =
            |(fault, hits): &(Fault, u64)| effect(fault.kind, tool, *hits, deadline_ms) != FaultEffect::Answers;
        let at = self.faults.iter().position(|fault| touches(fault) && is_live(fault));
        let at = at.or_else(|| self.faults.iter().position(touches))?;
        let (fault, hits) = &mut self.faults[at];
        let effect = effect(fault.kind, tool, *hits, deadline_ms);
        *hits += 1;
        if effect == FaultEffect::TimesOut {
            self.detections += 1;
        }
        Some(Met { fault: fault.name.clone(), effect })
    }

    /// A server really did not answer in time.
    pub(super) fn unanswered(&mut self) {
        self.unanswered += 1;
    }

    /// Number of calls given up, because of a fault or of a server that hangs by itself.
    pub(super) fn detections(&self) -> u64 {
        self.detections + self.unanswered
    }

    /// Number of calls that each fault applied to.
    pub(super) fn hits(&self) -> Vec<FaultHits> {
        let mut hits: Vec<FaultHits> =
            self.faults.iter().map(|(fault, calls)| FaultHits { fault: fault.name.clone(), calls: *calls }).collect();
        if hits.is_empty() && self.unanswered > 0 {
            hits.push(FaultHits { fault: "a server that does not answer".to_owned(), calls: self.unanswered });
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::FaultKind;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_injected_description_is_met_when_the_tool_is_shown() {
        let listed = vec![json!({"name": "search", "description": "Finds things."}), json!({"name": "read"})];
        let mut toolbox = Toolbox::new(vec![("files".to_owned(), listed)]);
        let fault = |name: &str, tool: &str, kind: &str| Fault {
            name: name.to_owned(),
            tool: Some(tool.to_owned()),
            server: None,
            kind: kind.parse::<FaultKind>().expect("a fault"),
        };
        let faults = [fault("poisoned", "search", "injected-description"), fault("hung", "read", "hang")];
        let faults = faults.into_iter().map(|fault| (fault, 0)).collect();
        let mut injection = Injection { faults, deadline_ms: 1, detections: 0, unanswered: 0 };
        injection.describe(&mut toolbox);
        let [search, read] = toolbox.shown() else { panic!("two tools") };
        assert!(search.description.starts_with("Finds things. IMPORTANT") && search.description.contains("CANARY-"));
        assert_eq!(read.description, "");
        let hits: Vec<u64> = injection.hits().iter().map(|fault| fault.calls).collect();
        assert_eq!(hits, [1, 0]);
    }
}
