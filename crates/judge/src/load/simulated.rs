//! A simulated server on a simulated machine, for tests of the search: both have a time of their own.

use mcprove_model::{CallStats, LoadPlan, LoadRecord, LoadWindow};

use super::gate::Gate;
use super::limit::why_not_held;
use super::limit_search::{LimitSearch, Tried};

/// A server with a known capacity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Server {
    /// Calls per second.
    pub(super) capacity: f64,
    /// Calls that are worked on at the same time.
    pub(super) workers: usize,
    /// The time that a reply is on its way, in seconds; it costs no capacity.
    pub(super) distance: f64,
    /// Work of a call differs from the mean by up to this share of it.
    pub(super) jitter: f64,
}

/// The influence of a machine on the capacity of its servers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// The capacity of a try differs by up to this share: the soft threshold.
    pub(super) tries: f64,
    /// The share by which it drifts over minutes, and the period in seconds.
    pub(super) drift: (f64, f64),
    /// The mean time between phases of one to two seconds in which 60 % of it are left; infinite for none.
    pub(super) slow_every: f64,
    /// One try in so many has a stall of half a second.
    pub(super) stalls: u64,
}

impl Noise {
    pub(super) const NONE: Self = Self { tries: 0.0, drift: (0.0, 1.0), slow_every: f64::INFINITY, stalls: u64::MAX };
}

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from -1 to 1.
    fn around_zero(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * f64::midpoint(self.around_zero(), 1.0)
    }
}

const WARM_UP: f64 = 1.0;
const LENGTH: f64 = 3.0;
const WINDOWS: usize = 30;
/// The capacity is looked up this often, in seconds.
const LOOK: f64 = 0.02;

pub(super) fn default_gates() -> Vec<Gate> {
    ["p99 < 1s", "errors < 1%"].iter().map(|gate| Gate::parse(gate).expect("valid")).collect()
}

/// A machine that runs a server: time goes on from one load to the next.
pub(super) struct Machine {
    server: Server,
    noise: Noise,
    random: Random,
    now: f64,
    /// The last slow phases.
    slow: Vec<(f64, f64)>,
    /// The position of the drift at the beginning, in periods.
    position: f64,
}

impl Machine {
    pub(super) fn new(server: Server, noise: Noise, mut random: Random) -> Self {
        let position = random.between(0.0, 1.0);
        Self { server, noise, random, now: 0.0, slow: Vec::new(), position }
    }

    pub(super) fn quiet(server: Server) -> Self {
        Self::new(server, Noise::NONE, Random(1))
    }

    /// The share of the capacity that is there at a moment.
    fn share_at(&mut self, at: f64) -> f64 {
        while self.noise.slow_every.is_finite() && self.slow.last().is_none_or(|(_, end)| *end < at + 1.0) {
            let last = self.slow.last().map_or(0.0, |(_, end)| *end);
            let begin = last - self.random.between(0.0, 1.0).max(1e-9).ln() * self.noise.slow_every;
            let end = begin + self.random.between(1.0, 2.0);
            self.slow.push((begin, end));
        }
        let (amount, period) = self.noise.drift;
        let angle = std::f64::consts::TAU * (at / period + self.position);
        let drift = 1.0 + amount * (0.7 * angle.sin() + 0.3 * (2.3 * angle + 1.0).sin());
        let is_slow = self.slow.iter().rev().take(8).any(|(begin, end)| (*begin..*end).contains(&at));
        if is_slow { drift * 0.6 } else { drift }
    }

    /// The load at a rate.
    pub(super) fn load(&mut self, rate: f64) -> LoadRecord {
        let Server { capacity, workers, distance, jitter } = self.server;
        let work = workers as f64 / (capacity * (1.0 + self.noise.tries * self.random.around_zero()));
        let has_stall = self.random.next().is_multiple_of(self.noise.stalls);
        let stall = has_stall.then(|| self.random.between(0.5, 3.5));
        let mut free = vec![0.0_f64; workers];
        let mut windows = vec![LoadWindow::default(); WINDOWS];
        let mut stats = CallStats::default();
        let (mut looked, mut share, mut end) = (f64::NEG_INFINITY, 1.0, WARM_UP + LENGTH);
        for number in 0..((WARM_UP + LENGTH) * rate) as u64 {
            let due = number as f64 / rate;
            let worker = free.iter_mut().min_by(|one, other| one.total_cmp(other)).expect("a worker");
            let mut begin = worker.max(due);
            if let Some(stall) = stall.filter(|stall| (*stall..stall + 0.5).contains(&begin)) {
                begin = stall + 0.5;
            }
            if begin - looked > LOOK {
                (looked, share) = (begin, self.share_at(self.now + begin));
            }
            let takes = work / share * (1.0 + jitter * self.random.around_zero());
            *worker = begin + takes;
            end = end.max(*worker + distance);
            if due >= WARM_UP {
                let us = ((*worker + distance - due) * 1e6) as u64;
                let at = ((due - WARM_UP) / LENGTH * WINDOWS as f64) as usize;
                windows[at.min(WINDOWS - 1)].latency.record(us);
                stats.latency.record(us);
                stats.service.record(((takes + distance) * 1e6) as u64);
            }
        }
        self.now += end;
        LoadRecord {
            plan: LoadPlan { window_us: (LENGTH * 1e6) as u64 / WINDOWS as u64, ..LoadPlan::default() },
            calls: [("echo".to_owned(), stats)].into(),
            windows,
            measured_us: ((end - WARM_UP) * 1e6) as u64,
            ..LoadRecord::default()
        }
    }

    /// A search with a load per rate.
    pub(super) fn search(&mut self, gates: &[Gate]) -> LimitSearch {
        let mut search = LimitSearch::new(10.0);
        while let Some(rate) = search.next_rate() {
            let load = self.load(rate);
            search.observe(&Tried::of(&load, why_not_held(&load, rate, gates).is_none()));
        }
        search
    }
}
