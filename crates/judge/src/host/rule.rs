//! A rule of the protocol for clients, and the rulings on what was observed.

use mcprove_model::{Finding, FindingKind, Revision, Severity, escape_line, shorten};

use super::conversation::Conversation;
use super::evidence::{HostEvidence, HostFrame};
use super::rules::CLIENT_RULES;
use crate::conformance::{Channel, Level};

/// A rule for clients. Its text is in the registry of findings.
#[derive(Debug)]
pub struct ClientRule {
    /// Its id.
    pub id: &'static str,
    /// Its level.
    pub level: Level,
    /// The first and the last revision it applies to.
    pub revisions: (Revision, Revision),
    /// The transport it applies to; both if absent.
    pub channel: Option<Channel>,
    /// The section of the specification.
    pub section: &'static str,
    /// Judges one conversation.
    pub judge: fn(&mut ClientRuling<'_>),
}

impl ClientRule {
    /// Behaviour of a conforming client, in one line.
    pub fn title(&self) -> &'static str {
        FindingKind::find(self.id).map_or("", |kind| kind.help)
    }

    fn applies(&self, talk: &Conversation<'_>) -> bool {
        // A client that has not said which revision it speaks is judged by what all revisions share.
        let revision = talk.revision.unwrap_or(Revision::V2025_06_18);
        (self.revisions.0..=self.revisions.1).contains(&revision) && self.channel.is_none_or(|own| own == talk.channel)
    }
}

/// A ruling in progress.
#[derive(Debug)]
pub struct ClientRuling<'e> {
    /// The conversation.
    pub talk: &'e Conversation<'e>,
    /// The end of the client, if it ended by itself, in microseconds.
    pub ended_us: Option<u64>,
    /// Number of things that were checked.
    pub checked: usize,
    /// Frames that break the rule, with the message.
    pub violations: Vec<(String, Option<String>)>,
}

impl ClientRuling<'_> {
    /// Counts a check; a false one breaks the rule.
    pub fn check(&mut self, holds: bool, frame: &HostFrame, message: impl FnOnce() -> String) {
        self.checked += 1;
        if !holds {
            let text = String::from_utf8_lossy(&frame.body[..frame.body.len().min(2_000)]).into_owned();
            let shown = shorten(&escape_line(&text), 300).into_owned();
            self.violations.push((message(), Some(shown).filter(|shown| !shown.is_empty())));
        }
    }
}

/// The verdict of a rule on a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientRuleVerdict {
    /// Something was checked, and all of it holds.
    Pass,
    /// It is broken.
    Broken,
    /// Nothing put it to the test.
    NotExercised,
}

/// A rule with its verdict.
#[derive(Clone, Debug)]
pub struct GradedClientRule {
    /// The rule.
    pub rule: &'static ClientRule,
    /// Its verdict.
    pub verdict: ClientRuleVerdict,
    /// The findings, one for each different violation.
    pub findings: Vec<Finding>,
}

/// Judges a client by every rule that applies to one of its conversations.
pub fn judge_client(evidence: &HostEvidence) -> Vec<GradedClientRule> {
    let talks = Conversation::all(evidence);
    CLIENT_RULES.iter().map(|rule| grade(rule, &talks, evidence)).collect()
}

fn grade(rule: &'static ClientRule, talks: &[Conversation<'_>], evidence: &HostEvidence) -> GradedClientRule {
    let mut findings: Vec<Finding> = Vec::new();
    let mut checked = 0;
    for talk in talks.iter().filter(|talk| rule.applies(talk)) {
        let mut ruling = ClientRuling { talk, ended_us: evidence.end.at_us(), checked: 0, violations: Vec::new() };
        (rule.judge)(&mut ruling);
        checked += ruling.checked;
        for (message, shown) in ruling.violations {
            if findings.iter().any(|finding| finding.message == message) {
                continue;
            }
            let severity = if rule.level == Level::Should { Severity::Warning } else { Severity::Error };
            let mut finding = Finding::new(rule.id, severity, message).help(rule.title());
            finding.actual = shown;
            findings.push(finding);
        }
    }
    let verdict = match (findings.is_empty(), checked) {
        (false, _) => ClientRuleVerdict::Broken,
        (true, 0) => ClientRuleVerdict::NotExercised,
        (true, _) => ClientRuleVerdict::Pass,
    };
    GradedClientRule { rule, verdict, findings }
}
