//! From what a case saw to findings.

use std::borrow::Cow;

use mcprove_judge::checks;
use mcprove_model::{
    Case, Diagnostics, Expectation, Finding, Observation, PlannedCheck, Severity, SourceFile, Vocabulary, shorten,
};
use mcprove_suite::template::{Variables, substitute_with_keys};

/// An expectation with its templates filled in; what no longer decodes is a finding. One without templates is not copied.
pub(crate) fn resolve<'e>(
    case: &Case,
    expect: &'e Expectation,
    variables: &Variables,
) -> (Cow<'e, Expectation>, Vec<Finding>) {
    let Some(block) = expect.templated.as_deref().filter(|_| variables.names().next().is_some()) else {
        return (Cow::Borrowed(expect), Vec::new());
    };
    let filled = substitute_with_keys(block, variables);
    if filled == *block {
        return (Cow::Borrowed(expect), Vec::new());
    }
    let mut found = Diagnostics::new(&case.source);
    let checks = checks::decode(expect.vocabulary, &filled, &mut found);
    (Cow::Owned(Expectation { checks, ..expect.clone() }), found.into_findings())
}

/// Characters of what a case saw that a finding keeps.
const SEEN: usize = 20_000;

/// True for an excerpt of a longer text, and for a text with one.
fn is_cut(excerpt: &str) -> bool {
    excerpt.contains(" bytes in all)")
}

/// Judges every check; none hides another. Where a threshold is set and met, what did not hold is a note.
pub(crate) fn judge(source: &SourceFile, expect: &Expectation, seen: &Observation) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut held, mut total) = (0.0, 0.0);
    let mut is_settle_named = false;
    // What counts for nothing in the share is a gate of its own.
    let mut gates = Vec::new();
    for planned in expect.all() {
        if seen.stored.grades.left_out && planned.check.is_model_graded() {
            let note = "model-graded: not judged, because `--no-model` leaves language models out";
            findings.push(Finding::note(Finding::NOT_GRADED, note).at(source.place(planned.span)));
            continue;
        }
        total += planned.weight;
        // Most checks hold and have nothing to say, so their place is not looked up.
        let place = || source.place(planned.span);
        match planned.check.judge(seen) {
            Ok(()) => {
                held += planned.weight;
                if let Some(remark) = planned.check.remark(seen) {
                    findings.push(Finding::note(planned.name, remark).at(place()));
                }
            }
            Err(mismatch) => {
                let mut finding = Finding::error(planned.name, mismatch.message).at(place());
                finding.expected = Some(mismatch.expected);
                // The relevant part is for the terminal; readers of the report want the rest, too.
                finding.seen = is_cut(&mismatch.actual).then(|| shorten(&seen.text, SEEN).into_owned());
                finding.actual = Some(mismatch.actual);
                finding.diff = mismatch.diff;
                finding.help = mismatch.help;
                if !is_settle_named && is_awaited(expect, planned) && finding.help.is_none() {
                    is_settle_named = true;
                    finding.help = Some("a server that needs longer: raise `settle:` (200ms when left out)".to_owned());
                }
                if planned.weight == 0.0 {
                    gates.push(findings.len());
                }
                findings.push(finding);
            }
        }
    }
    let Some(threshold) = expect.threshold.filter(|_| total > 0.0) else { return findings };
    let share = held / total;
    if share >= threshold {
        for (at, finding) in findings.iter_mut().enumerate() {
            if !gates.contains(&at) {
                finding.severity = Severity::Note;
            }
        }
    } else {
        let message = format!("{share:.2} of the checks held, by weight, and `threshold` asks for {threshold}");
        findings.insert(0, Finding::error("threshold", message));
    }
    findings
}

/// The weighted share of checks that hold; all of none.
pub(crate) fn share(expect: &Expectation, seen: &Observation) -> f64 {
    let total: f64 = expect.checks.iter().map(|planned| planned.weight).sum();
    let holds = expect.checks.iter().filter(|planned| planned.check.judge(seen).is_ok());
    let held: f64 = holds.map(|planned| planned.weight).sum();
    if total > 0.0 { held / total } else { 1.0 }
}

/// True if notifications were awaited that could have made a check hold.
fn is_awaited(expect: &Expectation, planned: &PlannedCheck) -> bool {
    let awaits = matches!(expect.vocabulary, Vocabulary::Logging | Vocabulary::Notifications | Vocabulary::Resources);
    planned.check.awaits_more() && (awaits || planned.name == "logging")
}
