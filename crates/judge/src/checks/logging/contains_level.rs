//! `contains_level`: messages of these levels were logged.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::LEVELS;
use crate::checks::among::TextPresence;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};
use crate::log_level;

const NAME: &str = "contains_level";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "A log message of each of these levels arrived.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(
            r#"["info", "error"]"#,
            Seen::Notifications(
                r#"[{"method": "notifications/message", "params": {"level": "error"}},
                    {"method": "notifications/message", "params": {"level": "info"}}]"#,
            ),
        ),
        fails(
            r#""warning""#,
            Seen::Notifications(r#"[{"method": "notifications/message", "params": {"level": "info"}}]"#),
        ),
        fails(r#"["info"]"#, Seen::Notifications("[]")),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    log_level::report_unknown(node, found);
    named::occurring(&named::NamesCheck { name: NAME, node, names: &LEVELS }, TextPresence::Required, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::Trial;

    #[test]
    fn levels_that_were_used_are_shown() {
        let seen = Seen::Notifications(
            r#"[{"method": "notifications/message", "params": {"level": "info"}},
                {"method": "notifications/message", "params": {"level": "alert"}}]"#,
        );
        let mismatch = Trial(super::super::CHECKS).mismatch(NAME, r#""error""#, seen);
        assert_eq!(mismatch.message, "no log message has the level `error`");
        assert_eq!(mismatch.actual, "info → alert");
    }
}
