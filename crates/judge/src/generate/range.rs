//! Numbers between bounds, in steps.

use std::cmp::Ordering;

use serde_json::Number;

use super::decimal::{self, Decimal};

/// Requirements on a number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Range<'a> {
    pub(crate) lower: Option<Bound<'a>>,
    pub(crate) upper: Option<Bound<'a>>,
    /// The divisors of the number.
    pub(crate) steps: Vec<&'a Number>,
}

/// One end of a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound<'a> {
    pub(crate) limit: &'a Number,
    pub(crate) exclusive: bool,
}

/// Kind of the wanted numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberKind {
    /// Whole numbers only.
    Whole,
    /// Numbers with a fraction only.
    Fraction,
    /// Any number; whole ones are preferred.
    Any,
}

impl<'a> Range<'a> {
    /// Asks for numbers above `limit` (or equal to it, unless exclusive).
    pub(crate) fn raise_lower(&mut self, limit: &'a Number, exclusive: bool) {
        let order = self.lower.map_or(Ordering::Greater, |lower| decimal::compare(limit, lower.limit));
        if order == Ordering::Greater || order == Ordering::Equal && exclusive {
            self.lower = Some(Bound { limit, exclusive });
        }
    }

    /// Asks for numbers below `limit` (or equal to it, unless exclusive).
    pub(crate) fn drop_upper(&mut self, limit: &'a Number, exclusive: bool) {
        let order = self.upper.map_or(Ordering::Less, |upper| decimal::compare(limit, upper.limit));
        if order == Ordering::Less || order == Ordering::Equal && exclusive {
            self.upper = Some(Bound { limit, exclusive });
        }
    }

    /// True if a number is what is asked.
    pub(crate) fn holds(&self, number: &Number) -> bool {
        let above = self.lower.is_none_or(|lower| match decimal::compare(number, lower.limit) {
            Ordering::Greater => true,
            Ordering::Equal => !lower.exclusive,
            Ordering::Less => false,
        });
        let below = self.upper.is_none_or(|upper| match decimal::compare(number, upper.limit) {
            Ordering::Less => true,
            Ordering::Equal => !upper.exclusive,
            Ordering::Greater => false,
        });
        above && below && self.steps.iter().all(|step| is_multiple(number, step))
    }

    /// A number in the range: near `preferred`, another one for each variant as long as there are others.
    pub(crate) fn number(&self, wanted: NumberKind, preferred: i64, variant: u32) -> Option<Number> {
        let preferred = i128::from(preferred);
        let fits = |number: &Number| self.holds(number) && wanted.holds(number);
        let found = match wanted {
            NumberKind::Whole => self.in_steps(Some(Decimal::ONE), preferred, variant).filter(fits),
            NumberKind::Any => {
                let whole = if self.steps.is_empty() { Some(Decimal::ONE) } else { None };
                self.in_steps(whole, preferred, variant).filter(fits).or_else(|| self.between(variant).filter(fits))
            }
            NumberKind::Fraction => {
                self.between(variant).filter(fits).or_else(|| self.with_fraction(preferred, variant))
            }
        };
        found.or_else(|| self.extremes(variant).into_iter().find(fits))
    }

    /// A multiple of all steps (and of `also`) in the range.
    fn in_steps(&self, also: Option<Decimal>, preferred: i128, variant: u32) -> Option<Number> {
        let steps = self.steps.iter().map(|step| Decimal::of(step));
        let step = steps.chain(also.map(Some)).reduce(|one, other| one?.common_multiple(other?))??;
        let first = match self.lower {
            Some(lower) => {
                let (times, even) = Decimal::of(lower.limit)?.times(step)?;
                Some(if even && !lower.exclusive { times } else { times + 1 })
            }
            None => None,
        };
        let last = match self.upper {
            Some(upper) => {
                let (times, even) = Decimal::of(upper.limit)?.times(step)?;
                Some(if even && upper.exclusive { times - 1 } else { times })
            }
            None => None,
        };
        let (near, even) = Decimal::whole(preferred).times(step)?;
        // Nothing near but zero says little: one step is the better small number.
        let near = if even { near } else { near.max(1) };
        let times = nth_around(near, first, last, i128::from(variant))?;
        step.scaled(times)?.number()
    }

    /// A number strictly between two bounds that have no whole number between them.
    fn between(&self, variant: u32) -> Option<Number> {
        let (lower, upper) = (self.lower?.limit.as_f64()?, self.upper?.limit.as_f64()?);
        let parts = f64::from(variant % 64 + 2);
        // The first try is the middle; shorter decimals read better than exact halves.
        let middle = lower + (upper - lower) / parts;
        let rounded =
            (0..12).map(|places| round_to(middle, places)).find(|rounded| lower < *rounded && *rounded < upper);
        Number::from_f64(rounded.unwrap_or(middle))
    }

    fn with_fraction(&self, preferred: i128, variant: u32) -> Option<Number> {
        let whole = Range { steps: Vec::new(), ..self.clone() };
        let halves = [5, 25, 75, -5, -25].into_iter().filter_map(|digits: i128| {
            let base = whole.in_steps(Some(Decimal::ONE), preferred, variant)?.as_i128()?;
            let hundredths = base.checked_mul(100)? + if digits.abs() == 5 { digits * 10 } else { digits };
            Number::from_f64(format!("{hundredths}e-2").parse().ok()?)
        });
        let steps = self.steps.first().and_then(|step| Decimal::of(step)).into_iter().flat_map(|step| {
            let first =
                self.lower.and_then(|lower| Decimal::of(lower.limit)?.times(step)).map_or(1, |(times, _)| times);
            (0..16).filter_map(move |offset| step.scaled(first + offset + i128::from(variant))?.number())
        });
        halves.chain(steps).find(|number| self.holds(number) && NumberKind::Fraction.holds(number))
    }

    /// The numbers at the ends, for bounds beyond exact reckoning.
    fn extremes(&self, variant: u32) -> Vec<Number> {
        let mut found = Vec::new();
        for bound in [self.lower, self.upper].into_iter().flatten() {
            found.push(bound.limit.clone());
            let Some(limit) = bound.limit.as_f64() else { continue };
            for beside in [limit.next_up(), limit.next_down(), limit * 2.0, limit / 2.0, limit + f64::from(variant)] {
                found.extend(Number::from_f64(beside));
            }
        }
        found.push(Number::from(0));
        found.extend(self.steps.iter().map(|step| (*step).clone()));
        let turn = variant as usize % found.len();
        found.rotate_left(turn);
        found
    }
}

impl NumberKind {
    fn holds(self, number: &Number) -> bool {
        match self {
            Self::Any => true,
            Self::Whole => decimal::is_whole(number),
            Self::Fraction => !decimal::is_whole(number),
        }
    }
}

/// True if a number is a multiple of a step; unknown beyond exact reckoning, which the oracle then decides.
pub(crate) fn is_multiple(number: &Number, step: &Number) -> bool {
    Decimal::of(number).zip(Decimal::of(step)).and_then(|(number, step)| number.is_multiple_of(step)).unwrap_or(true)
}

/// The `nth` whole number of a range, counted from `near` upwards, then from the bottom, wrapping around.
fn nth_around(near: i128, first: Option<i128>, last: Option<i128>, nth: i128) -> Option<i128> {
    match (first, last) {
        (Some(first), Some(last)) => {
            let size = last.checked_sub(first)?.checked_add(1).filter(|size| *size > 0)?;
            let near = near.clamp(first, last);
            Some(first + (near - first + nth) % size)
        }
        (Some(first), None) => near.max(first).checked_add(nth),
        (None, Some(last)) if near.checked_add(nth).is_some_and(|found| found <= last) => Some(near + nth),
        (None, Some(last)) => near.min(last).checked_sub(nth),
        (None, None) => Some(near + nth),
    }
}

fn round_to(number: f64, places: i32) -> f64 {
    let scale = 10_f64.powi(places);
    (number * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn number(value: &Value) -> &Number {
        value.as_number().expect("a number")
    }

    #[test]
    fn numbers_fit_their_bounds_and_steps() {
        let cases = [
            (json!([null, null, []]), NumberKind::Whole),
            (json!([3, 3, []]), NumberKind::Any),
            (json!([-9, -5, [2]]), NumberKind::Whole),
            (json!([0.1, 0.2, []]), NumberKind::Any),
            (json!([0.11, 0.35, [0.05]]), NumberKind::Any),
            (json!([2.5, null, [0.5, 3]]), NumberKind::Whole),
            (json!([1e300, null, []]), NumberKind::Whole),
            (json!([null, -1e300, []]), NumberKind::Any),
            (json!([0, 1, []]), NumberKind::Fraction),
            (json!([5, 6, [0.25]]), NumberKind::Fraction),
            (json!([18_446_744_073_709_551_610_u64, 18_446_744_073_709_551_615_u64, []]), NumberKind::Whole),
            (json!([0.000_001, 0.000_002, []]), NumberKind::Any),
        ];
        for (asked, wanted) in &cases {
            let mut range = Range::default();
            if asked[0].is_number() {
                range.raise_lower(number(&asked[0]), false);
            }
            if asked[1].is_number() {
                range.drop_upper(number(&asked[1]), false);
            }
            range.steps = asked[2].as_array().expect("steps").iter().map(number).collect();
            for variant in 0..5 {
                let found = range.number(*wanted, 1, variant).unwrap_or_else(|| panic!("{asked} {variant}"));
                assert!(range.holds(&found) && wanted.holds(&found), "{asked}: {found}");
            }
        }
    }

    #[test]
    fn variants_differ_as_long_as_there_are_others() {
        let (low, high) = (json!(1), json!(3));
        let mut range = Range::default();
        range.raise_lower(number(&low), false);
        range.drop_upper(number(&high), false);
        let seen: Vec<i64> =
            (0..4).filter_map(|variant| range.number(NumberKind::Whole, 2, variant)?.as_i64()).collect();
        assert_eq!(seen, [2, 3, 1, 2]);
    }

    #[test]
    fn contradictions_have_no_number() {
        let (low, high, step) = (json!(5), json!(6), json!(7));
        let mut range = Range::default();
        range.raise_lower(number(&low), true);
        range.drop_upper(number(&high), true);
        assert_eq!(range.number(NumberKind::Whole, 1, 0), None);
        assert!(range.number(NumberKind::Any, 1, 0).is_some());
        range.steps.push(number(&step));
        assert_eq!(range.number(NumberKind::Any, 1, 0), None);
    }
}
