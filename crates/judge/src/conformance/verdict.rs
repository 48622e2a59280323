//! Verdicts: each rule once, root causes first, consequences folded under them.

use std::collections::BTreeSet;

use super::evidence::{Evidence, Spot};
use super::rule::{Absent, Rule, Ruling, Violation};
use super::rules::RULES;

/// The rule that speaks last: what a more specific rule reports of a message is not reported again.
const GENERAL: &str = "mcp-schema-valid";

/// The rules that need nothing but messages, so that any recording can be judged by them.
pub const STATIC_RULES: &[&str] = &[
    "mcp-handshake",
    "mcp-stdout",
    "mcp-id-echo",
    "mcp-envelope",
    "mcp-one-reply",
    "mcp-schema-valid",
    "mcp-tool-definition",
    "mcp-input-schema",
    "mcp-tool-output-schema",
    "mcp-tool-result",
    "mcp-structured-output",
    "mcp-result-type",
    "mcp-cache-hints",
    "mcp-no-server-requests",
    "mcp-x-mcp-header",
    "mcp-error-codes",
    "mcp-server-info",
    "mcp-capability-shape",
    "mcp-binary-content",
    "mcp-progress",
    "mcp-tool-names",
    "mcp-templates",
    "mcp-elicitation",
    "mcp-sampling",
    "mcp-no-secrets",
    "mcp-annotations",
];

/// The verdict of one rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Something was checked, and all of it holds.
    Pass,
    /// A MUST is broken.
    Fail,
    /// A SHOULD is broken.
    Warn,
    /// The server does not declare the feature.
    NotApplicable(String),
    /// The server lacks what a test needs.
    NotTestable(String),
    /// Nothing happened that could have broken the rule.
    NotExercised(String),
    /// Another rule failed first.
    BlockedBy(&'static str),
}

impl Verdict {
    /// Its name in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Warn => "warn",
            Self::NotApplicable(_) => "n/a",
            Self::NotTestable(_) => "not testable",
            Self::NotExercised(_) => "not exercised",
            Self::BlockedBy(_) => "blocked",
        }
    }

    /// The reason it carries.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Pass | Self::Fail | Self::Warn => None,
            Self::NotApplicable(why) | Self::NotTestable(why) | Self::NotExercised(why) => Some(why.clone()),
            Self::BlockedBy(rule) => Some(format!("blocked by `{rule}`")),
        }
    }
}

/// A rule with its verdict.
#[derive(Clone, Debug)]
pub struct Graded {
    /// The rule.
    pub rule: &'static Rule,
    /// Its verdict.
    pub verdict: Verdict,
    /// The violations.
    pub violations: Vec<Violation>,
}

/// Judges evidence by every rule that applies to its revision and transport.
pub fn judge(evidence: &Evidence, selected: impl Fn(&Rule) -> bool) -> Vec<Graded> {
    let mut graded: Vec<Graded> = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.applies(evidence.revision, evidence.channel)) {
        let mut ruling = Ruling::new(evidence);
        (rule.judge)(&mut ruling);
        graded.push(grade(rule, ruling));
    }
    fold(&mut graded);
    for one in &mut graded {
        // A fault that comes again and again is reported once.
        let mut seen = BTreeSet::new();
        one.violations.retain(|violation| seen.insert((violation.clause, violation.message.clone())));
    }
    graded.retain(|graded| selected(graded.rule));
    graded
}

fn grade(rule: &'static Rule, ruling: Ruling<'_>) -> Graded {
    let Ruling { violations, checked, absent, .. } = ruling;
    let verdict = if violations.iter().any(|violation| violation.fails) {
        Verdict::Fail
    } else if !violations.is_empty() {
        Verdict::Warn
    } else if checked > 0 {
        Verdict::Pass
    } else {
        match absent {
            Some(Absent::NotApplicable(why)) => Verdict::NotApplicable(why),
            Some(Absent::NotTestable(why)) => Verdict::NotTestable(why),
            Some(Absent::NotExercised(why)) => Verdict::NotExercised(why),
            None => Verdict::NotExercised("nothing in this run put it to the test".to_owned()),
        }
    };
    Graded { rule, verdict, violations }
}

/// Reports a root cause once: rules that it blocks name it, and a message is not called invalid in general if a rule
/// reports its defect.
fn fold(graded: &mut [Graded]) {
    let failed: Vec<&'static str> =
        graded.iter().filter(|graded| graded.verdict == Verdict::Fail).map(|graded| graded.rule.id).collect();
    for one in graded.iter_mut() {
        let cause = one.rule.blocked_by.iter().find(|cause| failed.contains(cause));
        if let Some(cause) = cause
            && one.verdict != Verdict::Pass
        {
            one.verdict = Verdict::BlockedBy(cause);
            one.violations.clear();
        }
    }
    let known: BTreeSet<Spot> = graded
        .iter()
        .filter(|graded| graded.rule.id != GENERAL)
        .flat_map(|graded| &graded.violations)
        .filter_map(|violation| violation.spot)
        .collect();
    let first = graded.iter().find(|graded| graded.rule.id != GENERAL && !graded.violations.is_empty());
    let first = first.map(|graded| graded.rule.id);
    if let Some(general) = graded.iter_mut().find(|graded| graded.rule.id == GENERAL) {
        let had = general.violations.len();
        let is_at = |violation: &Violation| violation.spot.is_some_and(|spot| known.contains(&spot));
        // The same fault in a later reply has the same cause.
        let explained: BTreeSet<String> = general
            .violations
            .iter()
            .filter(|violation| is_at(violation))
            .map(|violation| violation.message.clone())
            .collect();
        general.violations.retain(|violation| !is_at(violation) && !explained.contains(&violation.message));
        if had > 0
            && general.violations.is_empty()
            && let Some(cause) = first
        {
            general.verdict = Verdict::BlockedBy(cause);
        }
    }
}

/// The counts of a grade line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grade {
    /// Rules that hold.
    pub passed: usize,
    /// Rules that are broken.
    pub failed: usize,
    /// Rules with warnings.
    pub warned: usize,
    /// Rules about features the server does not declare.
    pub not_applicable: usize,
    /// Rules that could not be tested, or that nothing put to the test.
    pub not_testable: usize,
}

impl Grade {
    /// Counts verdicts.
    pub fn of(graded: &[Graded]) -> Self {
        let mut grade = Self::default();
        for graded in graded {
            match graded.verdict {
                Verdict::Pass => grade.passed += 1,
                Verdict::Fail => grade.failed += 1,
                Verdict::Warn => grade.warned += 1,
                Verdict::NotApplicable(_) => grade.not_applicable += 1,
                Verdict::NotTestable(_) | Verdict::NotExercised(_) | Verdict::BlockedBy(_) => grade.not_testable += 1,
            }
        }
        grade
    }
}
