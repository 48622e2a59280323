//! A value of another type, as a careless caller sends it.

use serde_json::{Value, json};

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "any-wrong-type",
    phase: Phase::Property,
    rank: 2,
    label: Label::Either,
    example: r#"{"type": "string"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if site.is_top() {
        return Vec::new();
    }
    match site.value {
        Value::Null => Variant::one("a string for null", "null"),
        Value::Bool(_) => Variant::one("a string for a boolean", "yes"),
        Value::Number(number) => Variant::one("a string for a number", number.to_string()),
        Value::String(_) => Variant::one("a number for a string", 12345),
        Value::Array(_) => Variant::one("an object for a list", json!({"0": "a"})),
        Value::Object(_) => Variant::one("a list for an object", json!([])),
    }
}
