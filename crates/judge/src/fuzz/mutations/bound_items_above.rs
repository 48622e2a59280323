//! One item more than allowed.

use serde_json::Value;

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-items-above",
    phase: Phase::Boundary,
    rank: 0,
    label: Label::Rejected,
    example: r#"{"type": "array", "items": {"type": "integer"}, "maxItems": 2}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let most = site.facts.list.size.most;
    let Value::Array(items) = site.value else { return Vec::new() };
    let Some(size) = usize::try_from(most).ok().filter(|most| *most < 5000) else { return Vec::new() };
    let mut more = items.clone();
    more.resize(size + 1, items.last().cloned().unwrap_or_else(|| Value::from("a")));
    Variant::one(format!("more than {most} items"), more)
}
