//! When calls are to start in an open loop.
//!
//! The n-th call is to start when the integral of the rate reaches n. Its latency counts from that moment, whenever it is
//! really sent: calls that a stalled server holds up are not left out (coordinated omission).

use std::time::Duration;

use super::shape::{Shape, Stage};

/// The intended starts of the calls of an open loop, or of one shard of it.
#[derive(Clone, Debug)]
pub struct Schedule {
    shape: Shape,
    next: u64,
    step: u64,
    /// The number of calls of the whole after which it ends.
    end: u64,
}

impl Schedule {
    /// All calls of a shape whose levels are calls per second.
    pub fn new(shape: Shape) -> Self {
        Self { shape, next: 0, step: 1, end: u64::MAX }
    }

    /// Every `of`-th call, beginning with the one at `number`, from 0. Together, the shards are the whole.
    #[must_use]
    pub fn shard(self, number: u32, of: u32) -> Self {
        Self { next: u64::from(number), step: u64::from(of.max(1)), ..self }
    }

    /// The first calls of the whole.
    #[must_use]
    pub fn first(self, calls: u64) -> Self {
        Self { end: calls, ..self }
    }

    /// The intended start of a call of the whole, by its number; `None` after the last.
    fn start_of(&self, number: u64) -> Option<Duration> {
        #[expect(clippy::cast_precision_loss, reason = "no load has 2^52 calls")]
        let mut wanted = number as f64;
        let mut begin = Duration::ZERO;
        for stage in self.shape.stages() {
            let seconds = stage.length.as_secs_f64();
            let calls = f64::midpoint(stage.from, stage.to) * seconds;
            // A call at the very end of a stage belongs to the next.
            if wanted < calls - 1e-9 {
                return Some(begin + Duration::from_secs_f64(time_of(stage, wanted).clamp(0.0, seconds)));
            }
            wanted = (wanted - calls).max(0.0);
            begin += stage.length;
        }
        None
    }
}

/// The time in a stage at which so many calls have begun.
fn time_of(stage: &Stage, calls: f64) -> f64 {
    let slope = (stage.to - stage.from) / stage.length.as_secs_f64();
    if slope.abs() < 1e-12 {
        return calls / stage.from;
    }
    // from·t + slope·t²/2 = calls
    let root = (stage.from * stage.from + 2.0 * slope * calls).max(0.0).sqrt();
    (root - stage.from) / slope
}

impl Iterator for Schedule {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let start = (self.next < self.end).then(|| self.start_of(self.next)).flatten()?;
        self.next += self.step;
        Some(start)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stage(from: f64, to: f64, seconds: u64) -> Stage {
        Stage { from, to, length: Duration::from_secs(seconds) }
    }

    fn shape(text: &str) -> Shape {
        let duration = |text: &str| Ok(Duration::from_secs(text.trim_end_matches('s').parse().expect("seconds")));
        Shape::parse(text, 0.0, duration).expect("valid")
    }

    #[test]
    fn a_constant_rate_is_evenly_spaced() {
        let starts: Vec<_> = Schedule::new(shape("4@2s")).collect();
        assert_eq!(starts, (0..8).map(|n| Duration::from_millis(n * 250)).collect::<Vec<_>>());
    }

    #[test]
    fn a_ramp_has_as_many_calls_as_its_area() {
        assert_eq!(Schedule::new(shape("..100@10s")).count(), 500);
        assert_eq!(Schedule::new(shape("100@5s,..0@5s")).count(), 750);
        assert!((time_of(&stage(0.0, 100.0, 10), 125.0) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn the_first_calls_are_divided_among_shards() {
        let shards = (0..3).map(|number| Schedule::new(shape("10@2s")).first(11).shard(number, 3).count());
        assert_eq!(shards.collect::<Vec<_>>(), [4, 4, 3]);
    }

    #[test]
    fn a_pause_has_no_calls() {
        let starts: Vec<_> = Schedule::new(shape("2@1s,0@10s,2@1s")).map(|start| start.as_millis()).collect();
        assert_eq!(starts, [0, 500, 11_000, 11_500]);
    }

    proptest! {
        #[test]
        fn starts_ascend_and_shards_are_the_whole(levels in prop::collection::vec((0u32..200, 1u32..4, any::<bool>()), 1..4), of in 1u32..5) {
            prop_assume!(levels.iter().any(|(level, ..)| *level > 0));
            let text: Vec<String> = levels.iter().map(|(level, length, moves)| format!("{}{level}@{length}s", if *moves { ".." } else { "" })).collect();
            let whole: Vec<_> = Schedule::new(shape(&text.join(","))).collect();
            prop_assert!(whole.is_sorted());
            let mut parts: Vec<_> = (0..of).flat_map(|number| Schedule::new(shape(&text.join(","))).shard(number, of)).collect();
            parts.sort_unstable();
            prop_assert_eq!(parts, whole);
        }
    }
}
