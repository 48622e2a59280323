//! Any number: a few bits, a power of two, a power of ten, and its neighbours.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "random-number",
    phase: Phase::Random,
    rank: 0,
    label: Label::Either,
    example: r#"{"type": "number"}"#,
    make,
};

fn make(site: &Site<'_, '_>, dice: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::NUMBER) || site.is_top() {
        return Vec::new();
    }
    let bits = u32::try_from(dice.below(63)).unwrap_or(0);
    let power = 1_i64 << bits;
    let sign = if dice.chance(30) { -1 } else { 1 };
    match dice.below(4) {
        0 => Variant::one("power of two", sign * power),
        1 => Variant::one("beside a power of two", sign * (power - 1)),
        2 => Variant::one("power of ten", sign * 10_i64.pow(bits % 19)),
        _ => Variant::one("any number", sign * i64::try_from(dice.next() >> (64 - bits.max(1))).unwrap_or(0)),
    }
}
