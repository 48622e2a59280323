//! Mutations at and beyond the bounds that a schema sets.

use serde_json::{Number, Value};

use crate::fuzz::mutation::Variant;
use crate::fuzz::site::Site;
use crate::generate::{Decimal, Dice, Types, same, whole_number};

/// Maximum number of properties that are left out in turn: more would repeat the same.
const MOST: usize = 60;

/// Values next to an allowed one.
pub(super) fn enum_neighbour(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Some(allowed) = site.facts.allowed.as_ref().filter(|allowed| !allowed.is_empty()) else { return Vec::new() };
    let mut near: Vec<Variant> = Vec::new();
    for value in allowed.iter().take(2) {
        match value {
            Value::String(text) => {
                let swapped =
                    if text.chars().any(char::is_lowercase) { text.to_uppercase() } else { text.to_lowercase() };
                near.push(Variant::new("allowed value in other case", swapped));
                near.push(Variant::new("allowed value and a space", format!("{text} ")));
            }
            Value::Number(number) => {
                let next = number.as_i64().and_then(|number| number.checked_add(1));
                near.extend(next.map(|next| Variant::new("next to an allowed value", next)));
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }
    near.push(Variant::new("not an allowed value", "none-of-these"));
    near.retain(|variant| !allowed.iter().any(|value| same(value, &variant.value)));
    near
}

/// The other allowed values.
pub(super) fn enum_value(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let allowed = site.facts.allowed.iter().flatten().filter(|value| **value != site.value).take(8);
    allowed.map(|value| Variant::new("another allowed value", (*value).clone())).collect()
}

/// A text that is nearly of the format.
pub(super) fn format(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Some(format) = site.facts.formats.first() else { return Vec::new() };
    let text = match *format {
        "date" => "2024-02-30",
        "date-time" => "2024-01-15T25:00:00Z",
        "time" => "24:61:00Z",
        "duration" => "1 hour",
        "email" | "idn-email" => "user@",
        "uri" | "iri" | "url" => "http//example com",
        "uuid" => "f81d4fae-7dec-41d0-8765-00a0c91e6bfg",
        "ipv4" => "256.0.0.1",
        "ipv6" => "2001:db8:::1",
        "hostname" | "idn-hostname" => "-example-.com",
        "json-pointer" => "a/b",
        "regex" => "[a-",
        _ => "not of this format",
    };
    Variant::one(format!("no {format}"), text)
}

/// One item too many.
pub(super) fn items_above(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let most = site.facts.list.size.most;
    let Value::Array(items) = site.value else { return Vec::new() };
    let Some(size) = usize::try_from(most).ok().filter(|most| *most < 5000) else { return Vec::new() };
    let mut more = items.clone();
    more.resize(size + 1, items.last().cloned().unwrap_or_else(|| Value::from("a")));
    Variant::one(format!("more than {most} items"), more)
}

/// One item too few.
pub(super) fn items_below(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let least = site.facts.list.size.least;
    let Value::Array(items) = site.value else { return Vec::new() };
    let Some(size) = usize::try_from(least).ok().and_then(|least| least.checked_sub(1)) else { return Vec::new() };
    let less: Vec<Value> = items.iter().take(size).cloned().collect();
    Variant::one(format!("fewer than {least} items"), less)
}

/// The same item twice, where all must differ.
pub(super) fn items_duplicate(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Value::Array(items) = site.value else { return Vec::new() };
    let Some(first) = items.first().filter(|_| site.facts.list.unique) else { return Vec::new() };
    let mut twice = items.clone();
    twice.push(first.clone());
    Variant::one("the same item twice", twice)
}

/// A text that is one character too long.
pub(super) fn length_above(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let most = site.facts.length.most;
    let Some(length) = usize::try_from(most).ok().filter(|most| *most < 100_000) else { return Vec::new() };
    if !site.may_be(Types::TEXT) {
        return Vec::new();
    }
    Variant::one(format!("longer than {most} characters"), stretched(site.value, length + 1))
}

/// Texts exactly as long and as short as allowed.
pub(super) fn length_at(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::TEXT) {
        return Vec::new();
    }
    let span = site.facts.length;
    let ends = [(span.least, "as short as allowed"), (span.most, "as long as allowed")];
    let ends = ends.into_iter().filter(|(length, _)| (1..100_000).contains(length));
    ends.filter_map(|(length, what)| Some(Variant::new(what, stretched(site.value, usize::try_from(length).ok()?))))
        .filter(|variant| variant.value != *site.value)
        .collect()
}

/// A text that is one character too short.
pub(super) fn length_below(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let least = site.facts.length.least;
    let Some(length) = usize::try_from(least).ok().and_then(|least| least.checked_sub(1)) else { return Vec::new() };
    if !site.may_be(Types::TEXT) || length > 100_000 {
        return Vec::new();
    }
    Variant::one(format!("shorter than {least} characters"), stretched(site.value, length))
}

/// A number between two multiples.
pub(super) fn multiple(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Some(step) = site.facts.range.steps.first() else { return Vec::new() };
    let Some(number) = site.value.as_i64().and_then(|number| number.checked_add(1)) else { return Vec::new() };
    Variant::one(format!("no multiple of {step}"), number)
}

/// Texts that nearly match the pattern.
pub(super) fn pattern(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let (Some(_), Value::String(text)) = (site.facts.patterns.first(), site.value) else { return Vec::new() };
    vec![
        Variant::new("match and more", format!("{text} \u{20}!")),
        Variant::new("match and a line break", format!("{text}\n")),
        Variant::new("more and match", format!("!{text}")),
    ]
}

/// A property that is not declared.
pub(super) fn property_additional(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Value::Object(map) = site.value else { return Vec::new() };
    let mut more = map.clone();
    more.insert("unexpected".to_owned(), Value::from("value"));
    Variant::one("unknown property", more)
}

/// Each required property left out.
pub(super) fn property_missing(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if site.is_top() { Vec::new() } else { without_required(site) }
}

/// The object at this place without each of its required properties in turn.
pub(super) fn without_required(site: &Site<'_, '_>) -> Vec<Variant> {
    let Value::Object(map) = site.value else { return Vec::new() };
    let required = site.facts.record.required.iter().filter(|name| map.contains_key(**name)).take(MOST);
    required
        .map(|name| {
            let mut less = map.clone();
            less.shift_remove(*name);
            Variant::new(format!("missing `{name}`"), less)
        })
        .collect()
}

/// A number above the largest allowed.
pub(super) fn range_above(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Some(upper) = site.facts.range.upper.filter(|_| site.may_be(Types::NUMBER)) else { return Vec::new() };
    if upper.exclusive {
        return Variant::one(format!("not below {}", upper.limit), Value::Number(upper.limit.clone()));
    }
    let Some(next) = beside(upper.limit, 1) else { return Vec::new() };
    Variant::one(format!("above {}", upper.limit), Value::Number(next))
}

/// The smallest and the largest number allowed.
pub(super) fn range_at(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let range = &site.facts.range;
    let ends = [(range.lower, "the smallest allowed"), (range.upper, "the largest allowed")];
    let ends = ends.into_iter().filter(|_| site.may_be(Types::NUMBER));
    ends.filter_map(|(bound, what)| Some((bound.filter(|bound| !bound.exclusive)?, what)))
        .map(|(bound, what)| Variant::new(what, Value::Number(bound.limit.clone())))
        .filter(|variant| variant.value != *site.value)
        .collect()
}

/// A number below the smallest allowed.
pub(super) fn range_below(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Some(lower) = site.facts.range.lower.filter(|_| site.may_be(Types::NUMBER)) else { return Vec::new() };
    if lower.exclusive {
        return Variant::one(format!("not above {}", lower.limit), Value::Number(lower.limit.clone()));
    }
    let Some(next) = beside(lower.limit, -1) else { return Vec::new() };
    Variant::one(format!("below {}", lower.limit), Value::Number(next))
}

/// A text of exactly this length that begins like another.
fn stretched(value: &Value, length: usize) -> String {
    let text = value.as_str().unwrap_or_default();
    text.chars().chain(std::iter::repeat('a')).take(length).collect()
}

/// The next number beyond a bound: one more or less, or the next float where whole numbers end.
fn beside(limit: &Number, direction: i64) -> Option<Number> {
    let whole = Decimal::of(limit).and_then(Decimal::number).and_then(|number| number.as_i128());
    if let Some(next) = whole.and_then(|whole| whole_number(whole + i128::from(direction))) {
        return Some(next);
    }
    let limit = limit.as_f64()?;
    Number::from_f64(if direction > 0 {
        limit + limit.abs().max(1.0) * 0.5
    } else {
        limit - limit.abs().max(1.0) * 0.5
    })
}
