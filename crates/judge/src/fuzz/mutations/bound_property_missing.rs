//! A required property of an inner object left out.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-property-missing",
    phase: Phase::Boundary,
    rank: 0,
    label: Label::Rejected,
    example: r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Value::Object(map) = site.value else { return Vec::new() };
    if site.is_top() {
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
