//! `contains_any`: the text holds at least one of these.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, contains, shape};
use crate::excerpt::{self, quoted};
use crate::nearest_match;

const NAME: &str = "contains_any";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The text contains at least one of these.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["one", "three"]"#, Seen::Text("one")),
        fails(r#"["one", "three"]"#, Seen::Text("two")),
        fails(r#""one""#, Seen::Text("two")),
    ],
};

#[derive(Debug)]
struct ContainsAny {
    parts: Vec<String>,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let parts: Vec<String> = shape::texts(NAME, node, found).iter().map(|w| w.text.to_owned()).collect();
    if parts.is_empty() { Vec::new() } else { vec![shape::planned(NAME, node.span, ContainsAny { parts })] }
}

impl Check for ContainsAny {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        if self.parts.iter().any(|part| seen.text.contains(part)) {
            return Ok(());
        }
        let near = self.parts.iter().find_map(|part| nearest_match::find(&seen.text, part));
        let view = near.as_ref().map_or(0..0, |near| near.range.clone());
        let parts: Vec<String> = self.parts.iter().map(|part| quoted(part)).collect();
        Err(Mismatch {
            message: format!("the text contains none of the {} texts asked for", parts.len()),
            expected: format!("one of {}", excerpt::around(&parts.join(", "), 0..0)),
            actual: excerpt::of_text(seen, view),
            diff: None,
            help: near
                .map(|near| near.help)
                .or_else(|| self.parts.iter().find_map(|part| contains::elsewhere(seen, part))),
        })
    }
}
