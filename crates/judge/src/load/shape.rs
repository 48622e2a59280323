//! The shape of a load: a rate or a number of clients over time.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The shape of a load: stages one after the other. What is counted, calls per second or clients, is said elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    stages: Vec<Stage>,
}

/// A stage of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// The level at its start.
    pub from: f64,
    /// The level at its end; in between, it changes evenly.
    pub to: f64,
    /// Its length.
    pub length: Duration,
}

/// The highest level: a million calls per second, or clients.
const HIGHEST: f64 = 1e6;

impl Shape {
    /// One level all the time.
    pub fn constant(level: f64, length: Duration) -> Self {
        Self { stages: vec![Stage { from: level, to: level, length }] }
    }

    /// The stages of a text such as `..200@30s,200@1m`, which begin at a level: `200@30s` is a level that is held, and
    /// `..200@30s` moves to a level evenly.
    pub fn parse(text: &str, begin: f64, duration: impl Fn(&str) -> Result<Duration, String>) -> Result<Self, String> {
        let mut level = begin;
        let mut stages = Vec::new();
        for part in text.split(',').map(str::trim) {
            let bad = || format!("invalid stage `{part}`: write `LEVEL@DURATION` or `..LEVEL@DURATION`");
            let (target, length) = part.split_once('@').ok_or_else(bad)?;
            let (moves, target) = target.strip_prefix("..").map_or((false, target), |target| (true, target));
            let target = target.trim();
            let to = f64::from_str(target.strip_suffix("/s").unwrap_or(target).trim_end()).map_err(|_| bad())?;
            if !(0.0..=HIGHEST).contains(&to) {
                return Err(format!("invalid stage `{part}`: give a level from 0 to {HIGHEST}"));
            }
            let length = duration(length.trim())?;
            stages.push(Stage { from: if moves { level } else { to }, to, length });
            level = to;
        }
        let shape = Self { stages };
        if shape.highest() == 0.0 { Err("every stage has the level 0".to_owned()) } else { Ok(shape) }
    }

    /// The same with an earlier stage at its first level.
    #[must_use]
    pub fn after(mut self, warm_up: Duration) -> Self {
        if let (Some(first), false) = (self.stages.first().copied(), warm_up.is_zero()) {
            let level = if first.from > 0.0 { first.from } else { self.highest() / 10.0 };
            self.stages.insert(0, Stage { from: level, to: level, length: warm_up });
        }
        self
    }

    /// The stages.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Its length.
    pub fn length(&self) -> Duration {
        self.stages.iter().map(|stage| stage.length).sum()
    }

    /// The highest level.
    pub fn highest(&self) -> f64 {
        self.stages.iter().flat_map(|stage| [stage.from, stage.to]).fold(0.0, f64::max)
    }

    /// The level at a moment; 0 after the end.
    pub fn level(&self, at: Duration) -> f64 {
        let mut begin = Duration::ZERO;
        for stage in &self.stages {
            if at < begin + stage.length {
                let share = (at.saturating_sub(begin)).as_secs_f64() / stage.length.as_secs_f64();
                return stage.from + (stage.to - stage.from) * share;
            }
            begin += stage.length;
        }
        0.0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, stage) in self.stages.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let moves = if (stage.from - stage.to).abs() < f64::EPSILON { "" } else { ".." };
            write!(f, "{comma}{moves}{}@{}s", stage.to, stage.length.as_secs_f64())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Result<Duration, String> {
        let number: u64 = text.trim_end_matches('s').parse().map_err(|_| format!("invalid duration `{text}`"))?;
        Ok(Duration::from_secs(number))
    }

    #[test]
    fn stages_hold_a_level_or_move_to_one() {
        let shape = Shape::parse("10@5s,..30@10s,100@1s", 0.0, seconds).expect("valid");
        let level = |at: f64| shape.level(Duration::from_secs_f64(at));
        assert_eq!((level(0.0), level(4.9), level(5.0), level(10.0), level(15.5)), (10.0, 10.0, 10.0, 20.0, 100.0));
        assert_eq!((level(16.0), shape.length(), shape.highest()), (0.0, Duration::from_secs(16), 100.0));
        assert_eq!(shape.to_string(), "10@5s,..30@10s,100@1s");
        assert_eq!(shape.after(Duration::from_secs(2)).to_string(), "10@2s,10@5s,..30@10s,100@1s");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, message) in [
            ("10", "invalid stage `10`"),
            ("x@5s", "invalid stage `x@5s`"),
            ("10@5s,", "invalid stage ``"),
            ("10/s/s@5s", "invalid stage `10/s/s@5s`"),
            ("nan@5s", "give a level from 0"),
            ("-1@5s", "give a level from 0"),
            ("5@later", "invalid duration `later`"),
            ("0@5s", "every stage has the level 0"),
        ] {
            let error = Shape::parse(text, 0.0, seconds).expect_err(text);
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
