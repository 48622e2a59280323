//! `spec_version_check`: the rules that differ between two revisions of the protocol.

use mcprove_model::{Evaluated, Offline, Revision};
use serde_json::json;

use super::{Level, RULES};

/// A suite's revision, and the one it may move to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecChange {
    /// The revision that the suite is written for.
    pub from: Revision,
    /// The revision it is compared with.
    pub to: Revision,
    /// True if the suite expects nothing itself, so that no rule may differ.
    pub has_default_gate: bool,
}

impl SpecChange {
    /// The ids of the binding rules that apply to one of the two revisions only.
    pub fn breaking(&self) -> Vec<&'static str> {
        let applies = |rule: &super::Rule, revision| (rule.revisions.0..=rule.revisions.1).contains(&revision);
        let differs = |rule: &&super::Rule| applies(rule, self.from) != applies(rule, self.to);
        RULES.iter().filter(|rule| rule.level == Level::Must).filter(differs).map(|rule| rule.id).collect()
    }
}

impl Offline for SpecChange {
    fn files(&self) -> Vec<&str> {
        Vec::new()
    }

    fn evaluate(&self, _: &[String]) -> Result<Evaluated, String> {
        let breaking = self.breaking();
        let mut problems = Vec::new();
        if self.has_default_gate && !breaking.is_empty() {
            let rules = breaking.join(", ");
            let text = format!("these rules apply to only one of {} and {}: {rules}", self.from, self.to);
            problems.push(("spec-version", text));
        }
        let envelope = json!({"spec_clean": breaking.is_empty(), "spec_breaking_changes": breaking});
        Ok(Evaluated { envelope, problems })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_differs_from_others_and_not_from_itself() {
        let change = |from, to| SpecChange { from, to, has_default_gate: true };
        let same = change(Revision::V2025_06_18, Revision::V2025_06_18);
        assert_eq!(same.evaluate(&[]).map(|evaluated| evaluated.problems), Ok(Vec::new()));
        let moved = change(Revision::V2025_06_18, Revision::V2026_07_28);
        assert!(!moved.breaking().is_empty());
        let evaluated = moved.evaluate(&[]).expect("it needs no file");
        assert_eq!(evaluated.problems.len(), 1);
        assert_eq!(evaluated.envelope["spec_clean"], false);
    }
}
