//! One character more than allowed.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

use super::stretched;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-length-above",
    phase: Phase::Boundary,
    rank: 0,
    label: Label::Rejected,
    example: r#"{"type": "string", "maxLength": 5}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let most = site.facts.length.most;
    let Some(length) = usize::try_from(most).ok().filter(|most| *most < 100_000) else { return Vec::new() };
    if !site.may_be(Types::TEXT) {
        return Vec::new();
    }
    Variant::one(format!("longer than {most} characters"), stretched(site.value, length + 1))
}
