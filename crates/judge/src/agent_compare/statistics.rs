//! Statistics of passes: intervals, estimates over k runs, and an exact test.

/// The number of standard deviations of a 95 % interval.
const Z: f64 = 1.959_963_984_540_054;
/// The same for a power of 80 %.
const Z_POWER: f64 = 0.841_621_233_572_914;

/// A proportion with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The proportion.
    pub value: f64,
    /// Its lower bound.
    pub low: f64,
    /// Its upper bound.
    pub high: f64,
}

/// The Wilson score interval of a proportion; everything is possible where nothing was tried.
pub fn wilson(passed: u64, tried: u64) -> Interval {
    if tried == 0 {
        return Interval { value: f64::NAN, low: 0.0, high: 1.0 };
    }
    let (n, p) = (number(tried), number(passed) / number(tried));
    let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let (centre, scale) = (p + Z * Z / (2.0 * n), 1.0 + Z * Z / n);
    // Where all or none pass, the bound is exact; rounding must not move it.
    let low = if passed == 0 { 0.0 } else { ((centre - spread) / scale).max(0.0) };
    let high = if passed == tried { 1.0 } else { ((centre + spread) / scale).min(1.0) };
    Interval { value: p, low, high }
}

/// The probability that at least one of k runs passes, estimated without bias from `passed` of `tried`.
pub fn pass_at_k(passed: u64, tried: u64, k: u64) -> Option<f64> {
    (k > 0 && k <= tried).then(|| 1.0 - (ln_choose(tried.saturating_sub(passed), k) - ln_choose(tried, k)).exp())
}

/// The probability that all of k runs pass, estimated without bias.
pub fn pass_hat_k(passed: u64, tried: u64, k: u64) -> Option<f64> {
    (k > 0 && k <= tried).then(|| (ln_choose(passed, k) - ln_choose(tried, k)).exp())
}

/// Passes and runs of one case on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stratum {
    /// Passes and runs of the first side.
    pub first: (u64, u64),
    /// Passes and runs of the second side.
    pub second: (u64, u64),
}

/// The two-sided p-value that both sides pass equally often, exact and case by case: under that hypothesis, which runs of a
/// case belong to which side is chance. With one case it is Fisher's exact test.
pub fn stratified_p(strata: &[Stratum]) -> f64 {
    // The distribution of all passes of the first side: case by case, a convolution of hypergeometric ones.
    let mut distribution = vec![1.0];
    let mut observed = 0;
    for Stratum { first, second } in strata {
        let (runs, passes) = (first.1 + second.1, first.0 + second.0);
        let low = passes.saturating_sub(second.1);
        let high = passes.min(first.1);
        let all = ln_choose(runs, first.1);
        let mut next = vec![0.0; distribution.len() + index(high)];
        for count in low..=high {
            let chance = (ln_choose(passes, count) + ln_choose(runs - passes, first.1 - count) - all).exp();
            for (at, probability) in distribution.iter().enumerate() {
                next[at + index(count)] += probability * chance;
            }
        }
        distribution = next;
        observed += first.0;
    }
    let own = distribution.get(index(observed)).copied().unwrap_or(0.0);
    // Rounding must not separate outcomes that are equally likely.
    let p: f64 = distribution.iter().filter(|probability| **probability <= own * (1.0 + 1e-7)).sum();
    p.clamp(0.0, 1.0)
}

/// The number of runs on each side that a difference of this size needs to be seen four times out of five, and with which the
/// exact test can see it at all.
pub fn runs_needed(first: f64, second: f64, alpha: f64) -> Option<u64> {
    let difference = (first - second).abs();
    if !difference.is_finite() || difference < 1e-9 {
        return None;
    }
    let variance = first * (1.0 - first) + second * (1.0 - second);
    let runs = ((quantile(alpha / 2.0) + Z_POWER).powi(2) * variance / difference.powi(2)).ceil().max(2.0);
    let estimate = (runs < 1e9).then(|| rounded(runs))?;
    if estimate > SEARCHED {
        return Some(estimate);
    }
    // The estimate assumes many runs; with few, the exact test asks for more.
    let is_seen = |runs: &u64| {
        let passes = |share: f64| rounded((share * number(*runs)).round());
        stratified_p(&[Stratum { first: (passes(first), *runs), second: (passes(second), *runs) }]) < alpha
    };
    Some((estimate..2 * SEARCHED).find(is_seen).unwrap_or(estimate))
}

/// The number of standard deviations beyond which a normal variable is with this probability, at one side (Abramowitz and
/// Stegun 26.2.23; the error is below 0.0005).
fn quantile(probability: f64) -> f64 {
    let t = (-2.0 * probability.min(0.5).ln()).sqrt();
    let (above, below) =
        (2.515_517 + t * (0.802_853 + t * 0.010_328), t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    t - above / (1.0 + below)
}

/// The largest estimate that the exact test corrects.
const SEARCHED: u64 = 200;

/// The logarithm of a binomial coefficient; minus infinity where it is zero.
fn ln_choose(n: u64, k: u64) -> f64 {
    if k > n {
        return f64::NEG_INFINITY;
    }
    (0..k.min(n - k)).map(|at| (number(n - at) / number(at + 1)).ln()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of runs are small")]
pub(super) fn number(count: u64) -> f64 {
    count as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is positive and bounded")]
fn rounded(value: f64) -> u64 {
    value as u64
}

fn index(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(one: f64, other: f64) {
        assert!((one - other).abs() < 5e-4, "{one} is not {other}");
    }

    #[test]
    fn intervals_are_those_of_the_books() {
        let interval = wilson(8, 10);
        close(interval.low, 0.4902);
        close(interval.high, 0.9433);
        let none = wilson(0, 10);
        close(none.low, 0.0);
        close(none.high, 0.2775);
        assert_eq!((wilson(0, 0).low, wilson(0, 0).high), (0.0, 1.0));
        assert_eq!((wilson(0, 3).low, wilson(3, 3).high), (0.0, 1.0));
        // z² / (n + z²) = 3.8415 / 6.8415.
        close(wilson(0, 3).high, 0.5615);
        // p = 1/2: 1/2 ± z · sqrt(1/4n + z²/4n²) / (1 + z²/n) with n = 20, by hand 0.5 ± 0.2007.
        close(wilson(10, 20).low, 0.2993);
        close(wilson(10, 20).high, 0.7007);
    }

    #[test]
    fn estimates_over_k_runs() {
        close(pass_at_k(3, 10, 1).expect("ten runs"), 0.3);
        close(pass_at_k(3, 10, 3).expect("ten runs"), 1.0 - 35.0 / 120.0);
        close(pass_hat_k(8, 10, 3).expect("ten runs"), 56.0 / 120.0);
        close(pass_hat_k(2, 10, 3).expect("ten runs"), 0.0);
        assert_eq!(pass_at_k(1, 2, 3), None);
        // 5 of 8, k = 2: 1 - C(3,2)/C(8,2) = 1 - 3/28; C(5,2)/C(8,2) = 10/28.
        close(pass_at_k(5, 8, 2).expect("eight runs"), 25.0 / 28.0);
        close(pass_hat_k(5, 8, 2).expect("eight runs"), 10.0 / 28.0);
        assert_eq!((pass_at_k(4, 4, 4), pass_hat_k(4, 4, 4)), (Some(1.0), Some(1.0)));
        assert_eq!((pass_at_k(0, 4, 4), pass_hat_k(0, 4, 4)), (Some(0.0), Some(0.0)));
        assert_eq!(pass_hat_k(4, 4, 0), None);
    }

    #[test]
    fn one_case_is_fishers_exact_test() {
        // The lady tasting tea: 3 of 4 against 1 of 4.
        close(stratified_p(&[Stratum { first: (3, 4), second: (1, 4) }]), 0.4857);
        close(stratified_p(&[Stratum { first: (10, 10), second: (2, 10) }]), 0.0007);
        close(stratified_p(&[Stratum { first: (5, 10), second: (5, 10) }]), 1.0);
    }

    #[test]
    fn cases_are_not_pooled() {
        // Two cases of 2/2 against 0/2. The passes of the first side are the sum of two hypergeometric draws with chances 1/6, 4/6,
        // 1/6: a sum of 4 has 1/36, and so has a sum of 0; p = 2/36.
        let all = Stratum { first: (2, 2), second: (0, 2) };
        close(stratified_p(&[all, all]), 2.0 / 36.0);
        // Alone: 1/6 + 1/6.
        close(stratified_p(&[all]), 2.0 / 6.0);
        // Each case points the same way; together they say more than each of them.
        let one = Stratum { first: (4, 5), second: (1, 5) };
        assert!(stratified_p(&[one; 4]) < stratified_p(&[one]));
        // An easy and a hard case alone make no difference.
        let mixed = [Stratum { first: (9, 9), second: (1, 1) }, Stratum { first: (0, 1), second: (0, 9) }];
        close(stratified_p(&mixed), 1.0);
    }

    #[test]
    fn a_small_difference_needs_many_runs() {
        // (1.95996 + 0.84162)² · (0.9 · 0.1 + 0.8 · 0.2) / 0.1² = 7.8489 · 0.25 / 0.01 = 196.2
        assert_eq!(runs_needed(0.9, 0.8, 0.05), Some(197));
        assert_eq!(runs_needed(0.5, 0.5, 0.05), None);
        // (2.57583 + 0.84162)² · 0.25 / 0.01 = 11.6790 · 25 = 291.97
        assert!(matches!(runs_needed(0.9, 0.8, 0.01), Some(292 | 293)));
        // All against none: 2 / C(6,3) = 0.1 with three runs each, 2 / C(8,4) = 0.029 with four.
        assert_eq!(runs_needed(1.0, 0.0, 0.05), Some(4));
        // 2 / C(10,5) = 0.0079.
        assert_eq!(runs_needed(1.0, 0.0, 0.01), Some(5));
    }

    proptest! {
        #[test]
        fn p_is_a_probability_and_symmetric(a in 0u64..=12, b in 0u64..=12, c in 0u64..=12, d in 0u64..=12) {
            let (one, two) = ((a.min(b), a.max(b)), (c.min(d), c.max(d)));
            let p = stratified_p(&[Stratum { first: one, second: two }]);
            prop_assert!((0.0..=1.0).contains(&p));
            let q = stratified_p(&[Stratum { first: two, second: one }]);
            prop_assert!((p - q).abs() < 1e-9, "{} {}", p, q);
            let interval = wilson(one.0, one.1.max(1));
            prop_assert!(interval.low <= interval.value + 1e-12 && interval.value <= interval.high + 1e-12);
        }
    }
}
