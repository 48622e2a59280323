//! Each of the values that are allowed.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-enum-value",
    phase: Phase::Boundary,
    rank: 3,
    label: Label::Accepted,
    example: r#"{"enum": ["fast", "slow", 3]}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let allowed = site.facts.allowed.iter().flatten().filter(|value| **value != site.value).take(8);
    allowed.map(|value| Variant::new("another allowed value", (*value).clone())).collect()
}
