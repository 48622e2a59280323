//! The numbers of a load while it runs, for the line that people watch.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mcprove_model::LatencyHistogram;

/// The seconds that are remembered.
const REMEMBERED: usize = 30;

/// The numbers of a load while it runs.
#[derive(Debug, Default)]
pub struct LoadMeter {
    answered: AtomicU64,
    failed: AtomicU64,
    open: Mutex<OpenCalls>,
    recent: Mutex<Recent>,
}

/// The calls that wait for their reply.
#[derive(Debug, Default)]
struct OpenCalls {
    count: u64,
    /// Number of calls that were started.
    started: u64,
    /// Starts after which no later one found as many open calls: the number of the start, and the calls then. The first with
    /// at least a given number has the most calls since that start.
    peaks: VecDeque<(u64, u64)>,
}

#[derive(Debug, Default)]
struct Recent {
    current: Option<LatencyHistogram>,
    last: Option<LatencyHistogram>,
    /// Calls answered per second, of about the last seconds.
    history: VecDeque<u64>,
}

/// A moment of a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadProgress {
    /// Calls that were answered well so far.
    pub answered: u64,
    /// Calls that failed so far.
    pub failed: u64,
    /// Calls that wait for their reply.
    pub open: u64,
    /// The median latency of the last second, in microseconds.
    pub p50_us: u64,
    /// The 99th percentile of the last second.
    pub p99_us: u64,
    /// Calls answered per second, of about the last seconds.
    pub history: Vec<u64>,
}

impl LoadMeter {
    /// Counts a call that starts; its number.
    pub(super) fn started(&self) -> u64 {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.count += 1;
        open.started += 1;
        let (number, count) = (open.started, open.count);
        while open.peaks.back().is_some_and(|(_, earlier)| *earlier <= count) {
            open.peaks.pop_back();
        }
        open.peaks.push_back((number, count));
        number
    }

    /// The most calls that were open at the same time as the one with this number, which is still open.
    pub(super) fn concurrent(&self, number: u64) -> u64 {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.peaks.partition_point(|(start, _)| *start < number);
        open.peaks.get(at).map_or(open.count, |(_, count)| *count)
    }

    pub(super) fn ended(&self, latency_us: Option<u64>) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).count -= 1;
        let Some(us) = latency_us else {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        self.answered.fetch_add(1, Ordering::Relaxed);
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.current.get_or_insert_with(|| LatencyHistogram::with_digits(LatencyHistogram::COARSE)).record(us);
    }

    /// Calls that were answered so far.
    pub(super) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// About a second is over.
    pub(super) fn rotate(&self, took: Duration) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let current = recent.current.take();
        let answered = current.as_ref().map_or(0, LatencyHistogram::count);
        // The ticks of a timeline do not meet whole seconds.
        recent.history.push_back(answered.saturating_mul(1_000_000) / super::micros(took).max(1));
        if recent.history.len() > REMEMBERED {
            recent.history.pop_front();
        }
        recent.last = current;
    }

    /// The numbers of this moment; `None` before the first call.
    pub fn progress(&self) -> Option<LoadProgress> {
        let (answered, failed) = (self.answered(), self.failed.load(Ordering::Relaxed));
        if answered + failed == 0 {
            return None;
        }
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let latency = recent.last.as_ref().or(recent.current.as_ref());
        let quantile = |share: f64| latency.map_or(0, |latency| latency.quantile(share));
        Some(LoadProgress {
            answered,
            failed,
            open: self.open.lock().unwrap_or_else(PoisonError::into_inner).count,
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            history: recent.history.iter().copied().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_knows_the_most_calls_that_were_open_while_it_was() {
        let meter = LoadMeter::default();
        let first = meter.started();
        assert_eq!(meter.concurrent(first), 1);
        let others = [meter.started(), meter.started()];
        assert_eq!((meter.concurrent(first), meter.concurrent(others[1])), (3, 3));
        meter.ended(None);
        meter.ended(None);
        let last = meter.started();
        // The first was open with both others, the last only with the first.
        assert_eq!((meter.concurrent(first), meter.concurrent(last)), (3, 2));
    }

    #[test]
    fn the_rate_is_per_second_however_long_a_turn_took() {
        let meter = LoadMeter::default();
        for took in [1_000, 1_250, 2_000] {
            for _ in 0..100 {
                meter.started();
                meter.ended(Some(1_000));
            }
            meter.rotate(Duration::from_millis(took));
        }
        assert_eq!(meter.progress().expect("calls").history, [100, 80, 50]);
    }
}
