//! Required share of passed cases, compared exactly: 99.9 % of 1,000 cases is 999, and 998 are not enough.

use std::fmt;
use std::str::FromStr;

use mcprove_model::Report;

use crate::reliability::Reliability;

/// Digits after the point that a threshold may have.
const DECIMALS: usize = 6;
/// Parts of one percent.
const PARTS: u64 = 1_000_000;

/// The percentage of cases that must pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    millionths: u64,
}

/// Number of passed cases among those that were not skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Cases that passed every trial.
    pub passed: usize,
    /// Cases that were run at all.
    pub judged: usize,
}

impl Threshold {
    /// Every case must pass.
    pub const ALL: Self = Self { millionths: 100 * PARTS };
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "give a percentage from 0 to 100, such as 95 or 99.5".to_owned();
        let number = text.strip_suffix('%').unwrap_or(text);
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > DECIMALS || number.ends_with('.') {
            return Err(wrong());
        }
        let whole: u64 = whole.parse().map_err(|_| wrong())?;
        let part: u64 = format!("{part:0<DECIMALS$}").parse().map_err(|_| wrong())?;
        let millionths = whole.checked_mul(PARTS).and_then(|whole| whole.checked_add(part)).ok_or_else(wrong)?;
        if millionths > Self::ALL.millionths { Err(wrong()) } else { Ok(Self { millionths }) }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = format!("{:06}", self.millionths % PARTS);
        let part = part.trim_end_matches('0');
        let point = if part.is_empty() { "" } else { "." };
        write!(f, "{}{point}{part}%", self.millionths / PARTS)
    }
}

impl Share {
    /// The share of a report.
    pub fn of(report: &Report) -> Self {
        let trials = Reliability::of(report);
        Self { passed: trials.reliable(), judged: trials.judged() }
    }

    /// True if enough passed.
    pub fn meets(self, threshold: Threshold) -> bool {
        let parts = |count: usize, of_each: u64| count as u128 * u128::from(of_each);
        parts(self.passed, 100 * PARTS) >= parts(self.judged, threshold.millionths)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Cut off, never rounded up: what is shown must not claim more than there is.
        let hundredths = (self.passed as u128 * 10_000).checked_div(self.judged as u128).unwrap_or(0);
        let (whole, part) = (hundredths / 100, hundredths % 100);
        let part = if part == 0 { String::new() } else { format!(".{part:02}").trim_end_matches('0').to_owned() };
        write!(f, "{} of {} cases passed ({whole}{part}%)", self.passed, self.judged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(text: &str) -> Threshold {
        text.parse().expect("a threshold")
    }

    #[test]
    fn a_threshold_is_a_percentage() {
        for (text, shown) in
            [("0", "0%"), ("95", "95%"), ("99.50", "99.5%"), ("100%", "100%"), ("0.000001", "0.000001%")]
        {
            assert_eq!(threshold(text).to_string(), shown);
        }
        for wrong in ["", "-1", "100.1", "101", "1e2", "abc", "5.", ".5", "1.0000001", "99999999999999999999"] {
            assert!(wrong.parse::<Threshold>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_comparison_is_exact() {
        let meets = |passed, judged, text| Share { passed, judged }.meets(threshold(text));
        assert!(meets(999, 1_000, "99.9") && !meets(998, 1_000, "99.9"));
        assert!(meets(2, 3, "66.666666") && !meets(2, 3, "66.666667"));
        assert!(!meets(199, 200, "100") && meets(200, 200, "100"));
        assert!(meets(0, 5, "0"));
        assert_eq!(Share { passed: 199, judged: 200 }.to_string(), "199 of 200 cases passed (99.5%)");
        assert_eq!(Share { passed: 99_999, judged: 100_000 }.to_string(), "99999 of 100000 cases passed (99.99%)");
        assert_eq!(Share { passed: 1, judged: 1 }.to_string(), "1 of 1 cases passed (100%)");
    }
}
