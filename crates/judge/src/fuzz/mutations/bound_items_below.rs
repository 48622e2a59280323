//! One item less than asked for.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-items-below",
    phase: Phase::Boundary,
    rank: 0,
    label: Label::Rejected,
    example: r#"{"type": "array", "items": {"type": "integer"}, "minItems": 2}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let least = site.facts.list.size.least;
    let Value::Array(items) = site.value else { return Vec::new() };
    let Some(size) = usize::try_from(least).ok().and_then(|least| least.checked_sub(1)) else { return Vec::new() };
    let less: Vec<Value> = items.iter().take(size).cloned().collect();
    Variant::one(format!("fewer than {least} items"), less)
}
