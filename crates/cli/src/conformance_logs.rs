//! Conformance of what was recorded: rules that need nothing but messages, over event logs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use mcprove_judge::conformance::{Channel, Evidence, Grade, Recording, STATIC_RULES, Verdict, findings, judge};
use mcprove_model::{ExitStatus, Finding, Report, Revision};
use mcprove_report::render_findings;

use crate::context::Context;
use crate::failure::Failure;
use crate::logs::{self, Frames};
use crate::stdout::print;

/// Judges the conversations of event logs.
pub(crate) fn judge_logs(paths: &[PathBuf], rules: &[String], context: &Context) -> Result<ExitStatus, Failure> {
    let read = logs::read(paths, Frames::Keep)?;
    for complaint in &read.complaints {
        context.write_stderr(&format!("warning: {complaint}\n"));
    }
    let report = read.report;
    let mut text = String::new();
    let mut has_failed = false;
    for evidence in evidence(&report) {
        let mut graded = judge(&evidence, |rule| STATIC_RULES.contains(&rule.id));
        graded.retain(|graded| rules.is_empty() || rules.iter().any(|rule| rule == graded.rule.id));
        let grade = Grade::of(&graded);
        has_failed |= grade.failed > 0;
        let messages: usize = evidence.recordings.iter().map(|recording| recording.entries.len()).sum();
        let _ = writeln!(
            text,
            "{} over {}: {} passed, {} failed, {} warned, {} not exercised ({messages} messages)",
            evidence.revision,
            evidence.channel.as_str(),
            grade.passed,
            grade.failed,
            grade.warned,
            grade.not_applicable + grade.not_testable,
        );
        let wrong: Vec<Finding> = graded
            .iter()
            .filter(|graded| matches!(graded.verdict, Verdict::Fail | Verdict::Warn))
            .flat_map(findings)
            .collect();
        if !wrong.is_empty() {
            text.push_str(&render_findings(&wrong, &context.style()));
        }
    }
    if text.is_empty() {
        return Err(Failure::NothingSelected {
            message: "the logs have no conversation".to_owned(),
            help: "record one with `mcprove run --events FILE` or `mcprove intercept`".to_owned(),
        });
    }
    print(&text)?;
    Ok(if has_failed { ExitStatus::Wrong } else { ExitStatus::Good })
}

/// The conversations of a report, by revision and transport.
fn evidence(report: &Report) -> Vec<Evidence> {
    let mut found: BTreeMap<(Revision, bool), Vec<Recording>> = BTreeMap::new();
    for case in &report.cases {
        for session in &case.sessions {
            let Some(revision) = Revision::parse(&session.protocol) else { continue };
            let frames = case.frames.iter().filter(|(number, _)| *number == session.session).map(|(_, frame)| frame);
            let is_http = matches!(session.transport.as_str(), "http" | "sse");
            found.entry((revision, is_http)).or_default().push(Recording::from_frames(frames));
        }
    }
    let evidence = found.into_iter().map(|((revision, is_http), recordings)| {
        Evidence::new(revision, if is_http { Channel::Http } else { Channel::Stdio }, recordings)
    });
    evidence.collect()
}
