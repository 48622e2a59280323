//! From what a case saw to findings.

use mcprove_judge::checks;
use mcprove_model::{Case, Diagnostics, Expectation, Finding, Observation, PlannedCheck};
use mcprove_suite::template::{Variables, substitute_with_keys};

/// The checks of a block with its templates filled in; what no longer decodes is a finding.
pub(crate) fn resolve(case: &Case, expect: &Expectation, variables: &Variables) -> (Vec<PlannedCheck>, Vec<Finding>) {
    let Some(block) = expect.block.as_ref().filter(|_| variables.names().next().is_some()) else {
        return (expect.checks.clone(), Vec::new());
    };
    let filled = substitute_with_keys(block, variables);
    if filled == *block {
        return (expect.checks.clone(), Vec::new());
    }
    let mut found = Diagnostics::new(&case.source);
    let checks = checks::decode(expect.vocabulary, &filled, &mut found);
    (checks, found.into_findings())
}

/// Judges every check; none hides another.
pub(crate) fn judge(case: &Case, checks: &[PlannedCheck], seen: &Observation) -> Vec<Finding> {
    let mut findings = Vec::new();
    for planned in checks {
        let place = case.source.place(planned.span);
        match planned.check.judge(seen) {
            Ok(()) => {
                if let Some(remark) = planned.check.remark(seen) {
                    findings.push(Finding::note(planned.name, remark).at(place));
                }
            }
            Err(mismatch) => {
                let mut finding = Finding::error(planned.name, mismatch.message).at(place);
                finding.expected = Some(mismatch.expected);
                finding.actual = Some(mismatch.actual);
                finding.diff = mismatch.diff;
                finding.help = mismatch.help;
                findings.push(finding);
            }
        }
    }
    findings
}
