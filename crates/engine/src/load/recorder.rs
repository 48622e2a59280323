//! Record of the calls of a load, as they end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcprove_model::{CallStats, ErrorStats, Finding, LatencyHistogram, LoadError, LoadRecord, LoadWindow, UsageSample};
use tokio::time::Instant;

use super::sessions::NotOpened;
use super::{LoadMeter, micros};

/// Different oddities of sessions that are kept.
const ODDITIES: usize = 10;
/// The most windows of a timeline; calls after them are counted in the last.
const WINDOWS: usize = 3_600;

/// Record of the calls of a load, shared by its clients.
#[derive(Debug)]
pub(super) struct Recorder {
    time: Timeline,
    pub(super) meter: Arc<LoadMeter>,
    state: Mutex<State>,
}

/// The measured time, cut into windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeline {
    /// Begin of the measurement: calls that were to start before are not counted.
    pub(super) begin: Instant,
    pub(super) end: Instant,
    pub(super) window: Duration,
    /// True if the load ends with its last call rather than at a time.
    pub(super) is_open_ended: bool,
}

#[derive(Debug, Default)]
struct State {
    record: LoadRecord,
    /// Results by the position of the call in the workload.
    calls: Vec<CallStats>,
    /// Replies that differ from the reference, until it is known whether the reference still holds.
    doubtful: Vec<Doubtful>,
    oddities: Vec<Finding>,
    last: Option<Instant>,
    pids: BTreeSet<u32>,
    /// Number of sessions that are open.
    sessions: u64,
}

/// Replies that differ from the one that the call got alone.
#[derive(Clone, Debug, Default)]
struct Doubtful {
    latency: LatencyHistogram,
    service: LatencyHistogram,
    errors: ErrorStats,
    /// Their part of the timeline, by the position of the window.
    windows: BTreeMap<usize, LoadWindow>,
}

/// A call that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) call: usize,
    pub(super) intended: Instant,
    pub(super) sent: Instant,
    pub(super) at: Instant,
    /// Number of calls of the load that were open when it was sent, itself included.
    pub(super) concurrent: u64,
    pub(super) verdict: CallVerdict,
}

/// The verdict on one reply.
#[derive(Debug, PartialEq)]
pub(super) enum CallVerdict {
    Good,
    Failed(LoadError, String),
    /// It differs from the reply that the call got alone.
    Differs(String),
}

impl State {
    /// A window of the timeline, which grows as needed.
    fn window(&mut self, at: usize) -> &mut LoadWindow {
        let at = at.min(WINDOWS - 1);
        if self.record.windows.len() <= at {
            self.record.windows.resize_with(at + 1, LoadWindow::default);
        }
        &mut self.record.windows[at]
    }
}

impl Recorder {
    pub(super) fn new(time: Timeline, calls: usize, meter: Arc<LoadMeter>) -> Self {
        let mut state = State::default();
        if !time.is_open_ended {
            let windows = micros(time.end - time.begin).div_ceil(micros(time.window).max(1));
            state.record.windows.resize_with(usize::try_from(windows).unwrap_or(0).min(WINDOWS), LoadWindow::default);
        }
        state.calls.resize_with(calls, CallStats::default);
        state.doubtful.resize_with(calls, Doubtful::default);
        Self { time, meter, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The position of a moment in the timeline; `None` outside of the measurement.
    fn window_at(&self, at: Instant) -> Option<usize> {
        let since = at.checked_duration_since(self.time.begin).filter(|_| at < self.time.end)?;
        usize::try_from(micros(since) / micros(self.time.window).max(1)).ok()
    }

    /// The number of calls that were open when a call that failed was sent, and in the time in which a server usually replies.
    fn concurrent(&self, state: &State, ended: &Ended) -> u64 {
        let usual = state.calls[ended.call].service.quantile(0.5);
        self.meter.concurrent(ended.sent, ended.concurrent, Duration::from_micros(usual))
    }

    /// Takes down a call that has ended.
    pub(super) fn ended(&self, ended: Ended) {
        let latency = micros(ended.at.saturating_duration_since(ended.intended));
        let service = micros(ended.at.saturating_duration_since(ended.sent));
        let is_good = ended.verdict == CallVerdict::Good;
        self.meter.ended(is_good.then_some(latency));
        let completed_in = self.window_at(ended.at);
        let Some(started_in) = self.window_at(ended.intended) else { return };
        let mut state = self.state();
        let concurrent = if is_good { 0 } else { self.concurrent(&state, &ended) };
        // A call that failed after the end, such as one that timed out, does not make the measurement longer.
        if self.time.is_open_ended || !matches!(ended.verdict, CallVerdict::Failed(..)) {
            state.last = state.last.max(Some(ended.at));
        }
        match ended.verdict {
            CallVerdict::Good => {
                if let Some(completed_in) = completed_in {
                    state.window(completed_in).completed += 1;
                }
                state.window(started_in).latency.record(latency);
                // Without a name that is made anew for each call.
                match state.record.phases.get_mut("call") {
                    Some(phase) => phase.record(service),
                    None => state.record.phases.entry("call".to_owned()).or_default().record(service),
                }
                let stats = &mut state.calls[ended.call];
                stats.latency.record(latency);
                stats.service.record(service);
            }
            CallVerdict::Failed(kind, example) => {
                count(state.calls[ended.call].errors.entry(kind).or_default(), example, concurrent);
                state.window(started_in).errors += 1;
            }
            CallVerdict::Differs(example) => {
                let doubtful = &mut state.doubtful[ended.call];
                doubtful.latency.record(latency);
                doubtful.service.record(service);
                doubtful.windows.entry(started_in).or_default().latency.record(latency);
                if let Some(completed_in) = completed_in {
                    doubtful.windows.entry(completed_in).or_default().completed += 1;
                }
                count(&mut doubtful.errors, example, concurrent);
            }
        }
    }

    /// Takes down an arrival that was not started in time.
    pub(super) fn dropped(&self, intended: Instant) {
        let Some(window) = self.window_at(intended) else { return };
        let mut state = self.state();
        state.record.dropped += 1;
        state.window(window).dropped += 1;
    }

    /// Takes down mcprove's own delay of a call.
    pub(super) fn lag(&self, intended: Instant, sent: Instant) {
        if self.window_at(intended).is_some() {
            self.state().record.lag.record(micros(sent.saturating_duration_since(intended)));
        }
    }

    /// Takes down that a reply was judged.
    pub(super) fn checked(&self, intended: Instant) {
        if self.window_at(intended).is_some() {
            self.state().record.checked += 1;
        }
    }

    /// Takes down a session that was opened, and the time of its phases.
    pub(super) fn opened(&self, phases: &[(&str, Duration)], pid: Option<u32>) {
        let mut state = self.state();
        state.record.sessions += 1;
        state.sessions += 1;
        state.pids.extend(pid);
        for (name, time) in phases {
            state.record.phases.entry((*name).to_owned()).or_default().record(micros(*time));
        }
    }

    /// Takes down a session that could not be opened.
    pub(super) fn not_opened(&self, failed: &NotOpened) {
        let mut state = self.state();
        state.record.unopened += 1;
        let concurrent = state.sessions + 1;
        let errors = state.record.not_opened.entry(failed.phase.to_owned()).or_default();
        count(errors, failed.failure.message.clone(), concurrent);
    }

    /// Takes down that a session was closed, and forgets its process.
    pub(super) fn closed(&self, pid: Option<u32>) {
        let mut state = self.state();
        state.sessions = state.sessions.saturating_sub(1);
        if let Some(pid) = pid {
            state.pids.remove(&pid);
        }
    }

    pub(super) fn odd(&self, oddities: Vec<Finding>) {
        if oddities.is_empty() {
            return;
        }
        let mut state = self.state();
        for oddity in oddities {
            if state.oddities.len() < ODDITIES && !state.oddities.iter().any(|known| known.rule == oddity.rule) {
                state.oddities.push(oddity);
            }
        }
    }

    /// Takes down the number of active clients.
    pub(super) fn active(&self, clients: u64) {
        let Some(at) = self.window_at(Instant::now()) else { return };
        let mut state = self.state();
        let window = state.window(at);
        window.clients = window.clients.max(clients);
    }

    /// The processes of the sessions that are open.
    pub(super) fn pids(&self) -> Vec<u32> {
        self.state().pids.iter().copied().collect()
    }

    pub(super) fn used(&self, sample: UsageSample) {
        if self.window_at(Instant::now()).is_some() {
            let at_us = micros(self.time.begin.elapsed());
            self.state().record.usage.push(UsageSample { at_us, ..sample });
        }
    }

    /// The calls with replies that differ from their references.
    pub(super) fn doubtful(&self) -> Vec<usize> {
        let state = self.state();
        (0..state.doubtful.len()).filter(|call| state.doubtful[*call].errors.count > 0).collect()
    }

    /// Decides about replies that differ from the reference of a call: wrong, or of a tool that answers differently each
    /// time.
    pub(super) fn settle(&self, call: usize, is_wrong: bool) {
        let mut state = self.state();
        let doubtful = std::mem::take(&mut state.doubtful[call]);
        for (at, part) in doubtful.windows {
            let window = state.window(at);
            if is_wrong {
                window.errors += part.latency.count();
            } else {
                window.latency.merge(&part.latency);
                window.completed += part.completed;
            }
        }
        let stats = &mut state.calls[call];
        if is_wrong {
            stats.errors.insert(LoadError::WrongReply, doubtful.errors);
        } else {
            stats.latency.merge(&doubtful.latency);
            stats.service.merge(&doubtful.service);
            state.record.phases.entry("call".to_owned()).or_default().merge(&doubtful.service);
        }
    }

    /// The whole record, and what was odd about sessions. A load that was stopped is one until then.
    pub(super) fn into_record<'n>(
        self,
        names: impl Iterator<Item = &'n str>,
        stopped: Option<Instant>,
    ) -> (LoadRecord, Vec<Finding>) {
        let until_stop = stopped.map(|at| micros(at.saturating_duration_since(self.time.begin)));
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut record = state.record;
        for (name, stats) in names.zip(state.calls) {
            record.calls.entry(name.to_owned()).or_default().merge(stats);
        }
        // Calls that are answered after the end belong to the time that they took.
        let planned = if self.time.is_open_ended { self.time.begin } else { self.time.end };
        let end = state.last.map_or(planned, |last| last.max(planned));
        record.measured_us = micros(end - self.time.begin);
        if let Some(us) = until_stop.filter(|us| *us < record.measured_us) {
            record.measured_us = us;
            let windows = us.div_ceil(micros(self.time.window).max(1));
            record.windows.truncate(usize::try_from(windows).unwrap_or(usize::MAX));
        }
        record.interrupted = stopped.is_some();
        (record, state.oddities)
    }
}

fn count(errors: &mut ErrorStats, example: String, concurrent: u64) {
    if errors.count == 0 {
        *errors = ErrorStats { count: 0, example, concurrent };
    }
    errors.count += 1;
    errors.concurrent = errors.concurrent.min(concurrent);
}
