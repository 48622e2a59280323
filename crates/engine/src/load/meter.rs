//! The numbers of a load while it runs, for the line that people watch.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mcprove_model::LatencyHistogram;
use tokio::time::Instant;

/// The seconds that are remembered.
const REMEMBERED: usize = 30;
/// The time in which calls may overtake each other.
const OVERTAKES: Duration = Duration::from_millis(1);
/// The milliseconds for which the number of open calls is remembered: ten minutes.
const PEAKS: usize = 600_000;

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
    /// The first moment that is known.
    epoch: Option<Instant>,
    /// The most calls that were open in each millisecond in which one was sent.
    peaks: VecDeque<(u64, u64)>,
}

impl OpenCalls {
    fn millisecond(&self, at: Instant) -> u64 {
        let since = self.epoch.map_or(Duration::ZERO, |epoch| at.saturating_duration_since(epoch));
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
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
    /// Counts a call that is sent; the number of calls that are open now, itself included.
    pub(super) fn started(&self, at: Instant) -> u64 {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.count += 1;
        open.epoch.get_or_insert(at);
        let (count, now) = (open.count, open.millisecond(at));
        match open.peaks.back_mut() {
            // A thread may be a little late.
            Some((last, peak)) if *last >= now => *peak = count.max(*peak),
            Some(_) | None => open.peaks.push_back((now, count)),
        }
        if open.peaks.len() > PEAKS {
            open.peaks.pop_front();
        }
        count
    }

    /// The number of calls that were open when a call was sent, by the number that was counted then. Calls that are sent a little
    /// later may overtake it on their way to the server, and are open while the server works on it: those that are sent within
    /// the usual time of a reply count as well.
    pub(super) fn concurrent(&self, sent: Instant, counted: u64, usual: Duration) -> u64 {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let then = open.millisecond(sent);
        let until = open.millisecond(sent + usual.max(OVERTAKES));
        let begin = open.peaks.partition_point(|(at, _)| *at < then);
        let peaks = open.peaks.range(begin..).take_while(|(at, _)| *at <= until).map(|(_, peak)| *peak);
        peaks.max().unwrap_or(0).max(counted)
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
    fn a_call_knows_how_many_were_open_when_it_was_sent() {
        let meter = LoadMeter::default();
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let sent: Vec<u64> = [0, 10, 20, 20, 21].map(|ms| meter.started(at(ms))).into();
        assert_eq!(sent, [1, 2, 3, 4, 5]);
        // Those of one burst may arrive in any order; what is sent later does not count.
        let concurrent: Vec<u64> = sent
            .iter()
            .zip([0, 10, 20, 20, 21])
            .map(|(count, ms)| meter.concurrent(at(ms), *count, Duration::ZERO))
            .collect();
        assert_eq!(concurrent, [1, 2, 5, 5, 5]);
        let within = |ms: u64| meter.concurrent(at(10), 2, Duration::from_millis(ms));
        assert_eq!((within(10), within(11)), (4, 5));
        meter.ended(None);
        meter.ended(Some(1));
        let last = meter.started(at(500));
        assert_eq!(
            (last, meter.concurrent(at(500), last, Duration::ZERO), meter.concurrent(at(10), 2, Duration::ZERO)),
            (4, 4, 2)
        );
    }

    #[test]
    fn the_rate_is_per_second_however_long_a_turn_took() {
        let meter = LoadMeter::default();
        for took in [1_000, 1_250, 2_000] {
            for _ in 0..100 {
                meter.started(Instant::now());
                meter.ended(Some(1_000));
            }
            meter.rotate(Duration::from_millis(took));
        }
        assert_eq!(meter.progress().expect("calls").history, [100, 80, 50]);
    }
}
