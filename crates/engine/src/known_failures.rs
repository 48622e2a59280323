//! Cases that fail for a known defect (`known:`): they are run, and their failure does not fail the run.

use mcprove_model::{Case, Finding, Severity, Verdict};

use crate::record::CaseRecord;

/// The verdict of a case, given the defect that is known of it.
pub(crate) fn judged(verdict: Verdict, case: &Case, record: &mut CaseRecord, strict: bool) -> Verdict {
    let Some(known) = &case.known else { return verdict };
    match verdict {
        Verdict::Failed => {
            for finding in record.findings.iter_mut().filter(|finding| finding.fails(strict)) {
                finding.severity = Severity::Note;
            }
            Verdict::Skipped { reason: format!("fails as known: {known}") }
        }
        Verdict::Passed => {
            let text = format!("the test passes, and is marked as one that fails: {known}");
            let finding = Finding::warning("known-passes", text).at(case.source.place(case.span));
            record.findings.push(finding.help("remove `known`, so that the defect does not come back unseen"));
            if strict { Verdict::Failed } else { Verdict::Passed }
        }
        Verdict::Error | Verdict::Skipped { .. } => verdict,
    }
}
