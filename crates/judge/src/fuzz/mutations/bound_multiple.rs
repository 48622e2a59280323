//! Between two of the steps that are allowed.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-multiple",
    phase: Phase::Boundary,
    rank: 1,
    label: Label::Either,
    example: r#"{"type": "integer", "multipleOf": 5}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Some(step) = site.facts.range.steps.first() else { return Vec::new() };
    let Some(number) = site.value.as_i64().and_then(|number| number.checked_add(1)) else { return Vec::new() };
    Variant::one(format!("no multiple of {step}"), number)
}
