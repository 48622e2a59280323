//! GitHub workflow commands that annotate the lines of the suite: `::error file=…,line=…,title=…::message`.
//!
//! GitHub shows ten annotations per level and step and drops the rest silently. So each case has one, whatever its trials
//! and findings, the worst level comes first, and what does not fit is counted by the last of its level.
//!
//! Commands are escaped by the rules of `@actions/core`: `%`, CR and LF in messages, and also `:` and `,` in properties.
//! Text from a server is escaped first, so that nothing in it can end a command or begin another.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcprove_model::{CaseReport, Finding, Place, Report, Severity};

use super::{Format, Shows};
use crate::escape;
use crate::reliability::{Reliability, Trials};
use crate::status::{Status, UNFINISHED, is_model_graded, name};

/// See the module.
pub(super) const FORMAT: Format =
    Format { name: "github", extension: "txt", summary: "GitHub workflow annotations", shows: Shows::Verdicts, render };

/// Number of annotations per level that GitHub shows.
const PER_LEVEL: usize = 10;

/// Findings of one case that are written out.
const PER_CASE: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    Notice,
}

impl Level {
    const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Notice];

    /// The level of a finding; `None` for what is not annotated.
    fn of(finding: &Finding, strict: bool) -> Option<Self> {
        match finding.severity {
            Severity::Error | Severity::High | Severity::Critical => Some(Self::Error),
            Severity::Warning if strict => Some(Self::Error),
            Severity::Warning => Some(Self::Warning),
            Severity::Note if finding.is_prominent() => Some(Self::Notice),
            Severity::Note => None,
        }
    }

    fn command(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

struct Annotation {
    level: Level,
    properties: Vec<(&'static str, String)>,
    message: String,
}

fn render(report: &Report) -> String {
    let strict = report.strict();
    let trials = Reliability::of(report);
    let mut all: Vec<Annotation> =
        report.findings.iter().filter_map(|finding| of_findings(&[finding], strict, None)).collect();
    all.extend(of_cases(report, &trials, strict));
    if trials.repeated() {
        let (judged, capable, reliable) = (trials.judged(), trials.capable(), trials.reliable());
        let message = format!("pass@k: {capable}/{judged} capable, pass^k: {reliable}/{judged} reliable");
        let properties = vec![("title", "mcprove trials".to_owned())];
        // First of its level, so that it is not what is left out.
        all.insert(0, Annotation { level: Level::Notice, properties, message });
    }
    let mut out = String::new();
    for level in Level::ALL {
        write_level(&mut out, level, &all.iter().filter(|one| one.level == level).collect::<Vec<_>>());
    }
    out
}

fn write_level(out: &mut String, level: Level, annotations: &[&Annotation]) {
    let fits = annotations.len() <= PER_LEVEL;
    let shown = if fits { annotations.len() } else { PER_LEVEL - 1 };
    for annotation in &annotations[..shown] {
        write_command(out, level.command(), &annotation.properties, &annotation.message);
    }
    if !fits {
        let left_out = annotations.len() - shown;
        let message = format!("and {left_out} more; the log of this step has them all");
        write_command(out, level.command(), &[("title", "mcprove".to_owned())], &message);
    }
}

/// One annotation per case at most, at its first trial that failed or else at its first.
fn of_cases(report: &Report, trials: &Reliability, strict: bool) -> Vec<Annotation> {
    let mut first: BTreeMap<(&str, &str, Option<&str>), usize> = BTreeMap::new();
    for (position, case) in report.cases.iter().enumerate() {
        first.entry((&case.started.file, &case.started.name, case.started.variant.as_deref())).or_insert(position);
    }
    let of_row = |row: &Trials| {
        let known = first.get(&(row.file.as_str(), row.name.as_str(), row.variant.as_deref()));
        let case = &report.cases[row.failing.as_ref().map_or(*known?, |failing| failing.position)];
        match Status::of(case) {
            Status::Unfinished => {
                let mut properties = place_of(case);
                properties.push(("title", row.title()));
                Some(Annotation { level: Level::Error, properties, message: UNFINISHED.to_owned() })
            }
            Status::Passed | Status::Failed | Status::Skipped(_) | Status::Error => {
                let findings: Vec<_> = case.finished.iter().flat_map(|finished| &finished.findings).collect();
                of_findings(&findings, strict, Some((case, row)))
            }
        }
    };
    trials.rows().iter().filter_map(of_row).collect()
}

fn of_findings(findings: &[&Finding], strict: bool, case: Option<(&CaseReport, &Trials)>) -> Option<Annotation> {
    let told: Vec<_> = findings.iter().filter(|finding| Level::of(finding, strict).is_some()).copied().collect();
    let lead = worst_of(&told)?;
    let level = Level::of(lead, strict)?;
    let mut properties = place(lead, case.map(|(case, _)| case));
    let rule = escape::name(&lead.rule);
    let case_name = |case: &CaseReport| {
        let mark = if is_model_graded(&case.started) { " (model-graded)" } else { "" };
        format!("{}{mark}", name(&case.started.name, case.started.variant.as_deref()))
    };
    properties
        .push(("title", case.map_or_else(|| rule.to_string(), |(case, _)| format!("{}: {rule}", case_name(case)))));

    let mut message = String::new();
    if let Some((_, row)) = case.filter(|(_, row)| row.run > 1 && row.failing.is_some()) {
        let word = if row.flaky() { format!("{}: ", row.reason()) } else { String::new() };
        let _ = writeln!(message, "{word}passed {} of {} trials", row.passed, row.run);
    }
    let rest = told.iter().filter(|finding| !std::ptr::eq(**finding, lead));
    let shown: Vec<String> = std::iter::once(&lead).chain(rest).take(PER_CASE).map(|finding| text(finding)).collect();
    message.push_str(&shown.join("\n"));
    if told.len() > PER_CASE {
        let _ = write!(message, "\nand {} more findings", told.len() - PER_CASE);
    }
    Some(Annotation { level, properties, message })
}

/// The first finding of the worst severity.
fn worst_of<'f>(findings: &[&'f Finding]) -> Option<&'f Finding> {
    findings.iter().rev().max_by_key(|finding| finding.severity).copied()
}

fn text(finding: &Finding) -> String {
    let mut text = escape::line(&finding.message).into_owned();
    for (label, part) in finding.parts() {
        let lines: Vec<_> = escape::lines(part).collect();
        let _ = write!(text, "\n{label}: {}", lines.join("\n  "));
    }
    text
}

fn place(finding: &Finding, case: Option<&CaseReport>) -> Vec<(&'static str, String)> {
    match (&finding.place, case) {
        (Some(Place::Text(place)), _) => {
            let mut properties =
                vec![("file", escape::line(&place.file).into_owned()), ("line", place.line.to_string())];
            // GitHub shows columns only where a place does not span lines.
            if place.end_line == place.line {
                properties.push(("col", place.column.to_string()));
                properties.push(("endColumn", place.end_column.to_string()));
            } else {
                properties.push(("endLine", place.end_line.to_string()));
            }
            properties
        }
        (Some(Place::Wire(_)) | None, Some(case)) => place_of(case),
        (Some(Place::Wire(_)) | None, None) => Vec::new(),
    }
}

/// The place of a case; none where no file holds it.
fn place_of(case: &CaseReport) -> Vec<(&'static str, String)> {
    if case.started.file.is_empty() {
        return Vec::new();
    }
    vec![("file", escape::line(&case.started.file).into_owned()), ("line", case.started.line.to_string())]
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
