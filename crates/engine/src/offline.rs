//! Cases that need no server: they work on files, or on a recorded sequence of calls.

use std::path::Path;

use mcprove_model::{Case, Finding, Observation, Offline, Outcome, Trajectory, Verdict};
use mcprove_suite::load::bounded_read;
use mcprove_suite::template::Variables;

use crate::acts;
use crate::case_run::CaseContext;
use crate::record::CaseRecord;
use crate::{expectations, grading};

/// Reads the files of a case and judges what it makes of them.
pub(crate) async fn judge(
    case: &Case,
    work: &dyn Offline,
    variables: &Variables,
    record: &mut CaseRecord,
    context: &CaseContext,
) -> Verdict {
    let (expect, problems) = expectations::resolve(case, &case.expect, variables);
    record.findings.extend(problems);
    let place = || case.source.place(case.span);
    let folder = Path::new(case.source.path()).parent().unwrap_or(Path::new(""));
    let mut texts = Vec::new();
    for file in work.files() {
        match bounded_read::read_to_string(&folder.join(file)) {
            Ok(text) => texts.push(text),
            Err(error) => {
                let text = format!("`{file}` could not be read: {error}");
                let finding = Finding::error("unreadable-file", text).at(place());
                record.findings.push(finding.help("correct the path; it is relative to the folder of the suite"));
                return Verdict::Error;
            }
        }
    }
    match work.evaluate(&texts) {
        Ok(evaluated) => {
            let told = |(id, text): (&'static str, String)| Finding::error(id, text).at(place());
            record.findings.extend(evaluated.problems.into_iter().map(told));
            let mut seen = Observation::new(Outcome::Cancelled, String::new());
            seen.extra = evaluated.envelope;
            grading::supply(&mut seen, &expect, case, context, record).await;
            if !record.is_ungraded {
                record.findings.extend(expectations::judge(&case.source, &expect, &seen));
            }
            record.verdict(context.strict)
        }
        Err(reason) => {
            record.findings.push(Finding::error("unusable-file", reason).at(place()));
            Verdict::Error
        }
    }
}

/// Judges a recorded sequence of calls.
pub(crate) fn judge_trajectory(
    case: &Case,
    trajectory: &Trajectory,
    variables: &Variables,
    record: &mut CaseRecord,
    strict: bool,
) -> Verdict {
    let (expect, problems) = expectations::resolve(case, &case.expect, variables);
    record.findings.extend(problems);
    let (Trajectory::Trace(written) | Trajectory::AuditLog(written)) = trajectory;
    let place = case.source.place(written.span);
    match acts::trajectory::trace(trajectory, variables) {
        Ok(trace) => {
            if trace.is_empty() && matches!(trajectory, Trajectory::AuditLog(_)) {
                let text = "the log holds no tool call, so nothing that is absent proves anything";
                let finding = Finding::warning("empty-log", text).at(place);
                record.findings.push(finding.help("a line is `{\"tool\": …, \"args\": …}`, or an event log"));
            }
            let mut seen = Observation::new(Outcome::Cancelled, String::new());
            seen.trace = trace;
            record.findings.extend(expectations::judge(&case.source, &expect, &seen));
            record.verdict(strict)
        }
        Err(reason) => {
            let finding = Finding::error("audit-log", reason).at(place);
            record
                .findings
                .push(finding.help("a line of a log is `{\"tool\": …, \"args\": …}`, or it is an event log"));
            Verdict::Error
        }
    }
}
