//! Comparison of two loads that knows the noise of both.
//!
//! A run is cut into the windows of its timeline, and windows at the same position are compared: both had the same load and had
//! run as long. Windows of one run are not independent of each other: a busy moment of the machine lasts for several. So the
//! number of windows counts for less the more each resembles the one before it, and a change must be larger than what it differs
//! between the halves of the run. A bare percentage would report the noise of a busy machine, and would miss a small
//! change that is certain.

use mcprove_model::{LoadRecord, LoadWindow, per_second};

/// A measure that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The median latency.
    P50,
    /// The 95th percentile of the latency.
    P95,
    /// Calls per second that were answered well.
    Throughput,
    /// Failed calls and dropped arrivals per second.
    Errors,
}

impl Measure {
    const ALL: [Self; 4] = [Self::P50, Self::P95, Self::Throughput, Self::Errors];

    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::Throughput => "throughput",
            Self::Errors => "errors",
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 µs")]
    fn of(self, window: &LoadWindow, window_us: u64) -> Option<f64> {
        let quantile = |share: f64| (!window.latency.is_empty()).then(|| window.latency.quantile(share) as f64);
        match self {
            Self::P50 => quantile(0.5),
            Self::P95 => quantile(0.95),
            Self::Throughput => Some(per_second(window.completed, window_us)),
            Self::Errors => Some(per_second(window.errors + window.dropped, window_us)),
        }
    }

    /// A value on the scale on which differences are taken: that of a ratio, but for errors, of which most windows have none.
    fn scaled(self, value: f64, window_us: u64) -> f64 {
        match self {
            Self::P50 | Self::P95 => value.max(1.0).ln(),
            // A window without an answer is one with less than one.
            Self::Throughput => value.max(per_second(1, window_us) / 2.0).ln(),
            Self::Errors => value,
        }
    }

    fn unscaled(self, value: f64) -> f64 {
        if self == Self::Errors { value } else { value.exp() }
    }

    /// The growth of mcprove's own delay, which no server is to blame for, in the unit of the measure.
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 µs")]
    fn own_growth(self, before: &LoadRecord, after: &LoadRecord) -> f64 {
        let growth = |share: f64| after.lag.quantile(share) as f64 - before.lag.quantile(share) as f64;
        match self {
            Self::P50 => growth(0.5),
            Self::P95 => growth(0.95),
            Self::Throughput | Self::Errors => 0.0,
        }
    }

    fn is_worse_when_larger(self) -> bool {
        self != Self::Throughput
    }
}

/// A measure in two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The measure.
    pub measure: Measure,
    /// The mean of the windows of the earlier run: the geometric mean, and of errors, which most windows have none of, the
    /// arithmetic one.
    pub before: f64,
    /// The mean of the windows of this run.
    pub after: f64,
    /// The probability of such a difference if nothing had changed.
    pub p: f64,
    /// The smallest relative change that would have been certain in these runs; `None` for errors, or if no change would.
    pub visible: Option<f64>,
    /// True if this run is worse, beyond noise and by an amount that matters.
    pub is_regression: bool,
    /// True if this run is better in the same way.
    pub is_improvement: bool,
}

/// Fewer windows prove nothing: not even two runs without a common value would differ with certainty.
const FEWEST: usize = 6;
/// The probability below which a difference is not chance.
const CERTAIN: f64 = 0.003;
/// Student's distance of that probability, for many degrees of freedom.
const CERTAIN_Z: f64 = 2.968;
/// The number of windows below which the estimate of their independence is poor.
const POOR: f64 = 20.0;
/// The relative difference that matters.
const MATTERS: f64 = 0.10;
/// Runs of at least so many windows have changed where they are so many times further apart than the windows of either spread:
/// noise that lasts as long as a run leaves no independent windows, and does not move a run as far.
const SEPARATE: (usize, f64) = (30, 1.5);

/// Compares a load with an earlier one; `Err` says why it cannot be done.
pub fn compare(before: &LoadRecord, after: &LoadRecord) -> Result<Vec<Change>, String> {
    let same = |one: &LoadRecord| {
        let plan = &one.plan;
        let sessions = (plan.clients, plan.in_flight, plan.session_per.clone());
        (plan.shape.clone(), plan.is_open, sessions, plan.window_us)
    };
    if before.interrupted || after.interrupted {
        return Err("an interrupted run is not comparable: run it to its end".to_owned());
    }
    if same(before) != same(after) || before.calls.keys().ne(after.calls.keys()) {
        let message =
            "the earlier run had another load: compare runs with the same calls, rate, clients, sessions and duration";
        return Err(message.to_owned());
    }
    if before.windows.len() < FEWEST || after.windows.len() < FEWEST {
        return Err(format!("a run of fewer than {FEWEST} windows cannot be separated from noise: raise `--duration`"));
    }
    Ok(Measure::ALL.into_iter().filter_map(|measure| change(measure, before, after)).collect())
}

fn change(measure: Measure, before: &LoadRecord, after: &LoadRecord) -> Option<Change> {
    let value = |window: &LoadWindow| {
        let us = before.plan.window_us;
        Some(measure.scaled(measure.of(window, us)?, us))
    };
    let pairs: Vec<(f64, f64)> = before
        .windows
        .iter()
        .zip(&after.windows)
        .filter_map(|(one, other)| Some((value(one)?, value(other)?)))
        .collect();
    if pairs.len() < FEWEST {
        return None;
    }
    let (one, other): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    Some(between(measure, &one, &other, measure.own_growth(before, after)))
}

/// The change between the windows of two runs, on the scale of the measure; `own` is the growth of mcprove's own delay.
fn between(measure: Measure, one: &[f64], other: &[f64], own: f64) -> Change {
    let differences = Differences::between(one, other);
    let (before, after) = (measure.unscaled(mean(one)), measure.unscaled(mean(other)));
    let is_certain = differences.probability < CERTAIN && differences.mean.abs() > differences.halves;
    let matters = (after - before).abs() > MATTERS * before.max(f64::MIN_POSITIVE);
    // A machine that holds up mcprove holds up the server, too.
    let is_ours = own.abs() >= (after - before).abs() && (own > 0.0) == (after > before);
    let differs = (is_certain || are_separate(one, other)) && matters && !is_ours;
    let is_worse = (after > before) == measure.is_worse_when_larger();
    Change {
        measure,
        before,
        after,
        p: differences.probability,
        visible: (measure != Measure::Errors).then(|| differences.visible()).flatten(),
        is_regression: differs && is_worse,
        is_improvement: differs && !is_worse,
    }
}

/// True if runs are further apart than the windows of either spread, but for the outermost tenth.
fn are_separate(one: &[f64], other: &[f64]) -> bool {
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values
    };
    let (one, other) = (sorted(one), sorted(other));
    let spread = |values: &[f64]| values[values.len() - 1 - values.len() / 10] - values[values.len() / 10];
    let middle = |values: &[f64]| values[values.len() / 2];
    let (windows, times) = SEPARATE;
    let apart = (middle(&one) - middle(&other)).abs();
    one.len() >= windows && apart > 0.0 && apart > times * spread(&one).max(spread(&other))
}

/// The differences between windows of two runs.
struct Differences {
    mean: f64,
    /// The standard error of the mean; infinite where the windows say nothing.
    error: f64,
    /// The difference between the halves of the run, whatever both runs have in common.
    halves: f64,
    /// The probability of a mean as far from zero, if nothing had changed.
    probability: f64,
}

impl Differences {
    /// By Student's t, with as many degrees of freedom as there are independent windows: their number is estimated from how
    /// much each difference resembles the one before it, on the safe side.
    fn between(one: &[f64], other: &[f64]) -> Self {
        let values: Vec<f64> = one.iter().zip(other).map(|(one, other)| other - one).collect();
        let (number, mean) = (count(values.len()), mean(&values));
        let (first, second) = values.split_at(values.len() / 2);
        let halves = (self::mean(first) - self::mean(second)).abs();
        let residuals: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let squares: f64 = residuals.iter().map(|value| value * value).sum();
        if squares <= f64::EPSILON * number {
            return Self { mean, error: 0.0, halves, probability: if mean.abs() > f64::EPSILON { 0.0 } else { 1.0 } };
        }
        let lagged: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
        // The estimate from few values is too small, by about this (Kendall); a standard error more is the safe side, and two
        // where it is poor.
        let errors = if number < POOR { 2.0 } else { 1.0 };
        let correlation = (lagged / squares + 1.0 / number) / (1.0 - 3.0 / number) + errors / number.sqrt();
        let correlation = correlation.clamp(0.0, 0.99);
        let windows_per_value = (1.0 + correlation) / (1.0 - correlation);
        let degrees = number / windows_per_value - 1.0;
        if degrees <= 0.5 {
            return Self { mean, error: f64::INFINITY, halves, probability: 1.0 };
        }
        let variance = squares / (number - windows_per_value).max(1.0);
        let error = (variance * windows_per_value / number).sqrt();
        let t = mean.abs() / error;
        // Student's t as a normal distance (Wallace).
        let z = (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0) * (degrees * (t * t / degrees).ln_1p()).sqrt();
        Self { mean, error, halves, probability: 2.0 * (1.0 - normal(z)) }
    }

    /// The smallest relative change that would have been certain, on a scale of ratios.
    fn visible(&self) -> Option<f64> {
        let change = (CERTAIN_Z * self.error).exp_m1();
        change.is_finite().then(|| change.max(MATTERS))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values.len()).max(1.0)
}

/// The standard normal distribution up to a positive z (Abramowitz and Stegun 26.2.17; error below 1e-7).
fn normal(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let poly =
        t * (0.319_381_530 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    1.0 - (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * poly
}

#[expect(clippy::cast_precision_loss, reason = "a number of windows")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use mcprove_model::{CallStats, LoadPlan};

    use super::*;

    /// A run of windows with a latency each, in milliseconds.
    fn run(latencies: &[u64]) -> LoadRecord {
        let windows = latencies.iter().map(|ms| {
            let mut window = LoadWindow::default();
            (0..100).for_each(|n| window.latency.record(ms * 1000 + n));
            window
        });
        LoadRecord {
            plan: LoadPlan { window_us: 1_000_000, ..LoadPlan::default() },
            calls: [("echo".to_owned(), CallStats::default())].into(),
            windows: windows.collect(),
            ..LoadRecord::default()
        }
    }

    fn p50(before: &[u64], after: &[u64]) -> Change {
        compare(&run(before), &run(after)).expect("comparable").remove(0)
    }

    #[test]
    fn noise_is_not_a_regression() {
        // 10 % more on average, within what both runs do by themselves.
        let change = p50(&[10, 14, 9, 15, 11, 13, 10, 12], &[12, 9, 16, 14, 11, 17, 10, 15]);
        assert!(!change.is_regression && !change.is_improvement, "{change:?}");
        assert!(!p50(&[10; 10], &[10; 10]).is_regression);
    }

    #[test]
    fn a_certain_change_that_matters_is_one() {
        let quick = [20, 21, 20, 22, 20, 21, 20, 21, 22, 20, 21, 20];
        let slow = [25, 26, 25, 27, 25, 26, 26, 25, 26, 27, 25, 26];
        assert!(p50(&quick, &slow).is_regression);
        assert!(p50(&slow, &quick).is_improvement);
        // Certain, but too small to matter.
        assert!(!p50(&[100; 10], &[103; 10]).is_regression);
    }

    #[test]
    fn errors_that_few_windows_have_are_a_regression() {
        let clean = run(&[10; 40]);
        let mut failing = clean.clone();
        // A failed call in every third window.
        failing.windows.iter_mut().step_by(3).for_each(|window| window.errors = 1);
        let errors = |before: &LoadRecord, after: &LoadRecord| {
            let changes = compare(before, after).expect("comparable");
            changes.into_iter().find(|change| change.measure == Measure::Errors).expect("measured")
        };
        assert!(errors(&clean, &failing).is_regression && errors(&failing, &clean).is_improvement);
        let mut once = clean.clone();
        once.windows[7].errors = 1;
        assert!(!errors(&clean, &once).is_regression && !errors(&clean, &clean).is_regression);
    }

    #[test]
    fn the_fewest_windows_are_enough_for_a_certain_change() {
        assert!(p50(&[10; FEWEST], &[20; FEWEST]).is_regression);
    }

    #[test]
    fn other_loads_and_short_runs_are_not_compared() {
        assert!(compare(&run(&[10; 3]), &run(&[10; 3])).is_err());
        let mut other = run(&[10; 10]);
        other.plan.clients = 7;
        assert!(compare(&run(&[10; 10]), &other).is_err());
        let mut other = run(&[10; 10]);
        other.plan.session_per = "call".to_owned();
        assert!(compare(&run(&[10; 10]), &other).is_err());
    }

    #[test]
    fn a_ramp_is_compared_level_by_level() {
        let before: Vec<u64> = (0..40).map(|at| 10 + at * 5 + at % 3).collect();
        let after: Vec<u64> = before.iter().map(|ms| ms * 13 / 10).collect();
        assert!(p50(&before, &after).is_regression);
        assert!(!p50(&before, &before).is_regression);
    }

    #[test]
    fn a_late_mcprove_is_no_slower_server() {
        let (mut before, mut after) = (run(&[10; 40]), run(&[13; 40]));
        before.lag.record(50);
        assert!(compare(&before, &after).expect("comparable")[0].is_regression);
        after.lag.record(4_000);
        assert!(!compare(&before, &after).expect("comparable")[0].is_regression);
    }

    #[test]
    fn an_interrupted_run_is_not_compared() {
        let cut = LoadRecord { interrupted: true, ..run(&[10; 40]) };
        assert!(compare(&run(&[10; 40]), &cut).is_err());
    }

    struct Random(u64);

    impl Random {
        /// A number from the standard normal distribution, nearly: the sum of twelve even ones.
        #[expect(clippy::cast_precision_loss, reason = "a random number")]
        fn normal(&mut self) -> f64 {
            (0..12)
                .map(|_| {
                    self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
                    let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
                })
                .sum::<f64>()
                - 6.0
        }

        /// Windows of a run: noise of which a part is left from one window to the next.
        fn series(&mut self, windows: usize, spread: f64, kept: f64) -> Vec<f64> {
            let mut value = self.normal() * spread;
            let next = |_| {
                value = kept * value + (1.0 - kept * kept).sqrt() * spread * self.normal();
                value
            };
            (0..windows).map(next).collect()
        }
    }

    /// The share of comparisons that report a change, for a real change by a factor.
    fn reported(windows: usize, spread: f64, kept: f64, factor: f64) -> f64 {
        const TRIES: usize = 400;
        let mut random = Random(7);
        let is_changed = |_: &usize| {
            let before = random.series(windows, spread, kept);
            let after: Vec<f64> =
                random.series(windows, spread, kept).iter().map(|value| value + factor.ln()).collect();
            let change = between(Measure::P50, &before, &after, 0.0);
            change.is_regression || change.is_improvement
        };
        count((0..TRIES).filter(is_changed).count()) / count(TRIES)
    }

    #[test]
    fn noise_that_lasts_is_no_change() {
        for windows in [12, 40] {
            for kept in [0.0, 0.4, 0.8, 0.9] {
                for spread in [0.04, 0.15, 0.4] {
                    let share = reported(windows, spread, kept, 1.0);
                    assert!(share <= 0.02, "{windows} windows, {spread}, {kept}: {share}");
                }
            }
        }
    }

    #[test]
    fn a_fifth_more_is_found_on_a_quiet_machine() {
        for (windows, spread, kept, least) in [
            (40, 0.03, 0.0, 0.99),
            (40, 0.04, 0.4, 0.9),
            (40, 0.03, 0.8, 0.9),
            (20, 0.03, 0.0, 0.9),
            (40, 0.15, 0.0, 0.7),
        ] {
            let share = reported(windows, spread, kept, 1.2);
            assert!(share >= least, "{windows} windows, {spread}, {kept}: {share}");
        }
    }

    #[test]
    fn the_normal_distribution_is_right() {
        assert!((normal(0.0) - 0.5).abs() < 1e-6 && (normal(1.96) - 0.975).abs() < 1e-4);
    }
}
