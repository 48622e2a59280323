//! `in_order`: notifications of these methods arrived one after the other.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::METHODS;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};

const NAME: &str = "in_order";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "Notifications of these methods arrived one after the other, perhaps with others between them.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(
            r#"["notifications/progress", "notifications/message"]"#,
            Seen::Notifications(
                r#"[{"method": "notifications/progress", "params": {"progress": 1, "message": "half way"}}, {"method": "notifications/message", "params": {"level": "info", "data": "done", "_meta": {"trace": "secret"}}}]"#,
            ),
        ),
        fails(
            r#"["notifications/message", "notifications/progress"]"#,
            Seen::Notifications(
                r#"[{"method": "notifications/progress", "params": {"progress": 1, "message": "half way"}}, {"method": "notifications/message", "params": {"level": "info", "data": "done", "_meta": {"trace": "secret"}}}]"#,
            ),
        ),
        fails(
            r#"["notifications/progress", "notifications/progress"]"#,
            Seen::Notifications(
                r#"[{"method": "notifications/progress", "params": {"progress": 1, "message": "half way"}}, {"method": "notifications/message", "params": {"level": "info", "data": "done", "_meta": {"trace": "secret"}}}]"#,
            ),
        ),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    named::in_order(&named::Asked { name: NAME, node, names: &METHODS }, found)
}
