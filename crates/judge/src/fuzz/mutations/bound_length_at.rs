//! Texts exactly as long and as short as allowed.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

use super::stretched;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-length-at",
    phase: Phase::Boundary,
    rank: 3,
    label: Label::Either,
    example: r#"{"type": "string", "minLength": 2, "maxLength": 5}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::TEXT) {
        return Vec::new();
    }
    let span = site.facts.length;
    let ends = [(span.least, "as short as allowed"), (span.most, "as long as allowed")];
    let ends = ends.into_iter().filter(|(length, _)| (1..100_000).contains(length));
    ends.filter_map(|(length, what)| Some(Variant::new(what, stretched(site.value, usize::try_from(length).ok()?))))
        .filter(|variant| variant.value != *site.value)
        .collect()
}
