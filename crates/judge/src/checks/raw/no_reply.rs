//! `no_reply`: nothing came back.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, Outcome, PlannedCheck};

use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, outcome, shape};

const NAME: &str = "no_reply";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "Nothing came back, and the server did not go away; `false` asks for a reply of any kind.",
    decode,
    schema: shape::flag_schema,
    examples: &[
        holds("true", Seen::Nothing),
        fails("true", Seen::Text("fine")),
        fails("true", Seen::ProtocolError(-32700)),
        holds("false", Seen::ProtocolError(-32700)),
        fails("false", Seen::Nothing),
    ],
};

#[derive(Debug)]
struct NoReply {
    wanted: bool,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let flag = shape::flag(NAME, node, found);
    flag.map(|wanted| shape::planned(NAME, node.span, NoReply { wanted })).into_iter().collect()
}

impl Check for NoReply {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let is_silent = match &seen.outcome {
            Outcome::Cancelled | Outcome::TimedOut { .. } => true,
            // A server that went away did not keep silent.
            Outcome::Result(_)
            | Outcome::Error(_)
            | Outcome::Malformed(_)
            | Outcome::Refused(_)
            | Outcome::Closed { .. } => false,
        };
        if is_silent == self.wanted {
            return Ok(());
        }
        let (message, expected) =
            if self.wanted { ("something came back", "no reply") } else { ("nothing came back", "a reply") };
        Err(Mismatch {
            message: message.to_owned(),
            expected: expected.to_owned(),
            actual: if is_silent { "no reply".to_owned() } else { outcome::described(seen) },
            ..Mismatch::default()
        })
    }

    fn wants_protocol_error(&self) -> bool {
        !self.wanted
    }

    fn wants_no_reply(&self) -> bool {
        self.wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::Trial;

    #[test]
    fn a_server_that_went_away_did_not_keep_silent() {
        let gone = Outcome::Closed { what: "the server exited with code 1".to_owned(), end: None };
        let check = Trial(super::super::CHECKS).decoded(NAME, "true").remove(0).check;
        let mismatch = check.judge(&Observation::new(gone, "")).expect_err("it is gone");
        assert_eq!(mismatch.actual, "no reply: the server exited with code 1");
        assert!(check.wants_no_reply());
    }
}
