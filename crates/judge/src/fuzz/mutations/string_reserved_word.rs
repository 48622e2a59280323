//! A name that means something to the language itself.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "string-reserved-word",
    phase: Phase::Property,
    rank: 4,
    label: Label::Either,
    example: r#"{"type": "string"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::TEXT) || site.is_top() {
        return Vec::new();
    }
    Variant::one("reserved word", "__proto__")
}
