//! A thousand items.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "array-thousand",
    phase: Phase::Property,
    rank: 1,
    label: Label::Either,
    example: r#"{"type": "array", "items": {"type": "string"}}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::LIST) || site.is_top() {
        return Vec::new();
    }
    let item = match site.value {
        Value::Array(items) => items.first().cloned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => None,
    };
    let items = vec![item.unwrap_or_else(|| Value::from("a")); 1000];
    Variant::one("list of 1000", items)
}
