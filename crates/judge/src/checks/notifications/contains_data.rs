//! `contains_data`: the params of notifications contain these.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::{PARAMS, TWO};
use crate::checks::among::{self, TextPresence};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, shape};

const NAME: &str = "contains_data";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "For each of these, the params of a notification contain it; they are searched as compact JSON without `_meta`.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["half way", "\"level\":\"info\""]"#, TWO),
        fails(r#"["half way", "no way"]"#, TWO),
        fails(r#""secret""#, TWO),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    among::decode(&among::TextsCheck { name: NAME, node, wanted: TextPresence::Required, texts: &PARAMS }, found)
}
