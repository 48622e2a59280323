//! Record of a running case, and its final result.

use std::time::Duration;

use mcprove_judge::trust::TraceEvent;
use mcprove_model::{
    AgentRecord, CallRecord, CaseFinished, CaseStarted, Connected, Event, Finding, Frame, LoadRecord, Observation,
    Outcome, PlannedCase, ProcessEnd, Severity, Snapshot, Timings, Verdict, shorten,
};
use mcprove_wire::{Closing, OpenFailure, Session};
// The runtime's time, which may be virtual.
use tokio::time::Instant;

use crate::fuzz::connection::ConnectionLog;
use crate::scan::ScanResult;

/// A case that is over.
#[derive(Debug)]
pub(crate) struct CaseRun {
    pub(crate) started: CaseStarted,
    pub(crate) connected: Vec<Connected>,
    /// Frames with the number of their session.
    pub(crate) frames: Vec<(u32, Frame)>,
    pub(crate) finished: CaseFinished,
    /// The observation of the act, where that is kept.
    pub(crate) seen: Option<Observation>,
    /// Exit status of the server, if it ended in a call that needed it.
    pub(crate) server_end: Option<String>,
    /// Result of a scan besides its events.
    pub(crate) scanned: Option<ScanResult>,
}

impl CaseRun {
    /// A case that was not run.
    pub(crate) fn skipped(planned: &PlannedCase, reason: &str) -> Box<Self> {
        CaseRecord::new(planned).finish(Verdict::Skipped { reason: reason.to_owned() })
    }

    /// Books what was still to be done after the verdict.
    pub(crate) fn took_longer(&mut self, teardown: Duration) {
        self.finished.timings.teardown += micros(teardown);
        self.finished.duration_us += micros(teardown);
    }

    /// Adds a finding after the verdict, which may change it.
    pub(crate) fn add(&mut self, finding: Finding, strict: bool) {
        if finding.fails(strict) && self.finished.verdict == Verdict::Passed {
            self.finished.verdict = Verdict::Failed;
        }
        self.finished.findings.push(finding);
    }

    /// Its events without frames, for display before its turn.
    pub(crate) fn brief_events(&self) -> impl Iterator<Item = Event> {
        std::iter::once(Event::CaseStarted(self.started.clone()))
            .chain(self.connected.iter().cloned().map(Event::Connected))
            .chain(std::iter::once(Event::CaseFinished(self.finished.clone())))
    }

    /// Reports its events in order.
    pub(crate) fn report(self: Box<Self>, mut take: impl FnMut(Event)) {
        let Self { started, connected, frames, finished, seen: _, server_end: _, scanned: _ } = *self;
        let index = finished.index;
        take(Event::CaseStarted(started));
        connected.into_iter().map(Event::Connected).for_each(&mut take);
        for (session, frame) in frames {
            take(Event::Frame { index, session, frame });
        }
        take(Event::CaseFinished(finished));
    }
}

/// A case on its way: what is known so far.
#[derive(Debug)]
pub(crate) struct CaseRecord {
    started: CaseStarted,
    connected: Vec<Connected>,
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) snapshots: Vec<Snapshot>,
    /// The observation of the act, where that is kept.
    pub(crate) seen: Option<Observation>,
    /// Record of an agent besides its calls.
    pub(crate) agent: Option<Box<AgentRecord>>,
    /// Record of a load.
    pub(crate) load: Option<Box<LoadRecord>>,
    /// Messages to and from servers, complete and in order, if a check needs them.
    pub(crate) trace: Vec<TraceEvent>,
    /// Result of a scan besides its events.
    pub(crate) scanned: Option<ScanResult>,
    /// True if a server could not be started or reached.
    pub(crate) is_unreachable: bool,
    /// True if a judge gave no grade.
    pub(crate) is_ungraded: bool,
    server_end: Option<String>,
    frames: Vec<(u32, Frame)>,
    stderr: String,
    end: Option<ProcessEnd>,
    timings: Timings,
    began: Instant,
    marked: Instant,
}

impl CaseRecord {
    /// The variant and the trial of the case.
    pub(crate) fn variant_and_trial(&self) -> (Option<String>, u32) {
        (self.started.variant.clone(), self.started.trial)
    }

    pub(crate) fn new(planned: &PlannedCase) -> Self {
        let case = &planned.case;
        let is_written = !case.source.path().is_empty();
        let started = CaseStarted {
            index: planned.index,
            name: case.name.clone(),
            file: case.source.path().to_owned(),
            line: if is_written { case.source.position(case.span.start).line } else { 0 },
            trial: planned.trial,
            server: case.server.as_ref().map(|server| server.name.clone()),
            variant: planned.variant.as_deref().map(str::to_owned),
            tags: case.tags.clone(),
        };
        let now = Instant::now();
        Self {
            started,
            connected: Vec::new(),
            calls: Vec::new(),
            findings: Vec::new(),
            snapshots: Vec::new(),
            seen: None,
            agent: None,
            load: None,
            trace: Vec::new(),
            scanned: None,
            is_unreachable: false,
            is_ungraded: false,
            server_end: None,
            frames: Vec::new(),
            stderr: String::new(),
            end: None,
            timings: Timings::default(),
            began: now,
            marked: now,
        }
    }

    /// Books the time since the last mark.
    pub(crate) fn mark(&mut self, part: fn(&mut Timings) -> &mut u64) {
        let now = Instant::now();
        *part(&mut self.timings) += micros(now - self.marked);
        self.marked = now;
    }

    /// Books the time since the last mark on a session that was opened in it: the start of its process, then the handshake.
    pub(crate) fn mark_opened(&mut self, session: &Session) {
        // A shared session began earlier; one without a process has nothing to start.
        if session.transport_name() == "stdio" && session.began() > self.marked {
            self.timings.start += micros(session.began() - self.marked);
            self.marked = session.began();
        }
        self.mark(|timings| &mut timings.handshake);
    }

    /// Takes down that a session is open, and gives it a number.
    pub(crate) fn opened(&mut self, session: &Session) -> usize {
        self.opened_at(session, None)
    }

    /// The same for one of several servers, by the name the suite gives it.
    pub(crate) fn opened_at(&mut self, session: &Session, server: Option<&str>) -> usize {
        let negotiated = session.negotiated();
        let position = self.connected.len();
        self.connected.push(Connected {
            index: self.started.index,
            session: number(position),
            server: server.map(str::to_owned),
            began_us: server.map_or(0, |_| microseconds_between(self.began, session.began())),
            transport: session.transport_name().to_owned(),
            protocol: negotiated.revision.to_string(),
            server_name: negotiated.server_name.clone(),
            server_version: negotiated.server_version.clone(),
        });
        position
    }

    pub(crate) fn not_opened(&mut self, failure: OpenFailure) -> Verdict {
        let mut finding = Finding::error("no-session", failure.message);
        finding.help = failure.help;
        finding.actual = failure.evidence.map(|bytes| {
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]);
            shorten(&text, 500).into_owned()
        });
        self.findings.push(finding);
        self.is_unreachable = true;
        self.closed_session(self.connected.len(), failure.closing);
        Verdict::Error
    }

    /// Adds what is wrong with a call that had no result; a server that ended in it may not be to blame.
    pub(crate) fn no_result(&mut self, finding: Finding, outcome: &Outcome) {
        if let Outcome::Closed { .. } = outcome {
            self.server_ended(&finding.message);
        }
        self.findings.push(finding);
    }

    /// Notes that the server ended in a call.
    pub(crate) fn server_ended(&mut self, how: &str) {
        self.server_end.get_or_insert_with(|| how.to_owned());
    }

    /// Takes over sessions that a scan opened by itself; what is odd about them is returned.
    pub(crate) fn take_said(&mut self, said: ConnectionLog) -> Vec<Finding> {
        let index = self.started.index;
        self.connected.extend(said.connected.into_iter().map(|connected| Connected { index, ..connected }));
        self.frames.extend(said.frames);
        self.stderr = said.stderr;
        self.end = said.end;
        said.oddities
    }

    /// Takes in what is left of one of several sessions; of their ends, the first is kept.
    pub(crate) fn closed_session(&mut self, session: usize, mut closing: Closing) {
        self.findings.append(&mut closing.oddities);
        self.frames.extend(closing.frames.into_iter().map(|frame| (number(session), frame)));
        if !self.stderr.is_empty() && !closing.stderr.is_empty() {
            self.stderr.push('\n');
        }
        self.stderr.push_str(&closing.stderr);
        self.end = self.end.or(closing.end);
    }

    /// Everything that went over the wire in sessions that are over.
    pub(crate) fn frames(&self) -> &[(u32, Frame)] {
        &self.frames
    }

    pub(crate) fn verdict(&self, strict: bool) -> Verdict {
        // A server that could not be reached says nothing about the one under test, and a missing grade nothing at all.
        if self.is_unreachable || self.is_ungraded {
            Verdict::Error
        } else if self.findings.iter().any(|finding| finding.fails(strict)) {
            Verdict::Failed
        } else {
            Verdict::Passed
        }
    }

    pub(crate) fn finish(mut self, verdict: Verdict) -> Box<CaseRun> {
        // What failed first, what is merely odd after it.
        self.findings.sort_by_key(|finding| match finding.severity {
            Severity::Critical | Severity::High | Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Note => 2,
        });
        let index = self.started.index;
        Box::new(CaseRun {
            started: self.started,
            connected: self.connected,
            frames: self.frames,
            seen: self.seen,
            server_end: self.server_end,
            scanned: self.scanned,
            finished: CaseFinished {
                index,
                verdict,
                findings: self.findings,
                duration_us: micros(self.began.elapsed()).saturating_sub(self.timings.waiting),
                timings: self.timings,
                calls: self.calls,
                stderr: self.stderr,
                process_end: self.end,
                snapshots: self.snapshots,
                agent: self.agent,
                load: self.load,
            },
        })
    }
}

fn number(session: usize) -> u32 {
    u32::try_from(session).unwrap_or(u32::MAX)
}

/// Time from the first to the second; negative if the second is earlier.
fn microseconds_between(one: Instant, other: Instant) -> i64 {
    let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    micros(other.saturating_duration_since(one)) - micros(one.saturating_duration_since(other))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
