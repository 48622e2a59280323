//! `cancelled`: the call was cancelled and the server kept silent.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, Outcome, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, outcome, shape};

const NAME: &str = "cancelled";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The call was cancelled (`cancel_after`) and no reply came; `false` asks for a reply.",
    decode,
    schema: shape::flag_schema,
    examples: &[
        holds("true", Seen::Nothing),
        fails("true", Seen::Text("fine")),
        holds("false", Seen::Text("fine")),
        fails("false", Seen::Nothing),
    ],
};

#[derive(Debug)]
struct Cancelled {
    wanted: bool,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let flag = shape::flag(NAME, node, found);
    flag.map(|wanted| shape::planned(NAME, node.span, Cancelled { wanted })).into_iter().collect()
}

impl Check for Cancelled {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let is_cancelled = seen.outcome == Outcome::Cancelled;
        if is_cancelled == self.wanted {
            return Ok(());
        }
        let is_answered = matches!(seen.outcome, Outcome::Result(_) | Outcome::Error(_) | Outcome::Malformed(_));
        let (message, expected, help) = match (self.wanted, is_answered) {
            (true, true) => (
                "the call was answered although it was to be cancelled",
                "no reply after the cancellation",
                Some(
                    "a server should stop work on a cancelled request and not answer it; \
                     a reply before the end of `cancel_after` is correct: shorten it",
                ),
            ),
            (true, false) => ("the call was not cancelled", "no reply after the cancellation", None),
            (false, _) => ("the call was cancelled and not answered", "a reply", None),
        };
        Err(Mismatch {
            message: message.to_owned(),
            expected: expected.to_owned(),
            actual: outcome::described(seen),
            diff: None,
            help: help.map(str::to_owned),
        })
    }

    fn wants_no_reply(&self) -> bool {
        self.wanted
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::check;
    use super::*;

    #[test]
    fn only_a_wanted_silence_is_accepted() {
        assert!(check(NAME, "true").wants_no_reply());
        assert!(!check(NAME, "false").wants_no_reply());
    }

    #[test]
    fn a_call_that_was_never_cancelled_is_told_apart() {
        let late = Observation::new(Outcome::TimedOut { after_ms: 5 }, "");
        assert_eq!(check(NAME, "true").judge(&late).expect_err("not cancelled").actual, "no reply within 5 ms");
    }
}
