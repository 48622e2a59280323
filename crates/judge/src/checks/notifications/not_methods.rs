//! `not_methods`: no notification of these methods arrived.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::METHODS;
use crate::checks::among::Wanted;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};

const NAME: &str = "not_methods";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "No notification of any of these methods arrived.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(
            r#"["notifications/tools/list_changed"]"#,
            Seen::Notifications(
                r#"[{"method": "notifications/progress", "params": {"progress": 1, "message": "half way"}}, {"method": "notifications/message", "params": {"level": "info", "data": "done", "_meta": {"trace": "secret"}}}]"#,
            ),
        ),
        holds(r#""notifications/progress""#, Seen::Notifications("[]")),
        fails(
            r#"["notifications/progress"]"#,
            Seen::Notifications(
                r#"[{"method": "notifications/progress", "params": {"progress": 1, "message": "half way"}}, {"method": "notifications/message", "params": {"level": "info", "data": "done", "_meta": {"trace": "secret"}}}]"#,
            ),
        ),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    named::occurring(&named::Asked { name: NAME, node, names: &METHODS }, Wanted::No, found)
}
