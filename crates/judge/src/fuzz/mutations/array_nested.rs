//! Lists in lists.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "array-nested",
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
    let nested = |depth: usize| (0..depth).fold(Value::Array(Vec::new()), |inner, _| Value::Array(vec![inner]));
    vec![Variant::new("list 20 deep", nested(20)), Variant::new("list 90 deep", nested(90))]
}
