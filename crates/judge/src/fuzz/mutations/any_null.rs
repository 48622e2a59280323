//! `null` where a value belongs.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "any-null",
    phase: Phase::Property,
    rank: 0,
    label: Label::Either,
    example: r#"{"type": "string"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if site.is_top() || site.value.is_null() {
        return Vec::new();
    }
    Variant::one("null", Value::Null)
}
