//! A distribution of durations that merges exactly.

use hdrhistogram::Histogram;
use serde::de::Error as _;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest duration that is kept apart from longer ones: a day.
const LONGEST_US: u64 = 86_400_000_000;

/// A distribution of durations in microseconds, with a constant relative error. Two of the same precision merge exactly: the
/// result is that of one distribution that recorded both.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyHistogram {
    counts: Histogram<u64>,
    /// The largest value itself; a bucket would only bound it.
    max_us: u64,
    sum_us: u64,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::with_digits(Self::FINE)
    }
}

impl LatencyHistogram {
    /// Three significant digits.
    pub const FINE: u8 = 3;
    /// Two significant digits, for the many distributions of a timeline.
    pub const COARSE: u8 = 2;

    /// An empty distribution with this number of significant digits, from 1 to 5.
    pub fn with_digits(digits: u8) -> Self {
        let counts = Histogram::new(digits.clamp(1, 5)).unwrap_or_else(|_| unreachable!("one to five digits"));
        Self { counts, max_us: 0, sum_us: 0 }
    }

    /// Adds a duration.
    pub fn record(&mut self, us: u64) {
        self.record_many(us, 1);
        self.sum_us = self.sum_us.saturating_add(us);
    }

    fn record_many(&mut self, us: u64, count: u64) {
        let us = us.min(LONGEST_US);
        // The histogram grows as needed and fails only where it may not.
        if self.counts.record_n(us, count).is_ok() {
            self.max_us = self.max_us.max(us);
        }
    }

    /// Adds everything that another distribution has recorded.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.add(&other.counts).is_ok() {
            self.max_us = self.max_us.max(other.max_us);
            self.sum_us = self.sum_us.saturating_add(other.sum_us);
        }
    }

    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// True if nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The duration that a share of all, from 0 to 1, does not exceed; 0 if there is none.
    pub fn quantile(&self, share: f64) -> u64 {
        self.counts.value_at_quantile(share).min(self.max_us)
    }

    /// The longest duration.
    pub fn max(&self) -> u64 {
        self.max_us
    }

    /// The mean duration.
    pub fn mean(&self) -> u64 {
        self.sum_us.checked_div(self.count()).unwrap_or(0)
    }

    /// The sum of all durations.
    pub fn sum(&self) -> u64 {
        self.sum_us
    }

    /// Number of durations up to a bound, by the buckets of the histogram.
    pub fn count_up_to(&self, us: u64) -> u64 {
        self.counts.count_between(0, us)
    }

    /// The buckets that are not empty: their highest value, and their count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()))
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("LatencyHistogram", 4)?;
        out.serialize_field("digits", &self.counts.sigfig())?;
        out.serialize_field("max", &self.max_us)?;
        out.serialize_field("sum", &self.sum_us)?;
        out.serialize_field("counts", &self.buckets().collect::<Vec<_>>())?;
        out.end()
    }
}

#[derive(Deserialize)]
struct Written {
    digits: u8,
    max: u64,
    sum: u64,
    counts: Vec<(u64, u64)>,
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(deserializer)?;
        if !(1..=5).contains(&written.digits) {
            return Err(D::Error::custom(format!("a histogram has 1 to 5 digits, not {}", written.digits)));
        }
        let mut histogram = Self::with_digits(written.digits);
        for (us, count) in written.counts {
            histogram.record_many(us, count);
        }
        histogram.max_us = written.max;
        histogram.sum_us = written.sum;
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(durations: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::default();
        for us in durations {
            histogram.record(*us);
        }
        histogram
    }

    #[test]
    fn quantiles_are_within_a_thousandth() {
        let histogram = of(&(1..=100_000).collect::<Vec<_>>());
        for (share, exact) in [(0.5, 50_000), (0.99, 99_000), (0.9999, 99_990)] {
            assert!(
                histogram.quantile(share).abs_diff(exact) <= exact / 1000,
                "{share}: {}",
                histogram.quantile(share)
            );
        }
        assert_eq!((histogram.max(), histogram.count(), histogram.quantile(1.0)), (100_000, 100_000, 100_000));
        assert_eq!(LatencyHistogram::default().quantile(0.5), 0);
    }

    proptest! {
        #[test]
        fn merging_is_recording_both(one in prop::collection::vec(0u64..100_000_000, 0..200), other in prop::collection::vec(0u64..100_000_000, 0..200)) {
            let mut merged = of(&one);
            merged.merge(&of(&other));
            prop_assert_eq!(&merged, &of(&[one, other].concat()));
        }

        #[test]
        fn a_log_keeps_every_count(durations in prop::collection::vec(0u64..10_000_000_000, 0..200)) {
            let histogram = of(&durations);
            let text = serde_json::to_string(&histogram).expect("written");
            prop_assert_eq!(serde_json::from_str::<LatencyHistogram>(&text).expect("read"), histogram);
        }
    }
}
