//! The fold of an event stream.

use crate::{
    CaseFinished, CaseStarted, Connected, Event, ExitStatus, Finding, Frame, RunFinished, RunStarted, Verdict,
};

/// A whole run, folded from its events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The head, when the log has one.
    pub started: Option<RunStarted>,
    /// Findings about the suite or the run as a whole.
    pub findings: Vec<Finding>,
    /// The cases in plan order.
    pub cases: Vec<CaseReport>,
    /// The end, when the log has one.
    pub finished: Option<RunFinished>,
}

/// One case of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseReport {
    /// How it began.
    pub started: CaseStarted,
    /// Its sessions.
    pub sessions: Vec<Connected>,
    /// Its frames, with the session each belongs to.
    pub frames: Vec<(u32, Frame)>,
    /// How it ended; `None` when the log breaks off.
    pub finished: Option<CaseFinished>,
}

/// How many cases ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Skipped.
    pub skipped: usize,
    /// Could not be run.
    pub errors: usize,
    /// Did not end.
    pub unfinished: usize,
}

impl Report {
    /// Takes in one more event.
    pub fn add(&mut self, event: Event) {
        match event {
            Event::RunStarted(started) => self.started = Some(started),
            Event::Finding { finding } => self.findings.push(finding),
            Event::CaseStarted(started) => {
                self.cases.push(CaseReport { started, sessions: Vec::new(), frames: Vec::new(), finished: None });
            }
            Event::Connected(connected) => {
                if let Some(case) = self.case_mut(connected.index) {
                    case.sessions.push(connected);
                }
            }
            Event::Frame { index, session, frame } => {
                if let Some(case) = self.case_mut(index) {
                    case.frames.push((session, frame));
                }
            }
            Event::CaseFinished(finished) => {
                if let Some(case) = self.case_mut(finished.index) {
                    case.finished = Some(finished);
                }
            }
            Event::RunFinished(finished) => self.finished = Some(finished),
        }
    }

    /// Folds a whole stream.
    pub fn fold(events: impl IntoIterator<Item = Event>) -> Self {
        let mut report = Self::default();
        events.into_iter().for_each(|event| report.add(event));
        report
    }

    /// Counts the cases by verdict.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for case in &self.cases {
            match case.finished.as_ref().map(|f| &f.verdict) {
                Some(Verdict::Passed) => summary.passed += 1,
                Some(Verdict::Failed) => summary.failed += 1,
                Some(Verdict::Skipped { .. }) => summary.skipped += 1,
                Some(Verdict::Error) => summary.errors += 1,
                None => summary.unfinished += 1,
            }
        }
        summary
    }

    /// The exit status the run deserves; "could not be done" wins over "something is wrong".
    pub fn exit_status(&self) -> ExitStatus {
        let summary = self.summary();
        let interrupted = self.finished.as_ref().is_some_and(|f| f.interrupted);
        if interrupted {
            ExitStatus::Interrupted
        } else if summary.errors > 0 || summary.unfinished > 0 {
            ExitStatus::NotDone
        } else if summary.failed > 0 {
            ExitStatus::Wrong
        } else if self.cases.is_empty() {
            ExitStatus::NothingSelected
        } else {
            ExitStatus::Good
        }
    }

    fn case_mut(&mut self, index: usize) -> Option<&mut CaseReport> {
        // Events of a case come together, so it is almost always the last one.
        self.cases.iter_mut().rev().find(|case| case.started.index == index)
    }
}
