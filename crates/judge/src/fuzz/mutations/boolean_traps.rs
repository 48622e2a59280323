//! What some languages take for a boolean.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "boolean-traps",
    phase: Phase::Property,
    rank: 1,
    label: Label::Either,
    example: r#"{"type": "boolean"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::BOOLEAN) || site.is_top() {
        return Vec::new();
    }
    vec![
        Variant::new("string for true", "true"),
        Variant::new("string for false", "false"),
        Variant::new("zero for false", 0),
        Variant::new("one for true", 1),
    ]
}
