//! An empty list.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "array-empty",
    phase: Phase::Property,
    rank: 0,
    label: Label::Either,
    example: r#"{"type": "array", "items": {"type": "string"}}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::LIST) || site.is_top() {
        return Vec::new();
    }
    Variant::one("empty list", Value::Array(Vec::new()))
}
