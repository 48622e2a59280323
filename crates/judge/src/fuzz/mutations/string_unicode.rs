//! Letters, marks, joiners and directions from all over Unicode.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "string-unicode",
    phase: Phase::Property,
    rank: 0,
    label: Label::Either,
    example: r#"{"type": "string"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::TEXT) || site.is_top() {
        return Vec::new();
    }
    Variant::one("unicode", "Zoë 日本語 عربي 🎉👩‍👩‍👧 e\u{301} \u{200b}\u{202e}\u{feff}\u{10ffff}")
}
