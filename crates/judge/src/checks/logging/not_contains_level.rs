//! `not_contains_level`: no message of these levels was logged.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::LEVELS;
use crate::checks::among::TextPresence;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};
use crate::log_level;

const NAME: &str = "not_contains_level";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "No log message of any of these levels arrived.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(
            r#"["error", "critical"]"#,
            Seen::Notifications(r#"[{"method": "notifications/message", "params": {"level": "info"}}]"#),
        ),
        holds(r#""error""#, Seen::Notifications("[]")),
        fails(
            r#"["error"]"#,
            Seen::Notifications(r#"[{"method": "notifications/message", "params": {"level": "error"}}]"#),
        ),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    log_level::report_unknown(node, found);
    named::occurring(&named::NamesCheck { name: NAME, node, names: &LEVELS }, TextPresence::Forbidden, found)
}
