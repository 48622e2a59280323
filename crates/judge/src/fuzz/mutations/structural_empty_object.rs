//! No arguments at all.

use serde_json::{Map, Value};

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "structural-empty-object",
    phase: Phase::Structural,
    rank: 0,
    label: Label::Either,
    example: r#"{"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.is_top() {
        return Vec::new();
    }
    Variant::one("empty object", Value::Object(Map::new()))
}
