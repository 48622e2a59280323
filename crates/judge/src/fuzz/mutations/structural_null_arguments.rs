//! `null` where the arguments belong.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "structural-null-arguments",
    phase: Phase::Structural,
    rank: 0,
    label: Label::Rejected,
    example: r#"{"type": "object"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.is_top() {
        return Vec::new();
    }
    Variant::one("null arguments", Value::Null)
}
