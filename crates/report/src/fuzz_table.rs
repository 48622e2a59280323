//! Results of fuzzing a server as a table: each tool, then each failure with the smallest input that causes it.

use std::fmt::Write as _;

use mcprove_model::{CaseReport, Finding, Report, Severity, Verdict};

use crate::evidence::{self, View};
use crate::explanation::Depth;
use crate::style::Role;
use crate::{Style, Verbosity, escape, snippet};

/// The rule of the note with the number of calls per tool and their outcomes.
const FUZZED: &str = "fuzzed";

/// The result of a fuzz run.
pub fn fuzz_table(report: &Report, verbosity: Verbosity, style: &Style) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        if finding.place.is_some() {
            snippet::render_finding(&mut text, finding, style);
            continue;
        }
        let _ = writeln!(text, "{} {}", painted(finding, style, ":"), escape::line(&finding.message));
        if let Some(help) = &finding.help {
            let _ = writeln!(text, "  help: {}", escape::line(help));
        }
    }
    if !report.findings.is_empty() {
        text.push('\n');
    }
    let widest = report.cases.iter().map(|case| case.started.name.chars().count()).max().unwrap_or(0).clamp(4, 50);
    for case in &report.cases {
        let (role, word, note) = told(case);
        let name = escape::line(&case.started.name);
        let word = style.paint(role, &format!("{word:<7}"));
        let _ = writeln!(text, "{word}  {name:<widest$}  {}", style.paint(Role::Faint, &escape::line(&note)));
        if verbosity == Verbosity::Verbose {
            let view = View { bounds: Depth::FULL.bounds, focus: &[], style };
            for call in case.finished.iter().flat_map(|finished| &finished.calls) {
                evidence::call(&mut text, call, &view);
            }
        }
    }
    for case in &report.cases {
        for finding in case.finished.iter().flat_map(|finished| &finished.findings) {
            if finding.rule != FUZZED {
                tell(&mut text, case, finding, style);
            }
        }
    }
    text
}

fn told(case: &CaseReport) -> (Role, &'static str, String) {
    let Some(finished) = &case.finished else { return (Role::Skipped, "cut off", String::new()) };
    let summary = finished.findings.iter().find(|finding| finding.rule == FUZZED);
    let summary = summary.map(|finding| finding.message.clone()).unwrap_or_default();
    match &finished.verdict {
        Verdict::Passed => (Role::Good, "ok", summary),
        Verdict::Failed => (Role::Bad, "failed", summary),
        Verdict::Skipped { reason } => (Role::Skipped, "skipped", reason.clone()),
        Verdict::Error => (Role::Bad, "error", summary),
    }
}

fn tell(text: &mut String, case: &CaseReport, finding: &Finding, style: &Style) {
    let head = format!("[{}]:", finding.rule);
    let name = escape::line(&case.started.name);
    let _ = writeln!(text, "\n{} `{name}`: {}", painted(finding, style, &head), escape::line(&finding.message));
    for line in finding.actual.iter().flat_map(|actual| actual.lines()).take(20) {
        let _ = writeln!(text, "  │ {}", escape::line(line));
    }
    if let Some(help) = &finding.help {
        let _ = writeln!(text, "  {}", escape::line(help));
    }
}

fn painted(finding: &Finding, style: &Style, after: &str) -> String {
    let role = match finding.severity {
        Severity::Critical | Severity::High | Severity::Error => Role::Bad,
        Severity::Warning => Role::Warning,
        Severity::Note => Role::Note,
    };
    style.paint(role, &format!("{}{after}", finding.severity.word()))
}
