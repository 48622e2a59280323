//! A quote that ends an SQL string, harmless if it does.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "string-sql",
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
    Variant::one("SQL syntax", "x' OR '1'='1'; SELECT 1 --")
}
