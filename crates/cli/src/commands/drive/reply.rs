//! Replies to the driver: replies of servers, results of cases, and errors, as JSON.

use mcprove_model::{CaseReport, Event, Finding, Observation, Outcome, Redactor, Verdict};
use mcprove_report::{Style, Terminal, TerminalOptions, render_findings};
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// Columns of the messages.
const WIDTH: usize = 100;

/// A failure as the value of `error`.
pub(super) fn error(failure: &Failure) -> Value {
    let mut object = Map::new();
    let (kind, findings, help): (&str, &[Finding], Option<&str>) = match failure {
        Failure::Suite(findings) => ("suite", findings, None),
        Failure::Config(findings) => ("config", findings, None),
        Failure::NothingSelected { help, .. } => ("nothing-selected", &[], Some(help)),
        Failure::Interrupted => ("interrupted", &[], None),
        Failure::Server { help, .. } => ("server", &[], help.as_deref()),
        Failure::Other { help, .. } => ("other", &[], help.as_deref()),
    };
    object.insert("kind".to_owned(), kind.into());
    let message = if findings.is_empty() { failure.to_string() } else { rendered(findings) };
    object.insert("message".to_owned(), message.into());
    if let Some(help) = help {
        object.insert("help".to_owned(), help.into());
    }
    if let Some(evidence) = failure.evidence() {
        object.insert("evidence".to_owned(), evidence.into());
    }
    if !findings.is_empty() {
        object.insert("findings".to_owned(), json!(findings));
    }
    Value::Object(object)
}

/// The reply of a server to a request.
pub(in crate::commands) fn of_server(seen: Option<&Observation>) -> Map<String, Value> {
    let mut object = Map::new();
    let Some(seen) = seen else {
        object.insert("outcome".to_owned(), "none".into());
        return object;
    };
    let outcome = match &seen.outcome {
        Outcome::Result(result) => {
            object.insert("result".to_owned(), result.clone());
            "result"
        }
        Outcome::Error(error) => {
            object
                .insert("error".to_owned(), json!({"code": error.code, "message": error.message, "data": error.data}));
            "error"
        }
        Outcome::Malformed(_) => "malformed",
        Outcome::Refused(_) => "refused",
        Outcome::TimedOut { .. } => "timeout",
        Outcome::Closed { .. } => "closed",
        Outcome::Cancelled => "cancelled",
    };
    object.insert("outcome".to_owned(), outcome.into());
    object.insert("text".to_owned(), seen.text.clone().into());
    object.insert("is_error".to_owned(), seen.is_error.into());
    if let Some(structured) = &seen.structured {
        object.insert("structured".to_owned(), structured.clone());
    }
    object.insert("duration_us".to_owned(), seen.elapsed_us.into());
    object
}

/// Adds the verdict: whether it passed, the findings, and those that fail as text. Places are left out, because what is
/// judged was written by the other program.
pub(in crate::commands) fn add_verdict(
    object: &mut Map<String, Value>,
    verdict: &Verdict,
    mut findings: Vec<Finding>,
    secrets: &Redactor,
) {
    findings.retain(|finding| finding.rule != Finding::NOTHING_CHECKED);
    for finding in &mut findings {
        finding.place = None;
        finding.fix = None;
        let mut event = Event::Finding { finding: finding.clone() };
        secrets.event(&mut event);
        if let Event::Finding { finding: safe } = event {
            *finding = safe;
        }
    }
    object.insert("passed".to_owned(), (*verdict == Verdict::Passed).into());
    let failing: Vec<Finding> = findings.iter().filter(|finding| finding.fails(false)).cloned().collect();
    object.insert("message".to_owned(), rendered(&failing).into());
    object.insert("findings".to_owned(), json!(findings));
}

/// The result of a case of a suite.
pub(super) fn of_case(case: &CaseReport) -> Value {
    let started = &case.started;
    let (verdict, reason, findings, duration_us) = match &case.finished {
        Some(finished) => {
            let (word, reason) = match &finished.verdict {
                Verdict::Passed => ("passed", None),
                Verdict::Failed => ("failed", None),
                Verdict::Skipped { reason } => ("skipped", Some(reason.as_str())),
                Verdict::Error => ("error", None),
            };
            (word, reason, finished.findings.as_slice(), finished.duration_us)
        }
        None => ("error", Some("the case did not end"), &[][..], 0),
    };
    json!({
        "name": started.name,
        "file": started.file,
        "line": started.line,
        "variant": started.variant,
        "trial": started.trial,
        "server": started.server,
        "verdict": verdict,
        "reason": reason,
        "message": message_of(case),
        "findings": findings,
        "duration_us": duration_us,
    })
}

/// The explanation of a failure as the terminal shows it, without name and place; empty if it did not fail.
fn message_of(case: &CaseReport) -> String {
    let Some(finished) = &case.finished else { return "the case did not end".to_owned() };
    if !matches!(finished.verdict, Verdict::Failed | Verdict::Error) {
        return String::new();
    }
    let mut shown = Vec::new();
    let mut terminal = Terminal::new(&mut shown, TerminalOptions { width: Some(WIDTH), ..TerminalOptions::default() });
    // Memory takes every byte.
    let _ = terminal.event(&Event::CaseStarted(case.started.clone()));
    for session in &case.sessions {
        let _ = terminal.event(&Event::Connected(session.clone()));
    }
    let _ = terminal.event(&Event::CaseFinished(finished.clone()));
    drop(terminal);
    let text = String::from_utf8(shown).unwrap_or_default();
    // The first lines are the name, the place, and an empty one.
    let details = text.lines().skip(3).map(|line| line.strip_prefix("      ").unwrap_or(line));
    details.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Findings as text.
pub(in crate::commands) fn rendered(findings: &[Finding]) -> String {
    render_findings(findings, &Style { color: false, width: Some(WIDTH) }).trim_end().to_owned()
}
