//! The text that makes careless regular expressions try everything.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "string-repetitive",
    phase: Phase::Property,
    rank: 2,
    label: Label::Either,
    example: r#"{"type": "string"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::TEXT) || site.is_top() {
        return Vec::new();
    }
    Variant::one("repetitive string", format!("{}!", "a".repeat(40)))
}
