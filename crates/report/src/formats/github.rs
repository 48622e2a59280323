//! GitHub workflow commands that annotate the lines of the suite: `::error file=…,line=…,title=…::message`.
//!
//! Commands are escaped by the rules of `@actions/core`: `%`, CR and LF in messages, and also `:` and `,` in properties.
//! What a server said is made harmless before, so that nothing in it can end a command or begin another.

use std::fmt::Write as _;

use mcprove_model::{CaseReport, Finding, Place, Report, Severity};

use super::{Format, Shows};
use crate::harmless;
use crate::reliability::Reliability;
use crate::status::{UNFINISHED, title};

/// See the module.
pub(super) const FORMAT: Format =
    Format { name: "github", extension: "txt", summary: "GitHub workflow annotations", shows: Shows::Verdicts, render };

fn render(report: &Report) -> String {
    let mut out = String::new();
    let strict = report.strict();
    for finding in &report.findings {
        annotate(&mut out, finding, None, strict);
    }
    for case in &report.cases {
        match &case.finished {
            Some(finished) => {
                for finding in &finished.findings {
                    annotate(&mut out, finding, Some(case), strict);
                }
            }
            None => did_not_end(&mut out, case),
        }
    }
    reliability(&mut out, report);
    out
}

/// Which cases are flaky, at their own lines, and how many can and do pass.
fn reliability(out: &mut String, report: &Report) {
    let trials = Reliability::of(report);
    if !trials.repeated() {
        return;
    }
    for row in trials.flaky() {
        let mut properties: Vec<_> = match &row.failing {
            Some(failing) => place_of(&report.cases[failing.position]),
            None => Vec::new(),
        };
        properties.push(("title", "flaky".to_owned()));
        write_command(out, "warning", &properties, &row.flaky_line());
    }
    let (judged, capable, reliable) = (trials.judged(), trials.capable(), trials.reliable());
    let message = format!("pass@k: {capable}/{judged} capable, pass^k: {reliable}/{judged} reliable");
    write_command(out, "notice", &[("title", "mcprove trials".to_owned())], &message);
}

fn annotate(out: &mut String, finding: &Finding, case: Option<&CaseReport>, strict: bool) {
    let command = match finding.severity {
        Severity::Error | Severity::High | Severity::Critical => "error",
        Severity::Warning if strict => "error",
        Severity::Warning => "warning",
        Severity::Note if finding.rule == Finding::NOTHING_CHECKED => "notice",
        Severity::Note => return,
    };
    let mut properties = Vec::new();
    match (&finding.place, case) {
        (Some(Place::Text(place)), _) => {
            properties.push(("file", harmless::line(&place.file).into_owned()));
            properties.push(("line", place.line.to_string()));
            // GitHub shows columns only where a place does not span lines.
            if place.end_line == place.line {
                properties.push(("col", place.column.to_string()));
                properties.push(("endColumn", place.end_column.to_string()));
            } else {
                properties.push(("endLine", place.end_line.to_string()));
            }
        }
        (Some(Place::Wire(_)) | None, Some(case)) => properties.extend(place_of(case)),
        (Some(Place::Wire(_)) | None, None) => {}
    }
    let rule = harmless::line(&finding.rule);
    properties
        .push(("title", case.map_or_else(|| rule.to_string(), |case| format!("{}: {rule}", title(&case.started)))));

    let mut message = harmless::line(&finding.message).into_owned();
    let remarks = [("expected", &finding.expected), ("actual", &finding.actual), ("help", &finding.help)];
    for (label, text) in remarks {
        if let Some(text) = text {
            let lines: Vec<_> = harmless::lines(text).collect();
            let _ = write!(message, "\n{label}: {}", lines.join("\n  "));
        }
    }
    write_command(out, command, &properties, &message);
}

fn did_not_end(out: &mut String, case: &CaseReport) {
    let mut properties = place_of(case);
    properties.push(("title", title(&case.started)));
    write_command(out, "error", &properties, UNFINISHED);
}

/// The place of a case; none where no file holds it.
fn place_of(case: &CaseReport) -> Vec<(&'static str, String)> {
    if case.started.file.is_empty() {
        return Vec::new();
    }
    vec![("file", harmless::line(&case.started.file).into_owned()), ("line", case.started.line.to_string())]
}

fn write_command(out: &mut String, command: &str, properties: &[(&str, String)], message: &str) {
    let properties: Vec<_> = properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    let _ = writeln!(out, "::{command} {}::{}", properties.join(","), data(message));
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_properties_are_escaped_by_the_rules_of_the_toolkit() {
        assert_eq!(data("50%\r\na,b:c"), "50%25%0D%0Aa,b:c");
        assert_eq!(property("50%\na,b:c"), "50%25%0Aa%2Cb%3Ac");
    }
}
