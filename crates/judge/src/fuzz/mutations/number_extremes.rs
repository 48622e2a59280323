//! The largest and the smallest, and where integers stop being exact.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "number-extremes",
    phase: Phase::Property,
    rank: 0,
    label: Label::Either,
    example: r#"{"type": "number"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::NUMBER) || site.is_top() {
        return Vec::new();
    }
    vec![
        Variant::new("largest 64-bit integer", i64::MAX),
        Variant::new("beyond 32 bits", 2_147_483_648_i64),
        Variant::new("smallest 64-bit integer", i64::MIN),
        Variant::new("largest float", 1e308),
        Variant::new("beyond exact floats", 9_007_199_254_740_993_i64),
    ]
}
