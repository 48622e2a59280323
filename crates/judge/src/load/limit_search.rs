//! The search for the highest rate that a server holds.
//!
//! A limit is no sharp edge: near it, the same rate is held at one time and not at the next, and a busy moment of the machine breaks
//! a rate far below it. So no try decides anything for good. The rate rises until it breaks; from then on, every try is evidence
//! for where the limit is, and the next rate is the one that half of this evidence puts the limit above. The result is the
//! highest rate tried that was held at least every second time, where rates that contradict each other are taken together.

use std::time::Duration;

use mcprove_model::{LatencyHistogram, LoadRecord};

/// Rates below and beyond these are not tried.
const LOWEST: f64 = 0.1;
const HIGHEST: f64 = 1e6;
/// A rate rises to at most this many times itself,
const JUMP: f64 = 16.0;
/// and if more than doubled, to one at which a server with one worker is idle more than half of the time.
const IDLE: f64 = 0.4;
/// A server that answers less than this share of the calls per second that arrive is overloaded.
const OVERLOADED: f64 = 0.9;
/// The natural logarithm of the ratio of neighbouring rates near the limit.
const LEVEL: f64 = 0.03;
/// Tries near the limit: the search ends after the first number if the limit is known to within `KNOWN`, and after the second.
const FEWEST: usize = 8;
const MOST: usize = 12;
/// After so many tries near the limit that were all held, the rate doubles again: what broke it before was not the limit.
const DOUBTS: usize = 5;
/// Tries near the limit that are left at least when it does.
const LEFT: usize = 6;
/// Standard deviation of the logarithm of the limit, below which it is known.
const KNOWN: f64 = 0.02;
/// Maximum number of tries of the whole search.
const TRIES: usize = 40;
/// The scales of the logistic function, by which the probability that a rate is held falls around the limit; all
/// equally likely.
const SOFTNESS: [f64; 3] = [0.04, 0.08, 0.15];
/// The probability that a try far below the limit is not held, and that one far above it is.
const LAPSE: f64 = 0.1;
/// Resolution and reach of the logarithm of the limit around its first estimate.
const RESOLUTION: f64 = 0.01;
const REACH: f64 = 2.0;
/// The scale by which the limit may differ from its first estimate. The estimate is what an overloaded server answers per second.
const PRIOR: f64 = 0.3;
/// A try contradicts a result from which its rate differs by more than this factor,
const CONTRADICTS: f64 = 1.08;
/// and so many of them are no chance.
const CONTRADICTIONS: usize = 3;

/// The result of a try.
#[derive(Clone, Copy, Debug)]
pub struct Tried {
    /// True if the rate was held.
    pub is_held: bool,
    /// Calls per second that were answered well.
    pub answered: f64,
    /// The median time from the sending of a call to its reply.
    pub service: Duration,
}

impl Tried {
    /// The result of a load.
    pub fn of(load: &LoadRecord, is_held: bool) -> Self {
        let mut service = LatencyHistogram::default();
        load.calls.values().for_each(|stats| service.merge(&stats.service));
        Self { is_held, answered: load.throughput(), service: Duration::from_micros(service.quantile(0.5)) }
    }
}

/// A search for the highest rate that is held.
#[derive(Clone, Debug)]
pub struct LimitSearch {
    next: Option<f64>,
    /// The rates that were tried, in order, and if they were held.
    tries: Vec<(f64, bool)>,
    /// True if the next try is the second of a rate that was not held the first time, without overload.
    is_second: bool,
    /// The lowest rate that broke before the limit was between two rates.
    broken: Option<f64>,
    /// The limit is between two rates.
    near: Option<Near>,
    /// Number of tries near an earlier limit that was none.
    spent: usize,
}

#[derive(Clone, Copy, Debug)]
struct Near {
    /// The natural logarithm of the first estimate.
    centre: f64,
    /// The scale by which the limit may differ from it.
    scale: f64,
    /// Number of tries before.
    before: usize,
}

impl LimitSearch {
    /// A search that begins at a rate.
    pub fn new(first: f64) -> Self {
        let next = Some(first.clamp(LOWEST, HIGHEST));
        Self { next, tries: Vec::new(), is_second: false, broken: None, near: None, spent: 0 }
    }

    /// The rate to try next; `None` when the search is over.
    pub fn next_rate(&self) -> Option<f64> {
        self.next
    }

    /// Takes the result of the rate that was tried.
    pub fn observe(&mut self, tried: &Tried) {
        let Some(rate) = self.next else { return };
        self.tries.push((rate, tried.is_held));
        self.next = if self.near.is_some() { self.next_near(rate) } else { self.next_far(rate, tried) };
        if self.tries.len() >= TRIES {
            self.next = None;
        }
    }

    /// The next rate while the limit is not between two rates.
    fn next_far(&mut self, rate: f64, tried: &Tried) -> Option<f64> {
        let is_overloaded = !tried.is_held && tried.answered < rate * OVERLOADED;
        if !tried.is_held && !is_overloaded && !self.is_second {
            // A busy moment of the machine may break any rate.
            self.is_second = true;
            return Some(rate);
        }
        self.is_second = false;
        if !tried.is_held {
            self.broken = Some(rate);
        }
        let held = self.tries.iter().filter(|(_, is_held)| *is_held).map(|(held, _)| *held).reduce(f64::max);
        match (held, self.broken) {
            (Some(held), Some(broken)) => {
                let answers = is_overloaded && (held..broken).contains(&tried.answered);
                let gap = (broken / held).max(1.0).ln();
                let (centre, scale) =
                    if answers { (tried.answered.ln(), PRIOR) } else { (held.ln() + gap / 2.0, PRIOR.max(gap / 2.0)) };
                self.near = Some(Near { centre, scale, before: self.tries.len() });
                self.next_near(rate)
            }
            (Some(_), None) => {
                let idle = IDLE / tried.service.as_secs_f64().max(1e-9);
                let next = rounded(idle.clamp(rate * 2.0, rate * JUMP)).min(HIGHEST);
                (rate < HIGHEST).then_some(next)
            }
            (None, _) => {
                let answered = if is_overloaded && tried.answered > 0.0 { tried.answered * 0.8 } else { rate / 4.0 };
                // A server that holds nothing at all is not searched for ever.
                (rate > LOWEST).then_some(rounded(answered.clamp(rate / 16.0, rate / 2.0)).max(LOWEST))
            }
        }
    }

    /// The next rate near the limit: the median of where the limit may be.
    fn next_near(&mut self, rate: f64) -> Option<f64> {
        let near = self.near?;
        let tries = &self.tries[near.before..];
        if tries.len() >= DOUBTS && tries[tries.len() - DOUBTS..].iter().all(|(_, is_held)| *is_held) {
            self.spent = (self.spent + tries.len()).min(MOST - LEFT);
            (self.near, self.broken) = (None, None);
            return Some(rounded(rate * 2.0).min(HIGHEST));
        }
        let [low, median, high] = near.limit(&self.tries, [0.16, 0.5, 0.84]);
        let is_known = tries.len() >= FEWEST && (high - low) / 2.0 < KNOWN;
        let level = rounded(((median / LEVEL).round() * LEVEL).exp());
        (!is_known && self.spent + tries.len() < MOST).then_some(level.clamp(LOWEST, HIGHEST))
    }

    /// The highest rate so far that was held at least every second time. Rates that were held more often than a lower one are taken
    /// together with it.
    pub fn held(&self) -> Option<f64> {
        let mut tries = self.tries.clone();
        tries.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut pools: Vec<Pool> = Vec::new();
        for (rate, is_held) in tries {
            let one = Pool { highest: rate, highest_held: is_held.then_some(rate), held: u32::from(is_held), tries: 1 };
            match pools.last_mut() {
                Some(last) if last.highest >= rate => last.add(&one),
                Some(_) | None => pools.push(one),
            }
        }
        let mut falling: Vec<Pool> = Vec::new();
        for mut pool in pools {
            while let Some(before) = falling.pop_if(|before| before.share() <= pool.share()) {
                pool = {
                    let mut both = before;
                    both.add(&pool);
                    both
                };
            }
            falling.push(pool);
        }
        falling.iter().rev().filter(|pool| pool.held * 2 >= pool.tries).find_map(|pool| pool.highest_held)
    }

    /// The rates between which tries contradict each other, where more of them do than chance explains: the machine or the server
    /// has changed during the search.
    pub fn range(&self) -> Option<(f64, f64)> {
        let held = self.held()?;
        let contradicting = self
            .tries
            .iter()
            .filter(|(rate, is_held)| if *is_held { *rate > held * CONTRADICTS } else { *rate < held / CONTRADICTS });
        let rates: Vec<f64> = contradicting.map(|(rate, _)| *rate).collect();
        let (low, high) = rates.iter().fold((held, held), |(low, high), rate| (low.min(*rate), high.max(*rate)));
        (rates.len() >= CONTRADICTIONS).then_some((low, high))
    }
}

impl Near {
    /// The natural logarithm of the limit below which it is with some probabilities, by all tries.
    fn limit<const N: usize>(&self, tries: &[(f64, bool)], shares: [f64; N]) -> [f64; N] {
        let reach = REACH.max(self.scale * 4.0);
        let limits: Vec<f64> = std::iter::successors(Some(-reach), |offset| Some(offset + RESOLUTION))
            .take_while(|offset| *offset <= reach)
            .map(|offset| self.centre + offset)
            .collect();
        let likelihood = |limit: f64, softness: f64| {
            let prior = -((limit - self.centre) / self.scale).abs();
            let of_try = |(rate, is_held): &(f64, bool)| {
                let below = 1.0 / (1.0 + (-(limit - rate.ln()) / softness).exp());
                let held = LAPSE + (1.0 - 2.0 * LAPSE) * below;
                if *is_held { held.ln() } else { (1.0 - held).ln() }
            };
            (prior + tries.iter().map(of_try).sum::<f64>()).exp()
        };
        // Not more than forty factors, none of which is below a tenth: nothing vanishes.
        let weights: Vec<f64> =
            limits.iter().map(|limit| SOFTNESS.iter().map(|softness| likelihood(*limit, *softness)).sum()).collect();
        let total: f64 = weights.iter().sum();
        shares.map(|share| {
            let mut left = share * total;
            let found = limits.iter().zip(&weights).find(|(_, weight)| {
                left -= **weight;
                left <= 0.0
            });
            found.map_or(self.centre, |(limit, _)| *limit)
        })
    }
}

/// Tries of neighbouring rates.
#[derive(Clone, Copy, Debug)]
struct Pool {
    highest: f64,
    highest_held: Option<f64>,
    held: u32,
    tries: u32,
}

impl Pool {
    /// Adds the tries of higher rates, or of the same.
    fn add(&mut self, higher: &Self) {
        self.highest = higher.highest;
        self.highest_held = higher.highest_held.or(self.highest_held);
        self.held += higher.held;
        self.tries += higher.tries;
    }

    fn share(&self) -> f64 {
        f64::from(self.held) / f64::from(self.tries)
    }
}

/// A rate with three significant digits.
fn rounded(rate: f64) -> f64 {
    let unit = 10f64.powf(rate.log10().floor() - 2.0);
    (rate / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::simulated::{Machine, Noise, Random, Server, default_gates};
    use super::*;

    fn tried(is_held: bool, answered: f64) -> Tried {
        Tried { is_held, answered, service: Duration::from_secs(1) }
    }

    /// A search on a server that answers up to its limit, and breaks nothing below it.
    fn search(first: f64, limit: f64, is_measured: bool) -> LimitSearch {
        let mut search = LimitSearch::new(first);
        while let Some(rate) = search.next_rate() {
            let answered = if is_measured { rate.min(limit) } else { rate };
            search.observe(&tried(rate <= limit, answered));
        }
        search
    }

    /// A search that has had these tries.
    fn after(tries: &[(f64, bool)]) -> LimitSearch {
        LimitSearch { tries: tries.to_vec(), ..LimitSearch::new(10.0) }
    }

    #[test]
    fn a_server_that_holds_nothing_has_no_limit() {
        assert_eq!(search(10.0, 0.0, true).held(), None);
        assert_eq!(search(10.0, 0.0, false).held(), None);
        assert!(search(10.0, f64::INFINITY, true).held().is_some_and(|held| held >= HIGHEST));
    }

    #[test]
    fn the_rate_rises_by_what_the_server_can_do_for_certain() {
        for (service_ms, expected) in [(1_000.0, 20.0), (10.0, 40.0), (0.1, 160.0)] {
            let mut search = LimitSearch::new(10.0);
            let service = Duration::from_secs_f64(service_ms / 1e3);
            search.observe(&Tried { is_held: true, answered: 10.0, service });
            assert_eq!(search.next_rate(), Some(expected), "{service_ms}");
        }
    }

    #[test]
    fn while_the_rate_rises_one_broken_try_without_overload_is_made_again() {
        let mut search = LimitSearch::new(10.0);
        search.observe(&tried(true, 10.0));
        search.observe(&tried(false, 20.0));
        assert_eq!(search.next_rate(), Some(20.0));
        search.observe(&tried(true, 20.0));
        assert_eq!(search.next_rate(), Some(40.0));
        // Overload is certain, and measures what the server answers.
        search.observe(&tried(false, 25.0));
        let next = search.next_rate().expect("a rate");
        assert!(next > 20.0 && next < 30.0, "{next}");
    }

    #[test]
    fn the_result_is_held_every_second_time() {
        assert_eq!(after(&[(10.0, true), (20.0, true), (30.0, false)]).held(), Some(20.0));
        assert_eq!(after(&[(10.0, true), (20.0, true), (20.0, false), (30.0, false)]).held(), Some(20.0));
        assert_eq!(after(&[(10.0, true), (20.0, true), (20.0, false), (20.0, false)]).held(), Some(10.0));
        // 20/s and 30/s contradict each other: two of four tries were held.
        let contradicting = [(10.0, true), (20.0, false), (20.0, false), (30.0, true), (30.0, true), (40.0, false)];
        assert_eq!(after(&contradicting).held(), Some(30.0));
        assert_eq!(after(&contradicting[..5]).held(), Some(30.0));
        // One lucky try above rates that break is no rate held.
        assert_eq!(after(&[(10.0, true), (20.0, false), (20.0, false), (30.0, true)]).held(), Some(10.0));
    }

    #[test]
    fn an_unlucky_decision_far_below_the_limit_does_not_bound_the_search() {
        let mut search = LimitSearch::new(10.0);
        let mut unlucky = 4;
        while let Some(rate) = search.next_rate() {
            let is_unlucky = rate >= 400.0 && unlucky > 0;
            unlucky -= u32::from(is_unlucky);
            search.observe(&tried(rate <= 1_000.0 && !is_unlucky, rate.min(1_000.0)));
        }
        let held = search.held().expect("held");
        assert!((850.0..=1_000.0).contains(&held), "{held}: {:?}", search.tries);
        assert!(search.range().is_some_and(|(low, high)| low < 900.0 && high >= held), "{:?}", search.range());
    }

    #[test]
    fn tries_that_contradict_each_other_are_named() {
        let agreeing = [(10.0, true), (80.0, false), (100.0, true), (100.0, true), (105.0, false), (110.0, false)];
        assert_eq!(after(&agreeing).range(), None);
        let changed = [(70.0, false), (80.0, false), (90.0, false), (100.0, true), (100.0, true), (100.0, true)];
        assert_eq!(after(&[&[(10.0, true)][..], &changed].concat()).range(), Some((70.0, 100.0)));
    }

    proptest! {
        #[test]
        fn the_limit_is_found_within_five_percent(first in 1.0f64..1000.0, limit in 0.5f64..100_000.0, is_measured: bool) {
            let search = search(first, limit, is_measured);
            let held = search.held().expect("held");
            prop_assert!(held <= limit && held * 1.05 >= limit, "{} of {}: {:?}", held, limit, search.tries);
            prop_assert!(search.tries.len() <= TRIES && search.range().is_none());
        }
    }

    /// Results of pairs of searches on machines with some noise: the share of pairs within 15 %, the median of result ÷
    /// capacity, the mean number of tries, and the share of searches that say that tries contradict each other.
    fn pairs(count: u32, noise: impl Fn(&mut Random) -> Noise) -> (f64, f64, f64, f64) {
        let (mut agree, mut found, mut tries, mut named) = (0, Vec::new(), 0, 0);
        for seed in 0..count {
            let mut random = Random(u64::from(seed) * 7_919 + 13);
            let server = Server {
                capacity: random.between(50.0, 150.0),
                workers: usize::try_from(1 << (random.next() % 3)).expect("few"),
                distance: random.between(0.0, 0.05),
                jitter: random.between(0.0, 1.0),
            };
            let noise = noise(&mut random);
            let mut machine = Machine::new(server, noise, random);
            let held = [(); 2].map(|()| {
                let search = machine.search(&default_gates());
                tries += search.tries.len();
                named += u32::from(search.range().is_some());
                search.held().unwrap_or(0.0)
            });
            agree += u32::from((held[0] - held[1]).abs() <= 0.15 * held[0].max(held[1]));
            found.extend(held.map(|held| held / server.capacity));
        }
        found.sort_by(f64::total_cmp);
        let of_all = f64::from(count);
        let mean = f64::from(u32::try_from(tries).expect("few")) / of_all / 2.0;
        (f64::from(agree) / of_all, found[found.len() / 2], mean, f64::from(named) / of_all / 2.0)
    }

    #[test]
    fn two_searches_agree_on_a_quiet_machine() {
        let quiet = |_: &mut Random| Noise { tries: 0.02, stalls: 8, ..Noise::NONE };
        let (agree, median, tries, named) = pairs(60, quiet);
        assert!(agree >= 0.99 && (0.97..1.03).contains(&median), "{agree} {median}");
        assert!(tries < 20.0 && named <= 0.02, "{tries} {named}");
    }

    #[test]
    fn two_searches_agree_on_a_machine_that_drifts_and_has_slow_phases() {
        let busy = |random: &mut Random| Noise {
            tries: 0.05,
            drift: (0.1, random.between(60.0, 400.0)),
            slow_every: 15.0,
            stalls: u64::MAX,
        };
        let (agree, median, tries, _) = pairs(200, busy);
        assert!(agree >= 0.95 && (0.95..1.05).contains(&median) && tries < 20.0, "{agree} {median} {tries}");
    }
}
