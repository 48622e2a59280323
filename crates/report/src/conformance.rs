//! Conformance: a grade line per revision, failures first, and a table of what differs between revisions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mcprove_model::{CaseReport, Report, Severity, Verdict, shorten};

use crate::style::Role;
use crate::{Style, escape};

/// Maximum number of characters shown of a request or reply.
const SHOWN: usize = 300;

/// The verdict of one rule in one revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Passed,
    Failed,
    Warned,
    NotApplicable,
    NotTestable,
    NotServed,
}

impl Mark {
    fn of(case: &CaseReport) -> Self {
        let Some(finished) = &case.finished else { return Self::NotTestable };
        match &finished.verdict {
            Verdict::Skipped { reason } if reason.starts_with("n/a") => Self::NotApplicable,
            Verdict::Skipped { reason } if reason.starts_with("the server does not serve") => Self::NotServed,
            Verdict::Skipped { .. } => Self::NotTestable,
            Verdict::Failed | Verdict::Error if finished.findings.iter().any(|finding| finding.severity.fails()) => {
                Self::Failed
            }
            Verdict::Passed | Verdict::Failed | Verdict::Error => {
                let warns = finished.findings.iter().any(|finding| finding.severity == Severity::Warning);
                if warns { Self::Warned } else { Self::Passed }
            }
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Failed => "FAIL",
            Self::Warned => "warn",
            Self::NotApplicable => "n/a",
            Self::NotTestable => "–",
            Self::NotServed => "",
        }
    }

    fn role(self) -> Role {
        match self {
            Self::Passed => Role::Good,
            Self::Failed => Role::Bad,
            Self::Warned => Role::Warning,
            Self::NotApplicable | Self::NotTestable | Self::NotServed => Role::Skipped,
        }
    }
}

/// The revision and the rule of a case.
fn parts(case: &CaseReport) -> (&str, &str) {
    case.started.name.split_once(' ').unwrap_or((&case.started.name, ""))
}

/// The result of a conformance run.
pub fn conformance_table(report: &Report, style: &Style) -> String {
    let mut text = String::new();
    let mut revisions: BTreeMap<&str, Vec<&CaseReport>> = BTreeMap::new();
    for case in &report.cases {
        revisions.entry(parts(case).0).or_default().push(case);
    }
    for (revision, cases) in &revisions {
        let count = |mark: Mark| cases.iter().filter(|case| Mark::of(case) == mark).count();
        if count(Mark::NotServed) == cases.len() {
            let _ = writeln!(text, "{revision}  {}", style.paint(Role::Skipped, "not served"));
            continue;
        }
        let failed = count(Mark::Failed);
        let role = if failed > 0 { Role::Bad } else { Role::Good };
        let _ = writeln!(
            text,
            "{revision}  {} passed, {}, {} warned, {} n/a, {} not testable",
            count(Mark::Passed),
            style.paint(role, &format!("{failed} failed")),
            count(Mark::Warned),
            count(Mark::NotApplicable),
            count(Mark::NotTestable),
        );
    }
    let findings =
        report.cases.iter().filter_map(|case| case.finished.as_ref()).flat_map(|finished| &finished.findings);
    let notes: BTreeSet<&str> =
        findings.filter(|finding| finding.severity == Severity::Note).map(|finding| finding.message.as_str()).collect();
    for note in notes {
        let _ = writeln!(text, "{} {}", style.paint(Role::Note, "note:"), escape::line(note));
    }
    for wanted in [Mark::Failed, Mark::Warned] {
        let mut told: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
        for case in report.cases.iter().filter(|case| Mark::of(case) == wanted) {
            let (revision, rule) = parts(case);
            told.entry((rule, details(case))).or_default().push(revision);
        }
        for ((rule, details), revisions) in told {
            let sign = style.paint(wanted.role(), wanted.sign());
            let _ = write!(text, "\n{sign} {rule} ({})\n{details}", revisions.join(", "));
        }
    }
    differences(&mut text, &revisions, style);
    text
}

/// The findings of a case, with request and reply.
fn details(case: &CaseReport) -> String {
    let mut text = String::new();
    let findings = case.finished.iter().flat_map(|finished| &finished.findings);
    for finding in findings.filter(|finding| finding.severity >= Severity::Warning) {
        let _ = writeln!(text, "  {}", escape::line(&finding.message));
        if let Some(expected) = &finding.expected {
            let _ = writeln!(text, "    {}", escape::line(expected));
        }
        let evidence = finding.evidence.as_ref();
        let request = evidence.map(|evidence| evidence.request.as_str());
        let reply = evidence.and_then(|evidence| evidence.reply.as_deref()).or(finding.actual.as_deref());
        for (arrow, part) in [("→", request), ("←", reply)] {
            if let Some(part) = part {
                let _ = writeln!(text, "    {arrow} {}", escape::line(&shorten(part, SHOWN)));
            }
        }
    }
    text
}

/// The rules whose verdict differs between revisions.
fn differences(text: &mut String, revisions: &BTreeMap<&str, Vec<&CaseReport>>, style: &Style) {
    let served: Vec<(&str, &Vec<&CaseReport>)> = revisions
        .iter()
        .filter(|(_, cases)| cases.iter().any(|case| Mark::of(case) != Mark::NotServed))
        .map(|(revision, cases)| (*revision, cases))
        .collect();
    if served.len() < 2 {
        return;
    }
    let mut rules: Vec<&str> = Vec::new();
    for case in served.iter().flat_map(|(_, cases)| cases.iter()) {
        let rule = parts(case).1;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let mark =
        |cases: &[&CaseReport], rule: &str| cases.iter().find(|case| parts(case).1 == rule).map(|case| Mark::of(case));
    let mut rows = String::new();
    for rule in rules {
        let marks: Vec<Option<Mark>> = served.iter().map(|(_, cases)| mark(cases, rule)).collect();
        let judged: Vec<Mark> = marks
            .iter()
            .flatten()
            .copied()
            .filter(|mark| matches!(mark, Mark::Passed | Mark::Failed | Mark::Warned))
            .collect();
        if judged.windows(2).all(|pair| pair[0] == pair[1]) {
            continue;
        }
        let _ = write!(rows, "{rule:<28}");
        for mark in marks {
            let sign = mark.map_or("", Mark::sign);
            let padded = format!("  {sign:<10}");
            rows.push_str(&style.paint(mark.map_or(Role::Plain, Mark::role), &padded));
        }
        rows.push('\n');
    }
    if !rows.is_empty() {
        let _ = write!(text, "\n{:<28}", "differs between revisions");
        for (revision, _) in &served {
            let _ = write!(text, "  {revision}");
        }
        let _ = write!(text, "\n{rows}");
    }
}
