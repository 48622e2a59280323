//! Status of a case in a report: its verdict, or that it has none.

use std::fmt::Write as _;

use mcprove_model::{CaseReport, CaseStarted, MODEL_GRADED_TAG, Verdict};

use crate::escape;

/// Message for a case that has no verdict.
pub(crate) const UNFINISHED: &str = "the case did not end: the run was stopped, or its log breaks off";

/// Status of a case in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status<'a> {
    Passed,
    Failed,
    Skipped(&'a str),
    Error,
    Unfinished,
}

impl<'a> Status<'a> {
    pub(crate) fn of(case: &'a CaseReport) -> Self {
        match case.finished.as_ref().map(|finished| &finished.verdict) {
            Some(Verdict::Passed) => Self::Passed,
            Some(Verdict::Failed) => Self::Failed,
            Some(Verdict::Skipped { reason }) => Self::Skipped(reason),
            Some(Verdict::Error) => Self::Error,
            None => Self::Unfinished,
        }
    }

    /// The word of the full report.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped(_) => "skipped",
            Self::Error => "error",
            Self::Unfinished => "unfinished",
        }
    }
}

/// The word for the status of a case, as the full report has it.
pub fn status_word(case: &CaseReport) -> &'static str {
    Status::of(case).word()
}

/// The case's name in one harmless line, its column of a matrix, and its trial from the second on.
pub(crate) fn title(started: &CaseStarted) -> String {
    let mut title = name(&started.name, started.variant.as_deref());
    if started.trial > 1 {
        let _ = write!(title, " (trial {})", started.trial);
    }
    // Readers of a verdict must know that a language model took part in it.
    if is_model_graded(started) {
        title.push_str(" (model-graded)");
    }
    title
}

/// True if a language model has a part in the verdict of a case.
pub(crate) fn is_model_graded(started: &CaseStarted) -> bool {
    started.tags.iter().any(|tag| tag == MODEL_GRADED_TAG)
}

/// A name in one harmless line, and the column of a matrix it belongs to.
pub(crate) fn name(name: &str, variant: Option<&str>) -> String {
    let name = if name.is_empty() { "(no name)".into() } else { escape::name(name) };
    match variant {
        Some(variant) => format!("{name} [{}]", escape::name(variant)),
        None => name.into_owned(),
    }
}

/// Duration of a case; 0 if it did not end.
pub(crate) fn duration_us(case: &CaseReport) -> u64 {
    case.finished.as_ref().map_or(0, |finished| finished.duration_us)
}
