//! Objects in objects.

use serde_json::{Map, Value};

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
    let nested = |depth: usize| {
        (0..depth).fold(Value::Object(Map::new()), |inner, _| Value::Object(Map::from_iter([("a".to_owned(), inner)])))
    };
    // What breaks at 20 breaks at 90; the other way round there may be a limit in between.
    vec![Variant::new("object 90 deep", nested(90)), Variant::new("object 20 deep", nested(20))]
}
