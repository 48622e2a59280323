//! Some part of an object or a list left out.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "random-drop",
    phase: Phase::Random,
    rank: 1,
    label: Label::Either,
    example: r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#,
    make,
};

fn make(site: &Site<'_, '_>, dice: &mut Dice) -> Vec<Variant> {
    match site.value {
        Value::Object(map) => {
            let mut names: Vec<&String> = map.keys().collect();
            names.sort_unstable();
            let Some(name) = dice.pick(&names) else { return Vec::new() };
            let mut less = map.clone();
            less.shift_remove(*name);
            Variant::one(format!("without `{name}`"), less)
        }
        Value::Array(items) if !items.is_empty() => {
            let mut less = items.clone();
            let at = dice.below(items.len());
            less.remove(at);
            Variant::one(format!("without item {at}"), less)
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}
