//! A text that nearly matches the pattern.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-pattern",
    phase: Phase::Boundary,
    rank: 0,
    label: Label::Either,
    example: r#"{"type": "string", "pattern": "^[a-z]+$"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let (Some(_), Value::String(text)) = (site.facts.patterns.first(), site.value) else { return Vec::new() };
    vec![
        Variant::new("match and more", format!("{text} \u{20}!")),
        Variant::new("match and a line break", format!("{text}\n")),
        Variant::new("more and match", format!("!{text}")),
    ]
}
