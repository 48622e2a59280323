//! Growth of a server's memory with the number of calls: a leak, or a heap that fills up and stays.

use mcprove_model::{MemoryGrowth, UsageSample};

/// Fewer samples prove nothing.
const FEWEST: usize = 10;

/// Parts of a run that must all show the growth: a heap that fills up in the beginning does not grow in the end.
const PARTS: usize = 3;

/// A heap with a garbage collector takes this much per process before it gives anything back.
const HEAP: f64 = 128e6;
/// A leak is even: the slope of each part differs from that of the whole by no more than this share of it.
const EVEN: f64 = 0.25;
/// The width of the confidence interval of an even growth, as a share of its slope.
const NARROW: f64 = 0.1;
/// Times that memory was given back, each time at least this share of it: the collector has run, and memory still grew.
const COLLECTED: usize = 3;
const GIVEN_BACK: f64 = 0.03;

/// The growth of memory over samples, by least squares; `None` where there are too few. The confidence interval allows for
/// samples that depend on the ones before them, as memory does.
pub fn memory_growth(samples: &[UsageSample]) -> Option<MemoryGrowth> {
    // Samples of a server whose processes come and go are not comparable.
    let first = samples.first()?;
    if samples.len() < FEWEST || samples.iter().any(|sample| sample.processes != first.processes) {
        return None;
    }
    let points: Vec<(f64, f64)> = samples.iter().map(|sample| (float(sample.calls), float(sample.memory))).collect();
    let line = Line::through(&points)?;
    let residuals: Vec<f64> = points.iter().map(|(x, y)| y - line.at(*x)).collect();
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    let degrees = float(points.len() as u64) - 2.0;
    let lagged: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = if squares > 0.0 { (lagged / squares).clamp(0.0, 0.95) } else { 0.0 };
    let error = (squares / degrees / line.spread).sqrt() * ((1.0 + correlation) / (1.0 - correlation)).sqrt();
    // Student's t at 95 % for the degrees of freedom that there are.
    let width = error * (1.96 + 2.4 / degrees);
    let slope = line.slope;
    let parts = || points.chunks(points.len().div_ceil(PARTS)).map(Line::through);
    let is_steady = parts().all(|part| part.is_some_and(|part| part.slope > slope / 4.0)) && slope > 0.0;
    let total = slope * (points.last()?.0 - points.first()?.0);
    let is_even = width <= slope * NARROW
        && parts().all(|part| part.is_some_and(|part| (part.slope - slope).abs() <= slope * EVEN));
    let is_certain = is_steady && (is_even || total > HEAP * float(first.processes.max(1)) || is_collected(&points));
    Some(MemoryGrowth { per_call: slope, low: slope - width, high: slope + width, is_steady, is_certain, total })
}

/// True if memory was given back several times.
fn is_collected(points: &[(f64, f64)]) -> bool {
    points.windows(2).filter(|pair| pair[1].1 < pair[0].1 * (1.0 - GIVEN_BACK)).count() >= COLLECTED
}

/// A line by least squares.
struct Line {
    slope: f64,
    mean: (f64, f64),
    /// Sum of the squared distances of x from its mean.
    spread: f64,
}

impl Line {
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = float(points.len() as u64);
        let mean = points.iter().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / count, sum.1 + y / count));
        let spread: f64 = points.iter().map(|(x, _)| (x - mean.0).powi(2)).sum();
        let both: f64 = points.iter().map(|(x, y)| (x - mean.0) * (y - mean.1)).sum();
        (spread > 0.0).then(|| Self { slope: both / spread, mean, spread })
    }

    fn at(&self, x: f64) -> f64 {
        self.mean.1 + self.slope * (x - self.mean.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "bytes and calls are far below 2^52")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(memory: impl Fn(u64) -> u64) -> Vec<UsageSample> {
        let sample =
            |n: u64| UsageSample { calls: n * 1000, memory: memory(n), processes: 1, ..UsageSample::default() };
        (0..40).map(sample).collect()
    }

    #[test]
    fn a_leak_of_a_kilobyte_a_call_is_found() {
        // Pages come in steps, and something is freed now and then.
        let growth = memory_growth(&samples(|n| 30_000_000 + n * 1_000_000 + (n * 7 % 5) * 65_536)).expect("known");
        assert!(growth.low < 1000.0 && growth.high > 1000.0 && growth.low > 900.0, "{growth}");
        assert!(growth.is_steady && growth.is_certain);
    }

    /// Memory of a server on Node, in MB after each 300 calls: a heap that has not been collected yet.
    const FILLING: [f64; 20] = [
        77.9, 80.0, 80.3, 81.9, 84.5, 85.4, 91.3, 96.2, 99.8, 101.5, 101.8, 103.3, 103.6, 104.8, 106.2, 106.6, 108.0,
        108.3, 109.6, 111.0,
    ];

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "megabytes")]
    fn a_heap_that_has_not_been_collected_yet_is_not_certain_to_leak() {
        let sample = |(n, mb): (usize, &f64)| UsageSample {
            calls: n as u64 * 300,
            memory: (mb * 1e6) as u64,
            processes: 1,
            ..UsageSample::default()
        };
        let growth = memory_growth(&FILLING.iter().enumerate().map(sample).collect::<Vec<_>>()).expect("known");
        assert!(growth.low > 0.0 && growth.is_steady && !growth.is_certain, "{growth}");
    }

    #[test]
    fn growth_in_spite_of_collections_is_certain() {
        // It grows by 3 MB a second, and gives back 20 MB of 28 every eight seconds.
        let growth = memory_growth(&samples(|n| 80_000_000 + n * 1_000_000 + (n % 8) * 2_500_000)).expect("known");
        assert!(growth.low > 0.0 && growth.is_certain, "{growth}");
        let large = memory_growth(&samples(|n| 80_000_000 + n * 3_000_000 + n.min(20) * 2_000_000)).expect("known");
        assert!(large.is_certain, "{large}");
    }

    #[test]
    fn a_heap_that_fills_up_is_not_steady() {
        let growth = memory_growth(&samples(|n| 30_000_000 + n.min(8) * 2_000_000)).expect("known");
        assert!(!growth.is_steady, "{growth}");
    }

    #[test]
    fn a_healthy_server_does_not_grow() {
        let growth = memory_growth(&samples(|n| 30_000_000 + (n * 2_654_435_761 % 7) * 50_000)).expect("known");
        assert!(growth.low < 0.0 && growth.high > 0.0, "{growth}");
        assert!(memory_growth(&samples(|_| 30_000_000)).is_some_and(|growth| growth.per_call.abs() < 1e-9));
    }

    #[test]
    fn few_samples_and_other_processes_prove_nothing() {
        assert!(memory_growth(&samples(|_| 1)[..5]).is_none());
        let mut changing = samples(|_| 1);
        changing[20].processes = 2;
        assert!(memory_growth(&changing).is_none());
    }
}
