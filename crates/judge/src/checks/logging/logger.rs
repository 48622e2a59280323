//! `logger`: messages came from these loggers.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::LOGGERS;
use crate::checks::among::TextPresence;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};

const NAME: &str = "logger";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "A log message of each of these loggers arrived.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(
            r#""db""#,
            Seen::Notifications(
                r#"[{"method": "notifications/message", "params": {"level": "info", "logger": "db"}}]"#,
            ),
        ),
        fails(
            r#"["db", "http"]"#,
            Seen::Notifications(
                r#"[{"method": "notifications/message", "params": {"level": "info", "logger": "db"}}]"#,
            ),
        ),
        fails(r#""db""#, Seen::Notifications(r#"[{"method": "notifications/message", "params": {"level": "info"}}]"#)),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    named::occurring(&named::NamesCheck { name: NAME, node, names: &LOGGERS }, TextPresence::Required, found)
}
