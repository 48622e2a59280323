//! `methods`: notifications of these methods arrived.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::{METHODS, TWO};
use crate::checks::among::TextPresence;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};

const NAME: &str = "methods";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "A notification of each of these methods arrived.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["notifications/message", "notifications/progress"]"#, TWO),
        fails(r#"["notifications/progress", "notifications/tools/list_changed"]"#, TWO),
        fails(r#""notifications/progress""#, Seen::Notifications("[]")),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    named::occurring(&named::NamesCheck { name: NAME, node, names: &METHODS }, TextPresence::Required, found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::Trial;

    #[test]
    fn the_method_that_was_meant_is_told() {
        let seen = Seen::Notifications(r#"[{"method": "notifications/progress"}]"#);
        let mismatch = Trial(super::super::CHECKS).mismatch(NAME, r#""progress""#, seen);
        assert_eq!(mismatch.message, "no `progress` arrived");
        assert_eq!(mismatch.help.as_deref(), Some("did you mean `notifications/progress`, which is there?"));
    }
}
