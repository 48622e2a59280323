//! Just above the largest number allowed.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

use super::beside;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-range-above",
    phase: Phase::Boundary,
    rank: 0,
    label: Label::Rejected,
    example: r#"{"type": "integer", "maximum": 10}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Some(upper) = site.facts.range.upper.filter(|_| site.may_be(Types::NUMBER)) else { return Vec::new() };
    if upper.exclusive {
        return Variant::one(format!("not below {}", upper.limit), Value::Number(upper.limit.clone()));
    }
    let Some(next) = beside(upper.limit, 1) else { return Vec::new() };
    Variant::one(format!("above {}", upper.limit), Value::Number(next))
}
