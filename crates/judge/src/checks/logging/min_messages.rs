//! `min_messages`: the server logged at least so often.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::MESSAGES;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, bound, shape};

const NAME: &str = "min_messages";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "At least this many log messages arrived.",
    decode,
    schema: shape::count_schema,
    examples: &[
        holds("1", Seen::Notifications(r#"[{"method": "notifications/message", "params": {"level": "info"}}]"#)),
        holds("0", Seen::Notifications("[]")),
        fails("1", Seen::Notifications(r#"[{"method": "notifications/progress", "params": {}}]"#)),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    bound::least(&bound::CountCheck { name: NAME, node, counted: &MESSAGES }, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::Trial;

    #[test]
    fn what_came_is_shown() {
        let seen = Seen::Notifications(
            r#"[{"method": "notifications/message", "params": {"level": "info", "data": {"n": 1}}}]"#,
        );
        let mismatch = Trial(super::super::CHECKS).mismatch(NAME, "2", seen);
        assert_eq!(mismatch.message, "1 log message arrived, fewer than 2");
        assert_eq!(mismatch.actual, r#"1 log message: info {"n":1}"#);
    }
}
