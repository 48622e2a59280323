//! A property that the schema does not know.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-property-additional",
    phase: Phase::Boundary,
    rank: 1,
    label: Label::Either,
    example: r#"{"type": "object", "additionalProperties": false}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Value::Object(map) = site.value else { return Vec::new() };
    let mut more = map.clone();
    more.insert("unexpected".to_owned(), Value::from("value"));
    Variant::one("unknown property", more)
}
