//! Line breaks of every kind.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "string-newlines",
    phase: Phase::Property,
    rank: 2,
    label: Label::Either,
    example: r#"{"type": "string"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::TEXT) || site.is_top() {
        return Vec::new();
    }
    Variant::one("line breaks", "first\r\nsecond\n\tthird\u{2028}fourth\r")
}
