//! `in_order`: notifications of these methods arrived one after the other.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::{METHODS, TWO};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, named, shape};

const NAME: &str = "in_order";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "Notifications of these methods arrived one after the other, perhaps with others between them.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["notifications/progress", "notifications/message"]"#, TWO),
        fails(r#"["notifications/message", "notifications/progress"]"#, TWO),
        fails(r#"["notifications/progress", "notifications/progress"]"#, TWO),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    named::in_order(&named::NamesCheck { name: NAME, node, names: &METHODS }, found)
}
