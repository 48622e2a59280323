//! `--json`: the list that users of the file format already parse.

use std::fmt::Write as _;

use mcprove_model::{CaseFinished, CaseReport, Finding, Place, Report, Verdict};
use serde::Serialize;

use crate::status::UNFINISHED;
use crate::{duration, json_text};

/// The known list: name, status, detail, duration, language (the column of a matrix) and trial of each case, indented by two, with a line break at the end.
pub fn render(report: &Report) -> String {
    let results: Vec<_> = report.cases.iter().map(KnownResult::of).collect();
    json_text::pretty(&results)
}

/// The known list of a suite that could not be loaded: a file with a mistake is a result that failed, because none of its
/// cases could be run.
pub fn of_mistakes(findings: &[Finding]) -> String {
    let strict = !findings.iter().any(|finding| finding.fails(false));
    let mut files: Vec<(&str, Vec<String>)> = Vec::new();
    for finding in findings.iter().filter(|finding| finding.fails(strict)) {
        let (file, place) = match &finding.place {
            Some(Place::Text(place)) => (place.file.as_str(), format!("{}:{}: ", place.line, place.column)),
            Some(Place::Wire(_)) | None => ("suite", String::new()),
        };
        let line = format!("{place}{}: {}", finding.rule, finding.message);
        match files.iter_mut().find(|(known, _)| *known == file) {
            Some((_, lines)) => lines.push(line),
            None => files.push((file, vec![line])),
        }
    }
    let results = files.into_iter().map(|(name, lines)| {
        let detail = lines.join("\n");
        KnownResult { name, status: "FAIL", detail, duration_ms: 0, language: None, trial: 1 }
    });
    json_text::pretty(&results.collect::<Vec<_>>())
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
                    Verdict::Failed | Verdict::Error => ("FAIL", with_server_end(detail(&finished.findings), finished)),
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

/// Findings as plain text: each message with expected and actual values. Warnings count only where nothing worse was
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
        if let Some(help) = &finding.help {
            lines.push(format!("  help: {help}"));
        }
    }
    lines.join("\n")
}

/// Lines of standard error that are shown of a server that died.
const STDERR_LINES: usize = 10;

/// Adds how the server died and what it wrote last, where it did.
fn with_server_end(mut detail: String, finished: &CaseFinished) -> String {
    let Some(end) = finished.process_end.filter(|end| end.code != Some(0)) else { return detail };
    let lines: Vec<&str> = finished.stderr.trim_end().lines().collect();
    let _ = write!(detail, "\nthe server {end}");
    for line in &lines[lines.len().saturating_sub(STDERR_LINES)..] {
        let _ = write!(detail, "\n  stderr: {line}");
    }
    detail
}

#[cfg(test)]
mod tests {
    use mcprove_model::{Diagnostics, SourceFile, Span};
    use serde_json::{Value, json};

    use super::*;

    fn mistakes(file: &str) -> Vec<Finding> {
        let source = SourceFile::new(file, "a: 1\nb: 2\n");
        let mut found = Diagnostics::new(&source);
        found.error("unknown-key", Span::new(5, 6), "unknown key `b`");
        found.warning("unused-key", Span::new(0, 1), "`a` means nothing", None);
        found.into_findings()
    }

    #[test]
    fn a_file_with_mistakes_is_a_result_that_failed() {
        let all = [mistakes("a.yaml"), mistakes("b.yaml"), vec![Finding::error("no-file", "there is no `c.yaml`")]];
        let list: Value = serde_json::from_str(&of_mistakes(&all.concat())).expect("JSON");
        let failed = |name: &str, detail: &str| json!({"name": name, "status": "FAIL", "detail": detail, "duration_ms": 0, "trial": 1});
        let of_key = "2:1: unknown-key: unknown key `b`";
        assert_eq!(
            list,
            json!([
                failed("a.yaml", of_key),
                failed("b.yaml", of_key),
                failed("suite", "no-file: there is no `c.yaml`")
            ])
        );
        // Where warnings were all there was, they are what was not let through.
        let list: Value = serde_json::from_str(&of_mistakes(&mistakes("a.yaml")[1..])).expect("JSON");
        assert_eq!(list, json!([failed("a.yaml", "1:1: unused-key: `a` means nothing")]));
        assert_eq!(of_mistakes(&[]), "[]\n");
    }
}
