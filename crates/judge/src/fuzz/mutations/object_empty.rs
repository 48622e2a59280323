//! An empty object.

use serde_json::{Map, Value};

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "object-empty",
    phase: Phase::Property,
    rank: 0,
    label: Label::Either,
    example: r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::RECORD) || site.is_top() {
        return Vec::new();
    }
    Variant::one("empty object", Value::Object(Map::new()))
}
