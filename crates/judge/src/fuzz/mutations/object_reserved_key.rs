//! A key that means something to the language itself.

use serde_json::{Value, json};

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "object-reserved-key",
    phase: Phase::Property,
    rank: 3,
    label: Label::Either,
    example: r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Value::Object(map) = site.value else { return Vec::new() };
    let mut more = map.clone();
    more.insert("__proto__".to_owned(), json!({"polluted": true}));
    Variant::one("reserved key", more)
}
