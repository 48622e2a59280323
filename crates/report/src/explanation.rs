//! Why a case did not pass, in plain words: its findings, the calls that matter, and what the server left behind.

use mcprove_model::{CaseFinished, CaseReport, Finding, Severity};

use crate::evidence::{self, Bounds, View};
use crate::json_view::focus_of;
use crate::snippet::render_finding;
use crate::status::UNFINISHED;
use crate::style::Style;

/// Level of detail of an explanation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth {
    /// True for every call, false for only those that explain the failure.
    pub(crate) all_calls: bool,
    /// Notes too, or only warnings and worse.
    pub(crate) notes: bool,
    /// Limits on each message and on stderr.
    pub(crate) bounds: Bounds,
}

impl Depth {
    /// Enough to understand a failure.
    pub(crate) const NORMAL: Self =
        Self { all_calls: false, notes: false, bounds: Bounds { message: 1_000, stderr: 10, calls: 100 } };
    /// Everything there is, but for what no person would read.
    pub(crate) const FULL: Self =
        Self { all_calls: true, notes: true, bounds: Bounds { message: 20_000, stderr: usize::MAX, calls: 2_000 } };
}

/// Notes of a case about the quality of tools that are shown.
const NOTES: usize = 10;

/// The explanation of a case that has ended; paragraphs have an empty line between them.
pub(crate) fn explain(finished: &CaseFinished, depth: Depth, style: &Style) -> String {
    let mut paragraphs = Vec::new();
    let mut paragraph = |write: &dyn Fn(&mut String)| {
        let mut text = String::new();
        write(&mut text);
        if !text.is_empty() {
            paragraphs.push(text);
        }
    };
    // What the rules behind a score found is why the score is low.
    let mut quality_notes =
        if finished.findings.iter().any(|finding| finding.rule == "tool-score") { NOTES } else { 0 };
    let is_failed = finished.findings.iter().any(|finding| finding.severity.fails());
    for finding in &finished.findings {
        // A question of the server that got no answer is often why what follows failed.
        let is_cause = is_failed && finding.rule == "unanswered-request";
        let is_told = depth.notes || is_cause || finding.severity >= Severity::Warning || finding.is_sub_result();
        if is_told || quality_notes > 0 {
            quality_notes -= usize::from(!is_told);
            paragraph(&|text| render_finding(text, finding, style));
        }
    }
    let focus: Vec<String> =
        finished.findings.iter().filter(|finding| finding.severity.fails()).flat_map(focus_of).collect();
    let view = View { bounds: depth.bounds, focus: &focus, style };
    if let Some(agent) = &finished.agent {
        paragraph(&|text| evidence::agent(text, agent, &view));
    }
    let calls: Vec<_> =
        if depth.all_calls { finished.calls.iter().collect() } else { evidence::relevant_calls(&finished.calls) };
    for call in evidence::calls(&calls, &view) {
        paragraph(&|text| text.push_str(&call));
    }
    paragraph(&|text| evidence::server_end(text, finished, depth.bounds, style));
    paragraphs.join("\n")
}

/// Results of the probes and tools of a case, passed or not; empty for most cases.
pub(crate) fn sub_results(case: &CaseReport) -> Vec<&Finding> {
    let findings = case.finished.as_ref().map_or(&[] as &[Finding], |finished| &finished.findings);
    findings.iter().filter(|finding| finding.is_sub_result()).collect()
}

/// The same as plain text.
pub(crate) fn sub_results_plainly(case: &CaseReport) -> String {
    let mut text = String::new();
    for finding in sub_results(case) {
        render_finding(&mut text, finding, &Style::default());
    }
    text
}

/// The explanation of a case in a file: plain text.
pub(crate) fn explain_plainly(case: &CaseReport) -> String {
    match &case.finished {
        Some(finished) => explain(finished, Depth::NORMAL, &Style::default()),
        None => format!("{UNFINISHED}\n"),
    }
}
