//! `not_methods`: no notification of these methods arrived.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::{METHODS, TWO};
use crate::checks::among::TextPresence;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};

const NAME: &str = "not_methods";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "No notification of any of these methods arrived.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["notifications/tools/list_changed"]"#, TWO),
        holds(r#""notifications/progress""#, Seen::Notifications("[]")),
        fails(r#"["notifications/progress"]"#, TWO),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    named::occurring(&named::NamesCheck { name: NAME, node, names: &METHODS }, TextPresence::Forbidden, found)
}
