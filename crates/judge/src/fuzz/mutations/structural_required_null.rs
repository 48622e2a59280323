//! Each required property null, all at the same time.

use serde_json::{Map, Value};

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "structural-required-null",
    phase: Phase::Structural,
    rank: 2,
    label: Label::Either,
    example: r#"{"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Value::Object(map) = site.value else { return Vec::new() };
    if !site.is_top() || map.is_empty() {
        return Vec::new();
    }
    let nulls: Map<String, Value> = map.keys().map(|name| (name.clone(), Value::Null)).collect();
    Variant::one("everything null", nulls)
}
