//! One character less than asked for.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

use super::stretched;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-length-below",
    phase: Phase::Boundary,
    rank: 0,
    label: Label::Rejected,
    example: r#"{"type": "string", "minLength": 2}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let least = site.facts.length.least;
    let Some(length) = usize::try_from(least).ok().and_then(|least| least.checked_sub(1)) else { return Vec::new() };
    if !site.may_be(Types::TEXT) || length > 100_000 {
        return Vec::new();
    }
    Variant::one(format!("shorter than {least} characters"), stretched(site.value, length))
}
