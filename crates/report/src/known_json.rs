//! `--json`: the list that users of the file format already parse.

use mcprove_model::{CaseReport, Finding, Report, Verdict};
use serde::Serialize;

use crate::status::UNFINISHED;
use crate::{duration, json_text};

/// The known list: name, status, detail, duration, language (the column of a matrix) and trial of each case, indented by two, with a line break at the end.
pub fn render(report: &Report) -> String {
    let results: Vec<_> = report.cases.iter().map(KnownResult::of).collect();
    json_text::pretty(&results)
}

#[derive(Serialize)]
struct KnownResult<'a> {
    name: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    trial: u32,
}

impl<'a> KnownResult<'a> {
    fn of(case: &'a CaseReport) -> Self {
        let (status, detail, duration_us) = match &case.finished {
            Some(finished) => {
                let (status, detail) = match &finished.verdict {
                    Verdict::Passed => ("PASS", String::new()),
                    Verdict::Skipped { reason } => ("SKIP", reason.clone()),
                    Verdict::Failed | Verdict::Error => ("FAIL", detail(&finished.findings)),
                };
                (status, detail, finished.duration_us)
            }
            None => ("FAIL", UNFINISHED.to_owned(), 0),
        };
        Self {
            name: &case.started.name,
            status,
            detail,
            duration_ms: duration::whole_ms(duration_us),
            language: case.started.variant.as_deref(),
            trial: case.started.trial,
        }
    }
}

/// Findings as plain text: each message with what was expected and what came. Warnings count only where nothing worse was
/// said, because then they are what failed the case.
pub(crate) fn detail(findings: &[Finding]) -> String {
    let strict = !findings.iter().any(|finding| finding.fails(false));
    let mut lines = Vec::new();
    for finding in findings.iter().filter(|finding| finding.fails(strict)) {
        lines.push(format!("{}: {}", finding.rule, finding.message));
        if let Some(expected) = &finding.expected {
            lines.push(format!("  expected: {expected}"));
        }
        if let Some(actual) = &finding.actual {
            lines.push(format!("  actual: {actual}"));
        }
    }
    lines.join("\n")
}
