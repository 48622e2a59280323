//! Comparison of two loads that knows the noise of both.
//!
//! A run is cut into the windows of its timeline. A measure has changed where the values of one run's windows are larger
//! than those of the other's more often than chance explains (Mann–Whitney), and by an amount that matters. A bare
//! percentage would report the noise of a busy machine, and would miss a small change that is certain.

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

    fn middle(self, values: &mut [f64]) -> f64 {
        if self == Self::Errors { values.iter().sum::<f64>() / count(values.len()) } else { median(values) }
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
    /// The middle of the windows of the earlier run: their median, and of errors, which most windows have none of, the mean.
    pub before: f64,
    /// The middle of the windows of this run.
    pub after: f64,
    /// The probability of such a difference if nothing had changed.
    pub p: f64,
    /// True if this run is worse, beyond noise and by an amount that matters.
    pub is_regression: bool,
    /// True if this run is better in the same way.
    pub is_improvement: bool,
}

/// Fewer windows prove nothing: not even two runs without a common value would differ with certainty.
const FEWEST: usize = 6;
/// The probability below which a difference is not chance.
const CERTAIN: f64 = 0.01;
/// The relative difference that matters.
const MATTERS: f64 = 0.10;

/// Compares a load with an earlier one; `Err` says why it cannot be done.
pub fn compare(before: &LoadRecord, after: &LoadRecord) -> Result<Vec<Change>, String> {
    let same = |one: &LoadRecord| {
        let plan = &one.plan;
        let sessions = (plan.clients, plan.in_flight, plan.session_per.clone());
        (plan.shape.clone(), plan.is_open, sessions, plan.window_us)
    };
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
    let values = |load: &LoadRecord| -> Vec<f64> {
        load.windows.iter().filter_map(|window| measure.of(window, load.plan.window_us)).collect()
    };
    let (mut one, mut other) = (values(before), values(after));
    if one.len() < FEWEST || other.len() < FEWEST {
        return None;
    }
    let p = mann_whitney(&one, &other);
    let (before, after) = (measure.middle(&mut one), measure.middle(&mut other));
    let matters = (after - before).abs() > MATTERS * before.max(f64::MIN_POSITIVE);
    let differs = p < CERTAIN && matters;
    let is_worse = (after > before) == measure.is_worse_when_larger();
    Some(Change { measure, before, after, p, is_regression: differs && is_worse, is_improvement: differs && !is_worse })
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) { f64::midpoint(values[middle - 1], values[middle]) } else { values[middle] }
}

/// The two-sided probability that two samples of one distribution differ as these do, by the normal approximation with a
/// correction for ties.
fn mann_whitney(one: &[f64], other: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> =
        one.iter().map(|value| (*value, true)).chain(other.iter().map(|value| (*value, false))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (n, m, total) = (count(one.len()), count(other.len()), count(all.len()));
    let (mut ranks, mut ties, mut at) = (0.0, 0.0, 0);
    while at < all.len() {
        let end = all[at..].iter().take_while(|(value, _)| value.total_cmp(&all[at].0).is_eq()).count() + at;
        let rank = f64::midpoint(count(at + 1), count(end));
        ranks += rank * count(all[at..end].iter().filter(|(_, is_one)| *is_one).count());
        let tied = count(end - at);
        ties += tied.powi(3) - tied;
        at = end;
    }
    let u = ranks - n * (n + 1.0) / 2.0;
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    2.0 * (1.0 - normal(z))
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
        // 20 % more on average, within what both runs do by themselves.
        let change = p50(&[10, 14, 9, 15, 11, 13, 10, 12], &[12, 9, 16, 14, 11, 17, 10, 15]);
        assert!(!change.is_regression && !change.is_improvement, "{change:?}");
        assert!(!p50(&[10; 10], &[10; 10]).is_regression);
    }

    #[test]
    fn a_certain_change_that_matters_is_one() {
        let (quick, slow) = ([20, 21, 20, 22, 20, 21, 20, 21], [25, 26, 25, 27, 25, 26, 26, 25]);
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
    fn the_normal_distribution_is_right() {
        assert!((normal(0.0) - 0.5).abs() < 1e-6 && (normal(1.96) - 0.975).abs() < 1e-4);
    }
}
