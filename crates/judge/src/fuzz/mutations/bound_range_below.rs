//! Just below the smallest number allowed.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

use super::beside;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-range-below",
    phase: Phase::Boundary,
    rank: 0,
    label: Label::Rejected,
    example: r#"{"type": "integer", "minimum": 1}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Some(lower) = site.facts.range.lower.filter(|_| site.may_be(Types::NUMBER)) else { return Vec::new() };
    if lower.exclusive {
        return Variant::one(format!("not above {}", lower.limit), Value::Number(lower.limit.clone()));
    }
    let Some(next) = beside(lower.limit, -1) else { return Vec::new() };
    Variant::one(format!("below {}", lower.limit), Value::Number(next))
}
