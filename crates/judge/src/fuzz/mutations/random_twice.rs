//! A part repeated: an item, or a text.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "random-twice",
    phase: Phase::Random,
    rank: 2,
    label: Label::Either,
    example: r#"{"type": "array", "items": {"type": "string"}}"#,
    make,
};

fn make(site: &Site<'_, '_>, dice: &mut Dice) -> Vec<Variant> {
    match site.value {
        Value::Array(items) if !items.is_empty() => {
            let times = 2 + dice.below(6);
            let many: Vec<Value> = (0..times).flat_map(|_| items.iter().cloned()).take(1000).collect();
            Variant::one("items repeated", many)
        }
        Value::String(text) if !text.is_empty() => {
            let times = 2 + dice.below(60);
            Variant::one("text repeated", text.repeat(times.min(1 + 20_000 / text.len())))
        }
        Value::Array(_) | Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Vec::new()
        }
    }
}
