//! What a shell would run, harmless if it does.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "string-shell",
    phase: Phase::Property,
    rank: 3,
    label: Label::Either,
    example: r#"{"type": "string"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::TEXT) || site.is_top() {
        return Vec::new();
    }
    Variant::one("shell syntax", "x; echo fuzz $(echo fuzz) `echo fuzz` | cat && echo \"fuzz\" #")
}
