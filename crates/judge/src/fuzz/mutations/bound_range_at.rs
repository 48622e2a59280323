//! The smallest and the largest number allowed.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-range-at",
    phase: Phase::Boundary,
    rank: 3,
    label: Label::Either,
    example: r#"{"type": "integer", "minimum": 1, "maximum": 10}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let range = &site.facts.range;
    let ends = [(range.lower, "the smallest allowed"), (range.upper, "the largest allowed")];
    let ends = ends.into_iter().filter(|_| site.may_be(Types::NUMBER));
    ends.filter_map(|(bound, what)| Some((bound.filter(|bound| !bound.exclusive)?, what)))
        .map(|(bound, what)| Variant::new(what, Value::Number(bound.limit.clone())))
        .filter(|variant| variant.value != *site.value)
        .collect()
}
