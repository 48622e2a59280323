//! Plain text for coding agents: what failed, where, what was expected, and what to do next, in a bounded number of tokens.

use std::fmt::Write as _;

use mcprove_model::{CaseReport, Finding, Place, Report, Summary};

use super::{Format, Shows};
use crate::duration;
use crate::escape;
use crate::rerun_command::{Known, next_step};
use crate::status::{Status, UNFINISHED, title};

/// See the module.
pub(super) const FORMAT: Format = Format {
    name: "agent",
    extension: "txt",
    summary: "failures in few tokens, for coding agents",
    shows: Shows::Totals,
    render,
};

/// Characters that failures may take in all: about 2,000 tokens.
const ALL_CHARS: usize = 7_000;

/// Characters of a message, value or hint.
const FIELD_CHARS: usize = 400;

/// Failures beyond the budget that are listed by their names.
const NAMED: usize = 20;

/// Findings of one case that are written out.
const PER_CASE: usize = 3;

fn render(report: &Report) -> String {
    let mut out = verdict_line(report);
    for finding in report.findings.iter().filter(|finding| finding.fails(report.strict())) {
        write_finding(&mut out, finding, None);
    }
    let failed: Vec<&CaseReport> = report.cases.iter().filter(|case| has_failed(case)).collect();
    let mut left = failed.as_slice();
    while let [case, rest @ ..] = left {
        let shown = failure(case, report.strict());
        if out.len() + shown.len() > ALL_CHARS {
            break;
        }
        out.push_str(&shown);
        left = rest;
    }
    for case in left.iter().take(NAMED) {
        let _ = writeln!(out, "- {}{}", place_of(case), escape::name(&title(&case.started)));
    }
    if left.len() > NAMED {
        let _ = writeln!(out, "- and {} more failures", left.len() - NAMED);
    }
    // The cases of a load cannot be run one by one.
    let is_load = report.cases.iter().filter_map(|case| case.finished.as_ref()).any(|finished| finished.load.is_some());
    if let Some(next) = next_step(failed.iter().map(|case| &case.started), Known::Nothing, true).filter(|_| !is_load) {
        let _ = writeln!(out, "next: {next}");
    }
    let ids = failed.iter().filter_map(|case| case.finished.as_ref()).flat_map(|finished| &finished.findings);
    if let Some(finding) = ids.filter(|finding| finding.fails(report.strict())).find(|finding| !finding.rule.is_empty())
    {
        let _ = writeln!(out, "explain: mcprove explain {}", escape::name(&finding.rule));
    }
    out
}

fn has_failed(case: &CaseReport) -> bool {
    match Status::of(case) {
        Status::Failed | Status::Error | Status::Unfinished => true,
        Status::Passed | Status::Skipped(_) => false,
    }
}

fn verdict_line(report: &Report) -> String {
    let Summary { passed, failed, skipped, errors, unfinished } = report.summary();
    let counts = [
        (passed, "passed"),
        (failed, "failed"),
        (errors, "could not run"),
        (unfinished, "did not end"),
        (skipped, "skipped"),
    ];
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let is_wrong =
        failed + errors + unfinished > 0 || report.findings.iter().any(|finding| finding.fails(report.strict()));
    let word = match (is_wrong, passed) {
        (true, _) => "FAILED",
        (false, 0) => "NOTHING PROVEN",
        (false, _) => "PASSED",
    };
    let time = report.end().map(|end| format!(" in {}", duration::human(end.duration_us))).unwrap_or_default();
    let counts = if counts.is_empty() { "no case was run".to_owned() } else { counts.join(", ") };
    format!("{word}: {counts}{time}\n")
}

fn failure(case: &CaseReport, strict: bool) -> String {
    let mut out = format!("\n{}{}\n", place_of(case), escape::name(&title(&case.started)));
    let Some(finished) = &case.finished else {
        let _ = writeln!(out, "  {UNFINISHED}");
        return out;
    };
    let wrong: Vec<&Finding> = finished.findings.iter().filter(|finding| finding.fails(strict)).collect();
    for finding in wrong.iter().take(PER_CASE) {
        write_finding(&mut out, finding, Some(case.started.line));
    }
    if wrong.len() > PER_CASE {
        let _ = writeln!(out, "  and {} more findings", wrong.len() - PER_CASE);
    }
    out
}

/// `file:line ` of a case that is in a file.
fn place_of(case: &CaseReport) -> String {
    if case.started.file.is_empty() {
        return String::new();
    }
    format!("{}:{} ", escape::name(&case.started.file), case.started.line)
}

/// A finding, with its line if that is not the line of its case.
fn write_finding(out: &mut String, finding: &Finding, line_of_case: Option<u32>) {
    let line = match &finding.place {
        Some(Place::Text(place)) if Some(place.line) != line_of_case => format!("line {}: ", place.line),
        Some(_) | None => String::new(),
    };
    let _ = writeln!(
        out,
        "  [{}] {line}{}",
        escape::name(&finding.rule),
        escape::line_within(&finding.message, FIELD_CHARS)
    );
    for (label, value) in [("expected", &finding.expected), ("actual", &finding.actual), ("help", &finding.help)] {
        if let Some(value) = value {
            let _ = writeln!(out, "    {label}: {}", escape::line_within(value, FIELD_CHARS));
        }
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::{CaseFinished, CaseStarted, Event, Verdict};

    use super::*;

    fn failing(count: usize, message: &str) -> Report {
        let events = (0..count).flat_map(|index| {
            let started = CaseStarted {
                index,
                name: format!("case {index}"),
                file: "evals/a.yaml".to_owned(),
                line: 3,
                trial: 1,
                server: None,
                variant: None,
                tags: Vec::new(),
            };
            let finding = Finding { expected: Some(message.to_owned()), ..Finding::error("contains", message) };
            let finished = CaseFinished::new(index, Verdict::Failed, vec![finding]);
            [Event::CaseStarted(started), Event::CaseFinished(finished)]
        });
        Report::fold(events)
    }

    #[test]
    fn ten_thousand_long_failures_stay_within_the_budget() {
        let text = render(&failing(10_000, &"x".repeat(10_000)));
        assert!(text.len() < ALL_CHARS + 3_000, "{}", text.len());
        assert!(text.starts_with("FAILED: 10000 failed"), "{text}");
        assert!(text.contains("more failures"), "{text}");
    }

    #[test]
    fn a_failure_has_its_place_its_values_and_the_next_step() {
        let text = render(&failing(1, "no such\ntext"));
        assert!(text.contains("evals/a.yaml:3 case 0\n  [contains] "), "{text}");
        assert!(text.contains("    expected: "), "{text}");
        assert!(text.contains("next: mcprove run evals/a.yaml --filter \"case 0\""), "{text}");
        assert!(text.ends_with("explain: mcprove explain contains\n"), "{text}");
    }

    #[test]
    fn a_run_without_a_pass_proves_nothing() {
        assert!(render(&Report::default()).starts_with("NOTHING PROVEN"));
    }
}
