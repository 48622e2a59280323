//! A fraction, where whole numbers may be expected.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "number-fraction",
    phase: Phase::Property,
    rank: 1,
    label: Label::Either,
    example: r#"{"type": "number"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::NUMBER) || site.is_top() {
        return Vec::new();
    }
    Variant::one("fraction", 1.5)
}
