//! Nearly one of the values that are allowed.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, same};

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-enum-neighbour",
    phase: Phase::Boundary,
    rank: 0,
    label: Label::Rejected,
    example: r#"{"enum": ["fast", "slow", 3]}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Some(allowed) = site.facts.allowed.as_ref().filter(|allowed| !allowed.is_empty()) else { return Vec::new() };
    let mut near: Vec<Variant> = Vec::new();
    for value in allowed.iter().take(2) {
        match value {
            Value::String(text) => {
                let swapped =
                    if text.chars().any(char::is_lowercase) { text.to_uppercase() } else { text.to_lowercase() };
                near.push(Variant::new("allowed value in other case", swapped));
                near.push(Variant::new("allowed value and a space", format!("{text} ")));
            }
            Value::Number(number) => {
                let next = number.as_i64().and_then(|number| number.checked_add(1));
                near.extend(next.map(|next| Variant::new("next to an allowed value", next)));
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }
    near.push(Variant::new("not an allowed value", "none-of-these"));
    near.retain(|variant| !allowed.iter().any(|value| same(value, &variant.value)));
    near
}
