//! Each required property left out, one at a time.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "structural-missing-required",
    phase: Phase::Structural,
    rank: 1,
    label: Label::Rejected,
    example: r#"{"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "integer"}}, "required": ["y", "x"]}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Value::Object(map) = site.value else { return Vec::new() };
    if !site.is_top() {
        return Vec::new();
    }
    let required = site.facts.record.required.iter().filter(|name| map.contains_key(**name));
    required
        .map(|name| {
            let mut less = map.clone();
            less.shift_remove(*name);
            Variant::new(format!("missing `{name}`"), less)
        })
        .collect()
}
