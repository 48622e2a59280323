//! A list with nothing in it but null.

use serde_json::json;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "array-null-item",
    phase: Phase::Property,
    rank: 2,
    label: Label::Either,
    example: r#"{"type": "array", "items": {"type": "string"}}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::LIST) || site.is_top() {
        return Vec::new();
    }
    Variant::one("list of null", json!([null]))
}
