//! Objects in objects.

use serde_json::json;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "object-deep",
    phase: Phase::Property,
    rank: 0,
    label: Label::Either,
    example: r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::RECORD) || site.is_top() {
        return Vec::new();
    }
    let nested = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({"a": inner}));
    vec![Variant::new("object 20 deep", nested(20)), Variant::new("object 90 deep", nested(90))]
}
