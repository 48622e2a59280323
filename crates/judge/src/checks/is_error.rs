//! `is_error`: the tool reported an error.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, Outcome, PlannedCheck};

use super::example::{fails, holds};
use super::{CheckKind, Seen, outcome, shape};

const NAME: &str = "is_error";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The result is marked `isError`; `false` asks for one that is not. A JSON-RPC error is not such a result.",
    decode,
    schema: shape::flag_schema,
    examples: &[
        holds("true", Seen::Result(r#"{"content": [], "isError": true}"#)),
        fails("true", Seen::Text("fine")),
        fails("true", Seen::ProtocolError(-32602)),
        holds("false", Seen::Text("fine")),
        fails("false", Seen::Result(r#"{"content": [], "isError": true}"#)),
    ],
};

/// The required value of `isError`.
#[derive(Debug)]
pub(super) struct IsError {
    pub(super) wanted: bool,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let flag = shape::flag(NAME, node, found);
    flag.map(|wanted| shape::planned(NAME, node.span, IsError { wanted })).into_iter().collect()
}

impl Check for IsError {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        if seen.is_error == self.wanted {
            return Ok(());
        }
        let is_protocol_error = matches!(seen.outcome, Outcome::Error(_));
        let (message, expected) = if self.wanted {
            ("the tool did not report an error", "a result with isError: true")
        } else {
            ("the tool reported an error", "a result without isError")
        };
        Err(Mismatch {
            message: message.to_owned(),
            expected: expected.to_owned(),
            actual: outcome::described(seen),
            diff: None,
            help: is_protocol_error.then(|| {
                "a JSON-RPC error is not a result with isError; `protocol_error: true` asks for one".to_owned()
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{mismatch, observation};
    use super::*;

    #[test]
    fn a_protocol_error_is_told_apart() {
        let mismatch = mismatch(NAME, "true", &observation(&Seen::ProtocolError(-32602)));
        assert_eq!(mismatch.actual, "JSON-RPC error -32602: no such tool");
        assert!(mismatch.help.expect("help").contains("protocol_error"));
    }
}
