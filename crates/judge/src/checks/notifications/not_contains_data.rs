//! `not_contains_data`: the params of no notification contain any of these.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::{PARAMS, TWO};
use crate::checks::among::{self, TextPresence};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, shape};

const NAME: &str = "not_contains_data";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The params of no notification contain any of these; they are searched as compact JSON without `_meta`.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["no way", "secret"]"#, TWO),
        holds(r#""x""#, Seen::Notifications("[]")),
        fails(r#"["half"]"#, TWO),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    among::decode(&among::TextsCheck { name: NAME, node, wanted: TextPresence::Forbidden, texts: &PARAMS }, found)
}
