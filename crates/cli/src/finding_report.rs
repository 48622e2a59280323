//! Output of findings about files without a run: for people, as JSON, as annotations, and as a SARIF file.

use std::path::PathBuf;

use mcprove_model::{Event, Finding, Place, Redactor, Report, RunFinished, RunStarted, Severity};
use mcprove_report::{Format, render_findings, to_safe_json};
use serde_json::{Value, json};

use crate::atomic_write;
use crate::catalog_report::counted;
use crate::context::Context;
use crate::failure::Failure;
use crate::stdout::{print, print_exactly};

/// Output forms of findings.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct FindingOutputs {
    /// Print the findings as JSON, and nothing else, on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the findings as GitHub annotations.
    #[arg(long, conflicts_with = "json")]
    pub(crate) github: bool,
    /// Write the findings as SARIF.
    #[arg(long, value_name = "PATH")]
    pub(crate) sarif: Option<PathBuf>,
}

/// The checked files and their findings.
#[derive(Debug)]
pub(crate) struct FindingSet<'a> {
    pub(crate) findings: &'a [Finding],
    pub(crate) files: usize,
    pub(crate) tests: usize,
    /// The noun for findings in the last line.
    pub(crate) called: &'static str,
    /// Secrets that no output may show.
    pub(crate) secrets: &'a [String],
}

impl FindingOutputs {
    /// Prints findings in every wanted form.
    pub(crate) fn print(&self, found: &FindingSet<'_>, context: &Context) -> Result<(), Failure> {
        let redactor = crate::logins::redactor(found.secrets.iter().map(String::as_str));
        let report = as_report(found.findings.iter().cloned(), Context::unix_ms(), &redactor);
        let render = |name: &str| Format::find(name).map(|format| (format.render)(&report)).unwrap_or_default();
        if self.json {
            print(&as_json(&report.findings, found))?;
        } else if self.github {
            print_exactly(&render("github"))?;
        } else {
            print(&for_people(&report.findings, found, context))?;
        }
        if let Some(path) = &self.sarif {
            atomic_write::write_report(path, render("sarif").as_bytes()).map_err(|error| {
                let message = format!("`{}` could not be written: {error}", path.display());
                Failure::new(message, "give `--sarif` a path in an existing folder")
            })?;
        }
        Ok(())
    }
}

/// Findings in the form that report formats are made from: a run without cases.
pub(crate) fn as_report(
    findings: impl IntoIterator<Item = Finding>,
    started_unix_ms: u64,
    redactor: &Redactor,
) -> Report {
    let started = RunStarted {
        format: RunStarted::FORMAT,
        program: concat!("mcprove ", env!("CARGO_PKG_VERSION")).to_owned(),
        started_unix_ms,
        total: 0,
        jobs: 1,
        strict: false,
        shard: None,
        again: Vec::new(),
        context: None,
    };
    let finished = RunFinished { duration_us: 0, interrupted: false, hint: None };
    let findings = findings.into_iter().map(|finding| {
        let mut event = Event::Finding { finding };
        redactor.event(&mut event);
        event
    });
    Report::fold([Event::RunStarted(started)].into_iter().chain(findings).chain([Event::RunFinished(finished)]))
}

fn for_people(findings: &[Finding], found: &FindingSet<'_>, context: &Context) -> String {
    let mut text = render_findings(findings, &context.style());
    if !findings.is_empty() {
        text.push('\n');
    }
    text + &sentence(findings, found) + "\n"
}

fn sentence(findings: &[Finding], found: &FindingSet<'_>) -> String {
    let looked = format!("{} with {}", counted(found.files, "file"), counted(found.tests, "test"));
    if findings.is_empty() {
        return format!("{looked}: no {}s", found.called);
    }
    let kinds: Vec<String> = counts(findings)
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| counted(count, name))
        .collect();
    format!("{looked}: {} ({})", counted(findings.len(), found.called), kinds.join(", "))
}

fn counts(findings: &[Finding]) -> [(&'static str, usize); 3] {
    let count = |is: fn(Severity) -> bool| findings.iter().filter(|finding| is(finding.severity)).count();
    [
        ("error", count(Severity::fails)),
        ("warning", count(|severity| severity == Severity::Warning)),
        ("note", count(|severity| severity == Severity::Note)),
    ]
}

fn as_json(findings: &[Finding], found: &FindingSet<'_>) -> String {
    let listed: Vec<Value> = findings.iter().map(listed).collect();
    let [(_, errors), (_, warnings), (_, notes)] = counts(findings);
    let fixable = findings.iter().filter(|finding| finding.fix.is_some()).count();
    let summary = json!({
        "files": found.files,
        "tests": found.tests,
        "findings": findings.len(),
        "errors": errors,
        "warnings": warnings,
        "notes": notes,
        "fixable": fixable,
    });
    to_safe_json(&json!({"findings": listed, "summary": summary}))
}

fn listed(finding: &Finding) -> Value {
    let place = match &finding.place {
        Some(Place::Text(place)) => Some(place),
        Some(Place::Wire(_)) | None => None,
    };
    json!({
        "rule": finding.rule,
        "severity": finding.severity.word(),
        "message": finding.message,
        "help": finding.help,
        "fixable": finding.fix.is_some(),
        "source": place.map(|place| &place.file),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "end_line": place.map(|place| place.end_line),
        "end_column": place.map(|place| place.end_column),
    })
}
