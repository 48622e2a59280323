//! The same item twice where all must differ.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-items-duplicate",
    phase: Phase::Boundary,
    rank: 1,
    label: Label::Rejected,
    example: r#"{"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "minItems": 1}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Value::Array(items) = site.value else { return Vec::new() };
    let Some(first) = items.first().filter(|_| site.facts.list.unique) else { return Vec::new() };
    let mut twice = items.clone();
    twice.push(first.clone());
    Variant::one("the same item twice", twice)
}
