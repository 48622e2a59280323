//! TAP 13: one test point per case, with a YAML block that says why.
//!
//! Version 14 allows nothing more that is written here, and `prove` does not read it. The YAML keeps to the subset that
//! `prove` knows: maps, lists, double-quoted strings (JSON strings, so that no text can break out of its place) and literal
//! blocks without an indentation indicator.

use std::fmt::Write as _;

use mcprove_model::{CaseReport, Finding, Place, Report, is_active};

use super::{Format, Shows};
use crate::explanation::{explain_plainly, sub_results};
use crate::reliability::{Reliability, worst_message};
use crate::status::{Status, UNFINISHED, duration_us, title};
use crate::{duration, escape, json_text};

/// See the module.
pub(super) const FORMAT: Format = Format {
    name: "tap",
    extension: "tap",
    summary: "TAP version 13 with YAML diagnostics",
    shows: Shows::Verdicts,
    render,
};

fn render(report: &Report) -> String {
    let mut out = "TAP version 13\n".to_owned();
    let is_interrupted = report.end().is_some_and(|end| end.interrupted);
    match report.cases.len() {
        // A plan that skips everything ends the file; readers reject any line after it.
        0 if is_interrupted => {}
        0 => out.push_str("1..0 # SKIP nothing was selected\n"),
        count => {
            let _ = writeln!(out, "1..{count}");
        }
    }
    for finding in &report.findings {
        let _ = writeln!(out, "# {}: {}", finding.severity.word(), escape::line(&finding.message));
    }
    for (position, case) in report.cases.iter().enumerate() {
        test_point(&mut out, position + 1, case);
    }
    let trials = Reliability::of(report);
    if trials.repeated() {
        let judged = trials.judged();
        let _ = writeln!(out, "# pass@k: {}/{judged} capable", trials.capable());
        let _ = writeln!(out, "# pass^k: {}/{judged} reliable", trials.reliable());
        for row in trials.flaky() {
            let _ = writeln!(out, "# {}: {}", row.reason(), row.flaky_line());
        }
    }
    if is_interrupted {
        out.push_str("Bail out! interrupted\n");
    }
    out
}

fn test_point(out: &mut String, number: usize, case: &CaseReport) {
    let status = Status::of(case);
    let description = description(&title(&case.started));
    match status {
        Status::Passed => {
            let _ = writeln!(out, "ok {number} - {description}");
        }
        Status::Skipped(reason) => {
            let line = format!("ok {number} - {description} # SKIP {}", escape::line(reason));
            let _ = writeln!(out, "{}", line.trim_end());
        }
        Status::Failed | Status::Error | Status::Unfinished => {
            let _ = writeln!(out, "not ok {number} - {description}");
        }
    }
    match status {
        Status::Skipped(_) => {}
        Status::Passed => {
            let _ = writeln!(out, "  ---\n  duration_ms: {}", duration::whole_ms(duration_us(case)));
            finding_items(out, &sub_results(case));
            let _ = writeln!(out, "  ...");
        }
        Status::Failed | Status::Error | Status::Unfinished => diagnostics(out, case, status),
    }
}

/// `\` and `#` have a meaning in a description, so both are escaped.
fn description(title: &str) -> String {
    title.replace('\\', "\\\\").replace('#', "\\#")
}

fn diagnostics(out: &mut String, case: &CaseReport, status: Status<'_>) {
    let findings = case.finished.as_ref().map_or(&[] as &[Finding], |finished| &finished.findings);
    let message = if status == Status::Unfinished { UNFINISHED } else { worst_message(findings) };
    let severity = if status == Status::Failed { "fail" } else { "error" };
    let _ = writeln!(out, "  ---");
    let _ = writeln!(out, "  message: {}", quoted(message));
    let _ = writeln!(out, "  severity: {severity}");
    let _ = writeln!(out, "  duration_ms: {}", duration::whole_ms(duration_us(case)));
    if !case.started.file.is_empty() {
        let _ = writeln!(out, "  at:");
        let _ = writeln!(out, "    file: {}", quoted(&case.started.file));
        let _ = writeln!(out, "    line: {}", case.started.line);
    }
    finding_items(out, &findings.iter().collect::<Vec<_>>());
    // A block, because it is for people; every line of it, also an empty one, is indented more than the end of the
    // diagnostics. It begins at the left, which decides the indentation.
    let explanation = explain_plainly(case);
    if explanation.starts_with(|c: char| !c.is_whitespace()) {
        let _ = writeln!(out, "  explanation: |");
        for line in explanation.lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
    let _ = writeln!(out, "  ...");
}

/// A string in double quotes. JSON writes what is beyond the basic plane as two escapes, which YAML does not know, so such
/// characters that must be escaped are shown by their number.
fn quoted(text: &str) -> String {
    let is_beyond = |c: char| c > '\u{ffff}' && is_active(c);
    if !text.contains(is_beyond) {
        return json_text::string(text);
    }
    let shown: String =
        text.chars().map(|c| if is_beyond(c) { format!("\\u{{{:x}}}", u32::from(c)) } else { c.to_string() }).collect();
    json_text::string(&shown)
}

fn finding_items(out: &mut String, findings: &[&Finding]) {
    if !findings.is_empty() {
        let _ = writeln!(out, "  findings:");
    }
    for finding in findings {
        finding_item(out, finding);
    }
}

fn finding_item(out: &mut String, finding: &Finding) {
    let _ = writeln!(out, "    - rule: {}", quoted(&finding.rule));
    let _ = writeln!(out, "      severity: {}", finding.severity.word());
    let _ = writeln!(out, "      message: {}", quoted(&finding.message));
    match &finding.place {
        Some(Place::Text(place)) => {
            let at = format!("{}:{}:{}", place.file, place.line, place.column);
            let _ = writeln!(out, "      at: {}", quoted(&at));
        }
        Some(Place::Wire(place)) => {
            let at = format!("{} {}", place.server, place.pointer);
            let _ = writeln!(out, "      at: {}", quoted(&at));
        }
        None => {}
    }
    for (label, text) in finding.parts() {
        // The names that TAP consumers know.
        let key = match label {
            "expected" => "wanted",
            "actual" => "found",
            other => other,
        };
        let _ = writeln!(out, "      {key}: {}", quoted(text));
    }
}
