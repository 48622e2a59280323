//! `contains_data`: these were logged.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::DATA;
use crate::checks::among::{self, TextPresence};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, shape};

const NAME: &str = "contains_data";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "For each of these, a log message contains it; data that is not a text is searched as compact JSON.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(
            r#"["hello", "\"n\":1"]"#,
            Seen::Notifications(
                r#"[{"method": "notifications/message", "params": {"level": "info", "data": "hello \"you\""}},
                    {"method": "notifications/message", "params": {"level": "info", "data": {"n": 1}}}]"#,
            ),
        ),
        fails(
            r#""Hello""#,
            Seen::Notifications(
                r#"[{"method": "notifications/message", "params": {"level": "info", "data": "hello"}}]"#,
            ),
        ),
        fails(r#"["hello"]"#, Seen::Notifications("[]")),
        fails(
            r#""info""#,
            Seen::Notifications(r#"[{"method": "notifications/message", "params": {"level": "info", "data": 1}}]"#),
        ),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    among::decode(&among::TextsCheck { name: NAME, node, wanted: TextPresence::Required, texts: &DATA }, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::Trial;

    #[test]
    fn a_near_match_is_told() {
        let seen = Seen::Notifications(
            r#"[{"method": "notifications/message", "params": {"level": "info", "data": "Started up"}}]"#,
        );
        let mismatch = Trial(super::super::CHECKS).mismatch(NAME, r#""started""#, seen);
        assert_eq!(mismatch.message, "no log message contains `started`");
        assert_eq!(mismatch.help.as_deref(), Some("found `Started`, which differs in case"));
    }
}
