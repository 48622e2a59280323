//! `max_messages`: the server logged at most so often.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::MESSAGES;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, bound, shape};

const NAME: &str = "max_messages";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "At most this many log messages arrived.",
    decode,
    schema: shape::count_schema,
    examples: &[
        holds("0", Seen::Notifications(r#"[{"method": "notifications/progress", "params": {}}]"#)),
        fails("0", Seen::Notifications(r#"[{"method": "notifications/message", "params": {"level": "info"}}]"#)),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    bound::most(&bound::CountCheck { name: NAME, node, counted: &MESSAGES }, found)
}
