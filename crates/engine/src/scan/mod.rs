//! Scans: cases that a planner makes from what a server lists, and that judge what they see by themselves.
//!
//! A scan is one file in this folder: a struct that implements [`Scan`], and a function that makes its cases from a
//! [`Catalog`](crate::Catalog) with [`ScanSubject::case`]. Everything else is the one run path: lanes, shards, trials,
//! restarts, events and reports know nothing about the kinds of scans.

mod attempt;
mod audit;
mod conformance;
mod diff;
mod fuzz;
mod offer;
mod plan;
mod probe;
mod sequences;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcprove_model::{Act, Case, Expectation, Isolation, ScanWork, ServerSpec, Skip, SourceFile, Span};

use crate::case_run::CaseContext;
use crate::fixture_guard::FixtureGuard;
use crate::host::HostPlayed;
use crate::record::CaseRecord;
use crate::restart::Restartable;

pub(crate) use attempt::attempt;
pub use audit::PlannedCall;
pub use conformance::{ConformanceOptions, expand_conformance, plan_conformance};
pub use diff::{DiffCall, DiffOptions, DiffProgram, plan_diff, recorded_calls, suite_programs};
pub use fuzz::FuzzedTool;
pub use offer::{expanded_template, prompt_arguments};
pub(crate) use plan::planned_inputs;
pub use plan::{FuzzScan, PlannedScan, ScanKind, ScanOptions, plan_scan};
pub use sequences::{SequenceRun, SequenceScan};

/// A piece of work on a server that judges what it sees by itself.
pub(crate) trait Scan: Send + Sync {
    /// The connections it works on.
    fn connections(&self) -> Connections {
        Connections::Lane
    }

    /// Does the work; what is wrong is recorded in the case.
    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s>;
}

/// The work on a case.
pub(crate) type ScanFuture<'s> = Pin<Box<dyn Future<Output = ScanEnd> + Send + 's>>;

/// The end of a scan.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ScanEnd {
    /// Its findings decide.
    Judged,
    /// Nothing was done, for this reason.
    Skipped(String),
    /// The run was stopped meanwhile.
    Interrupted,
}

/// The connections that a scan works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connections {
    /// The session of its lane, which later cases use too. It is restarted where a case ended it.
    Lane,
    /// Its own, opened with the opener of the run.
    Own,
}

/// Everything that a scan works with.
pub(crate) struct ScanCase<'s> {
    /// The session of the lane; `None` for scans with connections of their own.
    pub(crate) lane: Option<Restartable<'s>>,
    pub(crate) server: &'s Arc<ServerSpec>,
    /// The fixture copy and the scratch folder.
    pub(crate) fixture_guard: &'s FixtureGuard,
    pub(crate) record: &'s mut CaseRecord,
    pub(crate) context: &'s CaseContext,
}

/// Result of a scan besides its events, for commands that write it to files.
#[derive(Debug)]
pub enum ScanResult {
    /// A tool that was called.
    Audit(PlannedCall),
    /// A tool that was fuzzed.
    Fuzz(Box<FuzzedTool>),
    /// Sequences of calls.
    Sequences(Box<SequenceRun>),
    /// A scenario that was played to a client.
    Host(HostPlayed),
}

/// The scan of a case.
pub(crate) fn scan_of(work: &ScanWork) -> &dyn Scan {
    match work.get::<Box<dyn Scan>>() {
        Some(scan) => scan.as_ref(),
        None => unreachable!("scan cases are made by `ScanSubject::case` alone"),
    }
}

/// A case of a scan, without its work.
pub(crate) struct ScanSubject<'s> {
    /// Its name: that of the tool.
    pub(crate) name: &'s str,
    pub(crate) server: &'s Arc<ServerSpec>,
    pub(crate) fixture: Option<PathBuf>,
    /// The reason why it is not run.
    pub(crate) skip: Option<String>,
    pub(crate) tags: Vec<String>,
    /// The time the server may take to start.
    pub(crate) start: Duration,
}

impl ScanSubject<'_> {
    /// The case that does this work.
    pub(crate) fn case(self, kind: &'static str, scan: impl Scan + 'static) -> Arc<Case> {
        let isolation = match scan.connections() {
            Connections::Lane => Isolation::Run,
            Connections::Own => Isolation::Case,
        };
        let scan: Box<dyn Scan> = Box::new(scan);
        Arc::new(Case {
            name: self.name.to_owned(),
            // No file says what to do.
            source: Arc::new(SourceFile::new("", "")),
            span: Span::default(),
            server: Some(Arc::clone(self.server)),
            setup: Vec::new(),
            act: Act::Scan(ScanWork::new(kind, scan)),
            capture: Vec::new(),
            verify: Vec::new(),
            teardown: Vec::new(),
            expect: Expectation::default(),
            fixture: self.fixture,
            matrix: None,
            isolation,
            masks: Vec::new(),
            tags: self.tags,
            timeout: Some(self.start),
            skip: self.skip.map(|reason| Skip { reason }),
            known: None,
            suite: None,
        })
    }
}
