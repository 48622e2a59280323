//! Numbers as they are written: `0.3` is three times `0.1`, which binary fractions deny.

use std::cmp::Ordering;

use serde_json::Number;

/// The most decimal places that are reckoned exactly.
const PLACES: u32 = 18;

/// A number of at most about twenty digits, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    /// The digits without the point.
    digits: i128,
    /// Number of digits behind the point.
    places: u32,
}

impl Decimal {
    pub(crate) const ONE: Self = Self { digits: 1, places: 0 };

    pub(crate) fn whole(value: i128) -> Self {
        Self { digits: value, places: 0 }
    }

    /// The number as written; none when it is too large or too small to be reckoned exactly.
    pub(crate) fn of(number: &Number) -> Option<Self> {
        if let Some(whole) = number.as_i128() {
            return Some(Self::whole(whole));
        }
        let text = number.to_string();
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let places = i32::try_from(fraction.len()).ok()? - exponent;
        if places >= 0 {
            let places = u32::try_from(places).ok().filter(|places| *places <= PLACES)?;
            return Some(Self { digits, places });
        }
        let zeros = places.unsigned_abs();
        let scale = (zeros <= PLACES).then(|| 10_i128.pow(zeros))?;
        digits.checked_mul(scale).map(Self::whole)
    }

    /// The number as JSON; whole numbers are written without a point.
    pub(crate) fn number(self) -> Option<Number> {
        let scale = 10_i128.pow(self.places);
        if self.digits % scale == 0 {
            return whole_number(self.digits / scale);
        }
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = self.digits.unsigned_abs();
        let scale = scale.unsigned_abs();
        let text = format!("{sign}{}.{:0places$}", digits / scale, digits % scale, places = self.places as usize);
        Number::from_f64(text.parse().ok()?)
    }

    /// True if this is a multiple of `step`; `None` if it cannot be computed.
    pub(crate) fn is_multiple_of(self, step: Self) -> Option<bool> {
        let (value, step) = self.aligned(step)?;
        (step != 0).then(|| value % step == 0)
    }

    /// Quotient of this number and `step`, rounded down, and true if the division is exact.
    pub(crate) fn times(self, step: Self) -> Option<(i128, bool)> {
        let (value, step) = self.aligned(step)?;
        (step > 0).then(|| (value.div_euclid(step), value.rem_euclid(step) == 0))
    }

    /// This number, `times` times.
    pub(crate) fn scaled(self, times: i128) -> Option<Self> {
        self.digits.checked_mul(times).map(|digits| Self { digits, places: self.places })
    }

    /// The smallest number that both go into.
    pub(crate) fn common_multiple(self, other: Self) -> Option<Self> {
        let (one, two) = self.aligned(other)?;
        if one == 0 || two == 0 {
            return None;
        }
        let digits = (one / greatest_common_divisor(one, two)).checked_mul(two)?;
        Some(Self { digits: digits.abs(), places: self.places.max(other.places) })
    }

    fn aligned(self, other: Self) -> Option<(i128, i128)> {
        let places = self.places.max(other.places);
        let scaled = |number: Self| number.digits.checked_mul(10_i128.pow(places - number.places));
        scaled(self).zip(scaled(other))
    }
}

/// A whole number as JSON; beyond 64 bits only those that JSON readers understand as a float.
pub(crate) fn whole_number(value: i128) -> Option<Number> {
    if let Ok(small) = i64::try_from(value) {
        return Some(Number::from(small));
    }
    if let Ok(large) = u64::try_from(value) {
        return Some(Number::from(large));
    }
    value.to_string().parse().ok().and_then(Number::from_f64)
}

/// Compares two numbers, exactly where that is possible.
pub(crate) fn compare(one: &Number, other: &Number) -> Ordering {
    if let Some((one, other)) = Decimal::of(one).zip(Decimal::of(other)).and_then(|(one, other)| one.aligned(other)) {
        return one.cmp(&other);
    }
    let (one, other) = (one.as_f64().unwrap_or(0.0), other.as_f64().unwrap_or(0.0));
    one.partial_cmp(&other).unwrap_or(Ordering::Equal)
}

/// True if a number has no fraction, however it is written.
pub(crate) fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

fn greatest_common_divisor(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.abs(), other.abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).expect("a number")
    }

    fn decimal(text: &str) -> Decimal {
        Decimal::of(&number(text)).expect("a small number")
    }

    #[test]
    fn numbers_are_reckoned_as_written() {
        assert_eq!(decimal("0.3").is_multiple_of(decimal("0.1")), Some(true));
        assert_eq!(decimal("0.35").is_multiple_of(decimal("0.1")), Some(false));
        assert_eq!(decimal("1e3"), decimal("1000"));
        assert_eq!(decimal("1e-3"), decimal("0.001"));
        assert_eq!(decimal("-7").times(decimal("2")), Some((-4, false)));
        let common = decimal("0.4").common_multiple(decimal("6")).and_then(Decimal::number);
        assert_eq!(common, Some(number("6")));
        assert_eq!(decimal("-0.25").number(), Some(number("-0.25")));
        assert_eq!(decimal("2.50").scaled(2).and_then(Decimal::number), Some(number("5")));
        assert_eq!(Decimal::of(&number("1e308")), None);
        assert_eq!(Decimal::of(&number("1e-300")), None);
        assert_eq!(compare(&number("1e308"), &number("3")), Ordering::Greater);
        assert_eq!(compare(&number("9007199254740993"), &number("9007199254740992")), Ordering::Greater);
        assert!(is_whole(&number("3.0")) && !is_whole(&number("3.5")));
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_again(digits in -1_000_000_000_i64..1_000_000_000, places in 0_u32..6) {
            let decimal = Decimal { digits: i128::from(digits), places };
            let written = decimal.number().expect("a number");
            let read = Decimal::of(&written).expect("small");
            prop_assert_eq!(read.aligned(decimal).map(|(a, b)| a == b), Some(true));
        }
    }
}
