//! The highest rate that a server holds: the rule for one rate, and the search.
//!
//! A rate is held where every gate is kept, nearly all calls are answered well, and calls do not wait ever longer. The last
//! shows overload: a server that answers 100 calls per second and gets 105 keeps a tight latency for seconds, while
//! its queue grows without end. How slow the server is does not matter for it.

use mcprove_model::{LatencyHistogram, LoadRecord, LoadWindow, duration_text, number_text};

use super::gate::{Gate, GateResult};

/// The share of calls that must be answered well, whatever the gates say.
const ANSWERED: f64 = 0.95;
/// The growth of the wait, in seconds per second, from which on a queue grows. The server answers 1 ÷ (1 + growth) of the rate.
const GROWS: f64 = 0.02;
/// Fewer calls at either end of the measurement show no growth.
const FEWEST: u64 = 5;
/// Delay of mcprove itself, in microseconds, that is reported with a rate that was not held.
const LATE: u64 = 5_000;

/// The reason why a rate was not held in a load at this rate; `None` if it was held.
pub fn why_not_held(load: &LoadRecord, rate: f64, gates: &[Gate]) -> Option<String> {
    let broken = gates.iter().find_map(|gate| match gate.judge(load) {
        GateResult::Broken(value) => Some(format!("{gate} is broken: {value}")),
        GateResult::Unknown(why) => Some(format!("{gate}: {why}")),
        GateResult::Kept(_) => None,
    });
    let why = broken.or_else(|| unanswered(load)).or_else(|| growing_queue(load, rate))?;
    let late = load.lag.quantile(0.99);
    Some(if late < LATE { why } else { format!("{why} (own delay of mcprove: p99 {})", micros(late)) })
}

fn unanswered(load: &LoadRecord) -> Option<String> {
    let (well, total) = (load.answered(), load.total());
    (mcprove_model::share(well, total) < ANSWERED).then(|| format!("{well} of {total} calls were answered well"))
}

/// The calls of the last third of the measurement wait longer than those of the first, beyond what calls differ by anyway: all
/// but the quickest quarter of the one, and all but the slowest quarter of the other. A queue that a stall has left behind falls
/// in the last third, and one of overload goes on to grow.
fn growing_queue(load: &LoadRecord, rate: f64) -> Option<String> {
    let third = load.windows.len() / 3;
    let of = |windows: &[LoadWindow]| {
        let mut all = LatencyHistogram::with_digits(LatencyHistogram::COARSE);
        for window in windows {
            all.merge(&window.latency);
        }
        (all.count() >= FEWEST).then_some(all)
    };
    let late = load.windows.len() - third;
    let (first, last) = (of(&load.windows[..third])?, of(&load.windows[late..])?);
    let middle = of(&load.windows[third..late])?;
    // Where waits grow evenly, these are the waits after a quarter and after three quarters of the time.
    let (before, after) = (first.quantile(0.75), last.quantile(0.25));
    #[expect(clippy::cast_precision_loss, reason = "a load is shorter than 2^52 µs")]
    let time = load.plan.window_us as f64 * load.windows.len() as f64 / 2.0;
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 µs")]
    let growth = after.saturating_sub(before) as f64 / time;
    let goes_on = last.quantile(0.5) > middle.quantile(0.5);
    (growth > GROWS && goes_on).then(|| {
        let answered = number_text(rate / (1.0 + growth));
        format!(
            "the queue grows: about {answered}/s are answered, and waits rise from {} to {}",
            micros(before),
            micros(after)
        )
    })
}

#[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 µs")]
fn micros(us: u64) -> String {
    duration_text(us as f64)
}

/// A search for the highest rate that is held: the rate doubles until it breaks, then the gap is halved. The majority of three
/// tries decides, because a busy moment of the machine is not the limit of the server, and a lucky one is not, either; only while
/// the rate doubles, a first try that is held is enough.
#[derive(Clone, Debug)]
pub struct LimitSearch {
    held: Option<f64>,
    broken: Option<f64>,
    next: f64,
    /// Tries of the next rate that were held, and that were not.
    votes: (u32, u32),
    tries: u32,
}

/// The gap between the highest rate held and the lowest broken at which the search ends.
const PRECISION: f64 = 1.05;
/// Maximum number of tries.
const TRIES: u32 = 60;
/// Rates beyond this are not tried.
const HIGHEST: f64 = 1e6;

impl LimitSearch {
    /// A search that begins at a rate.
    pub fn new(first: f64) -> Self {
        Self { held: None, broken: None, next: first.clamp(0.1, HIGHEST), votes: (0, 0), tries: 0 }
    }

    /// The rate to try next; `None` when the limit is known.
    pub fn next_rate(&self) -> Option<f64> {
        let is_close = |held: f64, broken: f64| broken / held <= PRECISION;
        let is_over = match (self.held, self.broken) {
            (Some(held), Some(broken)) => is_close(held, broken),
            (Some(held), None) => held >= HIGHEST,
            // A server that holds nothing at all is not searched for ever.
            (None, Some(broken)) => broken <= 0.1,
            (None, None) => false,
        };
        (!is_over && self.tries < TRIES).then_some(self.next)
    }

    /// Takes the result of the rate that was tried; true once it is known whether the rate is held.
    pub fn observe(&mut self, is_held: bool) -> bool {
        self.tries += 1;
        if is_held {
            self.votes.0 += 1;
        } else {
            self.votes.1 += 1;
        }
        match self.votes {
            (1, 0) if self.broken.is_none() => self.decide(true),
            (2.., _) => self.decide(true),
            (_, 2..) => self.decide(false),
            (_, _) => return false,
        }
        true
    }

    fn decide(&mut self, is_held: bool) {
        let tried = self.next;
        self.votes = (0, 0);
        if is_held {
            self.held = Some(self.held.map_or(tried, |held| held.max(tried)));
        } else {
            self.broken = Some(self.broken.map_or(tried, |broken| broken.min(tried)));
        }
        self.next = match (self.held, self.broken) {
            (Some(held), Some(broken)) => (held * broken).sqrt(),
            (Some(held), None) => (held * 2.0).min(HIGHEST),
            (None, Some(broken)) => (broken / 4.0).max(0.1),
            (None, None) => tried,
        };
    }

    /// The highest rate held so far.
    pub fn held(&self) -> Option<f64> {
        self.held
    }
}

#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times and numbers of a model are small"
)]
mod tests {
    use mcprove_model::{CallStats, LoadPlan};
    use proptest::prelude::*;

    use super::*;

    fn search(first: f64, limit: f64) -> (Option<f64>, u32) {
        let mut search = LimitSearch::new(first);
        while let Some(rate) = search.next_rate() {
            search.observe(rate <= limit);
        }
        (search.held(), search.tries)
    }

    #[test]
    fn a_server_that_holds_nothing_has_no_limit() {
        assert_eq!(search(10.0, 0.0).0, None);
        assert!(search(10.0, f64::INFINITY).0.is_some_and(|held| held >= HIGHEST));
    }

    #[test]
    fn the_majority_of_three_tries_decides() {
        for (tries, expected) in [
            (&[true][..], Some(20.0)),
            (&[false, true, true], Some(20.0)),
            (&[false, false], Some(2.5)),
            (&[false, true, false], Some(2.5)),
        ] {
            let mut search = LimitSearch::new(10.0);
            for (at, is_held) in tries.iter().enumerate() {
                assert_eq!(search.next_rate(), Some(10.0));
                assert_eq!(search.observe(*is_held), at + 1 == tries.len());
            }
            assert_eq!(search.next_rate(), expected, "{tries:?}");
        }
    }

    #[test]
    fn near_the_limit_a_lucky_try_is_not_enough() {
        let mut search = LimitSearch::new(10.0);
        assert!(search.observe(true) && !search.observe(false) && search.observe(false));
        let between = search.next_rate().expect("a gap");
        assert!(between > 10.0 && between < 20.0 && !search.observe(true), "{between}");
        assert_eq!(search.next_rate(), Some(between));
        assert!(!search.observe(false) && search.observe(true) && search.held() == Some(between));
    }

    /// A server with a known capacity, in calls per second, in a time of its own.
    #[derive(Clone, Copy, Debug)]
    struct Model {
        capacity: f64,
        /// Calls that are worked on at the same time.
        workers: usize,
        /// The time that a reply is on its way, in seconds; it costs no capacity.
        distance: f64,
        /// Work of a call differs from the mean by up to this share of it.
        jitter: f64,
        /// The capacity of a try differs by up to this share: the machine.
        noise: f64,
        /// One try in so many has a stall of half a second.
        stalls: u64,
    }

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        }

        /// A number from -1 to 1.
        fn around_zero(&mut self) -> f64 {
            (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    const WARM_UP: f64 = 1.0;
    const LENGTH: f64 = 3.0;
    const WINDOWS: usize = 30;

    impl Model {
        /// The load at a rate.
        fn load(&self, rate: f64, random: &mut Random) -> LoadRecord {
            let work = self.workers as f64 / (self.capacity * (1.0 + self.noise * random.around_zero()));
            let stall =
                random.next().is_multiple_of(self.stalls).then(|| 0.5 + 3.0 * (random.around_zero() + 1.0) / 2.0);
            let mut free = vec![0.0_f64; self.workers];
            let mut windows = vec![LoadWindow::default(); WINDOWS];
            let mut stats = CallStats::default();
            for number in 0..((WARM_UP + LENGTH) * rate) as u64 {
                let due = number as f64 / rate;
                let worker = free.iter_mut().min_by(|one, other| one.total_cmp(other)).expect("a worker");
                let mut begin = worker.max(due);
                if let Some(stall) = stall.filter(|stall| (*stall..stall + 0.5).contains(&begin)) {
                    begin = stall + 0.5;
                }
                *worker = begin + work * (1.0 + self.jitter * random.around_zero());
                if due >= WARM_UP {
                    let us = ((*worker + self.distance - due) * 1e6) as u64;
                    let at = ((due - WARM_UP) / LENGTH * WINDOWS as f64) as usize;
                    windows[at.min(WINDOWS - 1)].latency.record(us);
                    stats.latency.record(us);
                }
            }
            LoadRecord {
                plan: LoadPlan { window_us: (LENGTH * 1e6) as u64 / WINDOWS as u64, ..LoadPlan::default() },
                calls: [("echo".to_owned(), stats)].into(),
                windows,
                measured_us: (LENGTH * 1e6) as u64,
                ..LoadRecord::default()
            }
        }

        fn limit(&self, gates: &[Gate], random: &mut Random) -> f64 {
            let mut search = LimitSearch::new(10.0);
            while let Some(rate) = search.next_rate() {
                let load = self.load(rate, random);
                search.observe(why_not_held(&load, rate, gates).is_none());
            }
            search.held().unwrap_or(0.0)
        }
    }

    fn default_gates() -> Vec<Gate> {
        ["p99 < 1s", "errors < 1%"].iter().map(|gate| Gate::parse(gate).expect("valid")).collect()
    }

    #[test]
    fn a_slow_server_holds_what_it_answers() {
        // Every call takes 0.4 s, and any number of them at a time: nothing waits.
        let slow = Model { capacity: 1e5, workers: 40_000, distance: 0.4, jitter: 0.0, noise: 0.0, stalls: u64::MAX };
        for rate in [10.0, 100.0] {
            assert_eq!(why_not_held(&slow.load(rate, &mut Random(1)), rate, &default_gates()), None, "{rate}");
        }
    }

    #[test]
    fn a_queue_that_grows_is_no_rate_held() {
        let model = Model { capacity: 100.0, workers: 1, distance: 0.0, jitter: 0.3, noise: 0.0, stalls: u64::MAX };
        assert_eq!(why_not_held(&model.load(98.0, &mut Random(1)), 98.0, &default_gates()), None);
        let why = why_not_held(&model.load(106.0, &mut Random(1)), 106.0, &default_gates()).expect("not held");
        assert!(why.starts_with("the queue grows: about 10"), "{why}");
    }

    #[test]
    fn calls_that_fail_are_not_answered_whatever_the_gates_say() {
        let model = Model { capacity: 1e3, workers: 1, distance: 0.0, jitter: 0.0, noise: 0.0, stalls: u64::MAX };
        let mut load = model.load(100.0, &mut Random(1));
        load.dropped = 30;
        let gates = [Gate::parse("p99 < 1s").expect("valid")];
        assert_eq!(why_not_held(&load, 100.0, &gates).as_deref(), Some("300 of 330 calls were answered well"));
        load.lag.record(20_000);
        let why = why_not_held(&load, 100.0, &gates).expect("not held");
        assert!(why.ends_with("(own delay of mcprove: p99 20.0 ms)"), "{why}");
    }

    proptest! {
        #[test]
        fn the_limit_is_found_within_five_percent(first in 1.0f64..1000.0, limit in 0.5f64..100_000.0) {
            let (held, tries) = search(first, limit);
            let held = held.expect("held");
            prop_assert!(held <= limit && held * PRECISION >= limit, "{} of {}", held, limit);
            prop_assert!(tries <= TRIES);
        }
    }

    #[test]
    fn the_capacity_of_a_server_is_found_and_found_again() {
        for seed in 0..48 {
            let mut random = Random(seed);
            let mut between = |low: f64, high: f64| low + (high - low) * f64::midpoint(random.around_zero(), 1.0);
            let model = Model {
                capacity: between(60.0, 1500.0),
                workers: between(1.0, 5.0) as usize,
                distance: between(0.0, 0.2),
                jitter: between(0.0, 1.0),
                noise: between(0.0, 0.03),
                stalls: 8,
            };
            let found = [model.limit(&default_gates(), &mut random), model.limit(&default_gates(), &mut random)];
            for found in found {
                assert!((0.88..1.12).contains(&(found / model.capacity)), "{seed}: {found} of {model:?}");
            }
            let apart = (found[0] - found[1]).abs() / found[0].max(found[1]);
            assert!(apart <= 0.15, "{seed}: {found:?}");
        }
    }
}
