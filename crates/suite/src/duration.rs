//! Durations as Go writes them: `30s`, `1m30s`, `500ms`, `1.5h`.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use mcprove_model::nearest;

/// An invalid duration, with advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadDuration {
    /// Description of the mistake.
    pub message: String,
    /// The right form.
    pub help: String,
}

impl fmt::Display for BadDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl Error for BadDuration {}

/// Reads a duration that something is given to finish in, so that zero makes no sense.
pub fn parse(text: &str) -> Result<Duration, BadDuration> {
    let duration = parse_any(text)?;
    if duration.is_zero() {
        return Err(BadDuration {
            message: format!("`{text}` leaves no time at all"),
            help: "leave it out for the default, or write for example `30s`".to_owned(),
        });
    }
    Ok(duration)
}

/// Reads a duration that may be zero.
pub fn parse_with_zero(text: &str) -> Result<Duration, BadDuration> {
    parse_any(text)
}

/// More than this is a mistake, and more than clocks can add.
pub const LONGEST: Duration = Duration::from_hours(365 * 24);

fn parse_any(text: &str) -> Result<Duration, BadDuration> {
    let bad = |message: String, help: String| Err(BadDuration { message, help });
    let example = || "write a number with a unit, for example `30s`, `500ms` or `1m30s`".to_owned();
    let trimmed = text.trim();
    if trimmed == "0" {
        return Ok(Duration::ZERO);
    }
    if trimmed.starts_with('-') {
        return bad(format!("`{text}` is negative"), example());
    }
    let mut rest = trimmed.strip_prefix('+').unwrap_or(trimmed);
    if rest.parse::<f64>().is_ok_and(f64::is_finite) {
        return bad(
            format!("`{text}` has no unit"),
            format!("write `{rest}s` for seconds or `{rest}ms` for milliseconds"),
        );
    }
    if rest.is_empty() {
        return bad("the duration is empty".to_owned(), example());
    }
    let mut nanoseconds: u128 = 0;
    while !rest.is_empty() {
        let Some((amount, after)) = amount(rest) else {
            return bad(format!("invalid duration `{text}`"), example());
        };
        let length = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(length);
        let Some(scale) = scale(unit) else {
            let help = match nearest_unit(unit) {
                Some(known) => format!("did you mean `{known}`? units are h, m, s, ms, us, ns"),
                None => "units are h, m, s, ms, us, ns".to_owned(),
            };
            return bad(format!("`{text}` has an unknown unit `{unit}`"), help);
        };
        nanoseconds = nanoseconds.saturating_add(amount.in_units_of(scale));
        rest = after;
    }
    match u64::try_from(nanoseconds).map(Duration::from_nanos) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        Ok(_) | Err(_) => bad(format!("`{text}` is too long"), "the longest duration is 365 days".to_owned()),
    }
}

/// A decimal number, kept exact.
struct Amount {
    whole: u128,
    fraction: u128,
    /// Ten to the number of fraction digits.
    denominator: u128,
}

impl Amount {
    fn in_units_of(&self, scale: u128) -> u128 {
        self.whole.saturating_mul(scale).saturating_add(self.fraction.saturating_mul(scale) / self.denominator)
    }
}

fn amount(text: &str) -> Option<(Amount, &str)> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (whole, mut rest) = text.split_at(digits(text));
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = after.split_at(digits(after));
    }
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // Digits beyond a billionth of a nanosecond cannot matter.
    let fraction = &fraction[..fraction.len().min(18)];
    let number = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse().ok() };
    let amount = Amount {
        whole: number(whole).unwrap_or(u128::MAX),
        fraction: number(fraction)?,
        denominator: 10_u128.pow(u32::try_from(fraction.len()).ok()?),
    };
    Some((amount, rest))
}

/// Nanoseconds in a unit.
fn scale(unit: &str) -> Option<u128> {
    Some(match unit {
        "ns" => 1,
        // Both signs for "micro" are in use.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

fn nearest_unit(unit: &str) -> Option<&'static str> {
    let lower = unit.trim().to_lowercase();
    Some(match lower.as_str() {
        "sec" | "secs" | "second" | "seconds" => "s",
        "min" | "mins" | "minute" | "minutes" => "m",
        "hr" | "hrs" | "hour" | "hours" => "h",
        "msec" | "millis" | "milliseconds" => "ms",
        other => return nearest(other, ["h", "m", "s", "ms", "us", "ns"]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_durations_are_read() {
        for (text, nanoseconds) in [
            ("30s", 30_000_000_000),
            ("1m30s", 90_000_000_000),
            ("500ms", 500_000_000),
            ("1.5h", 5_400_000_000_000),
            (".5s", 500_000_000),
            ("2us", 2_000),
            ("2µs", 2_000),
            ("+1h2m3s", 3_723_000_000_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanoseconds)), "{text}");
        }
    }

    #[test]
    fn others_say_what_to_write() {
        let help = |text| parse(text).map_err(|bad| format!("{}: {}", bad.message, bad.help));
        assert_eq!(help("5"), Err("`5` has no unit: write `5s` for seconds or `5ms` for milliseconds".to_owned()));
        assert_eq!(
            help("5sec"),
            Err("`5sec` has an unknown unit `sec`: did you mean `s`? units are h, m, s, ms, us, ns".to_owned())
        );
        for text in
            ["soon", "-5s", "", "5 s", "s", "1..5s", "99999999999999999999999999h", "1m30", "0", "0s", "1e3s", "∞"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
