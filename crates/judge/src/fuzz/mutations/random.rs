//! Random mutations of a valid value.

use serde_json::Value;

use crate::fuzz::mutation::Variant;
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

/// Some part of an object or a list left out.
pub(super) fn drop(site: &Site<'_, '_>, dice: &mut Dice) -> Vec<Variant> {
    match site.value {
        Value::Object(map) => {
            let mut names: Vec<&String> = map.keys().collect();
            names.sort_unstable();
            let Some(name) = dice.pick(&names) else { return Vec::new() };
            let mut less = map.clone();
            less.shift_remove(*name);
            Variant::one(format!("without `{name}`"), less)
        }
        Value::Array(items) if !items.is_empty() => {
            let mut less = items.clone();
            let at = dice.below(items.len());
            less.remove(at);
            Variant::one(format!("without item {at}"), less)
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Any number: a few bits, a power of two, a power of ten, and its neighbours.
pub(super) fn number(site: &Site<'_, '_>, dice: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::NUMBER) || site.is_top() {
        return Vec::new();
    }
    let bits = u32::try_from(dice.below(63)).unwrap_or(0);
    let power = 1_i64 << bits;
    let sign = if dice.chance(30) { -1 } else { 1 };
    match dice.below(4) {
        0 => Variant::one("power of two", sign * power),
        1 => Variant::one("next to a power of two", sign * (power - 1)),
        2 => Variant::one("power of ten", sign * 10_i64.pow(bits % 19)),
        _ => Variant::one("any number", sign * i64::try_from(dice.next() >> (64 - bits.max(1))).unwrap_or(0)),
    }
}

/// A text with a few characters changed, added, left out or repeated.
pub(super) fn text(site: &Site<'_, '_>, dice: &mut Dice) -> Vec<Variant> {
    let Value::String(text) = site.value else { return Vec::new() };
    let mut letters: Vec<char> = text.chars().take(400).collect();
    for _ in 0..=dice.below(3) {
        let at = dice.below(letters.len() + 1);
        match dice.below(5) {
            0 if at < letters.len() => {
                letters.remove(at);
            }
            1 if at < letters.len() => letters[at] = odd(dice),
            2 => {
                let part: Vec<char> = letters[..at].to_vec();
                letters.extend(part);
            }
            3 => letters.truncate(at),
            _ => letters.insert(at, odd(dice)),
        }
    }
    Variant::one("changed text", letters.into_iter().collect::<String>())
}

/// Characters that programs stumble over.
const ODD: &str = "\0\u{7}\n\r\t \"'`\\/.%${}[]()<>&;|*?#@:,-+=~^!09Az\u{7f}\u{a0}ßİé\u{301}\u{200b}\u{202e}\u{feff}\u{fffd}中🎉\u{10ffff}";

fn odd(dice: &mut Dice) -> char {
    ODD.chars().nth(dice.below(ODD.chars().count())).unwrap_or('a')
}

/// A part repeated: an item, or a text.
pub(super) fn twice(site: &Site<'_, '_>, dice: &mut Dice) -> Vec<Variant> {
    match site.value {
        Value::Array(items) if !items.is_empty() => {
            let times = 2 + dice.below(6);
            let many: Vec<Value> = (0..times).flat_map(|_| items.iter().cloned()).take(1000).collect();
            Variant::one("items repeated", many)
        }
        Value::String(text) if !text.is_empty() => {
            let times = 2 + dice.below(60);
            Variant::one("text repeated", text.repeat(times.min(1 + 20_000 / text.len())))
        }
        Value::Array(_) | Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Vec::new()
        }
    }
}
