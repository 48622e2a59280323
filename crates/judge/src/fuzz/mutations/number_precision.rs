//! Floats that cannot be written exactly.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "number-precision",
    phase: Phase::Property,
    rank: 3,
    label: Label::Either,
    example: r#"{"type": "number"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::NUMBER) || site.is_top() {
        return Vec::new();
    }
    vec![Variant::new("float precision", 0.1 + 0.2), Variant::new("tiny float", 1e-9)]
}
