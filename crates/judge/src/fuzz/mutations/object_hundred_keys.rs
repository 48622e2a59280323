//! A hundred unknown properties beside the known ones.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "object-hundred-keys",
    phase: Phase::Property,
    rank: 1,
    label: Label::Either,
    example: r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Value::Object(map) = site.value else { return Vec::new() };
    let mut many = map.clone();
    many.extend((0..100).map(|number| (format!("key{number:02}"), Value::from(number))));
    Variant::one("100 more keys", many)
}
