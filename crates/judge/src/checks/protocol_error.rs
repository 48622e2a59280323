//! `protocol_error`: the answer is a JSON-RPC error.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, Outcome, PlannedCheck};
use serde_json::{Value, json};

use super::example::{fails, holds};
use super::{CheckKind, Seen, outcome, shape};

const NAME: &str = "protocol_error";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The answer is a JSON-RPC error: `true` for any, a number for that code, `false` for none.",
    decode,
    schema,
    examples: &[
        holds("true", Seen::ProtocolError(-32602)),
        holds("-32602", Seen::ProtocolError(-32602)),
        holds("false", Seen::Text("fine")),
        fails("true", Seen::Text("fine")),
        fails("-32602", Seen::ProtocolError(-32601)),
        fails("false", Seen::ProtocolError(-32601)),
    ],
};

#[derive(Debug)]
enum ProtocolError {
    Any,
    Code(i64),
    None,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let code = node.as_number().and_then(serde_json::Number::as_i64);
    let check = match (node.as_bool(), code) {
        (Some(true), _) => ProtocolError::Any,
        (Some(false), _) => ProtocolError::None,
        (None, Some(code)) => ProtocolError::Code(code),
        (None, None) => {
            let help = "write `protocol_error: true`, or the code: `protocol_error: -32602`".to_owned();
            shape::wrong(found, node, NAME, "true, false or an error code", help);
            return Vec::new();
        }
    };
    vec![shape::planned(NAME, node.span, check)]
}

fn schema() -> Value {
    json!({"type": ["boolean", "integer"]})
}

impl Check for ProtocolError {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let code = match &seen.outcome {
            Outcome::Error(error) => Some(error.code),
            Outcome::Result(_)
            | Outcome::Malformed(_)
            | Outcome::Refused(_)
            | Outcome::TimedOut { .. }
            | Outcome::Closed { .. }
            | Outcome::Cancelled => None,
        };
        let (message, expected) = match (self, code) {
            (Self::Any, Some(_)) | (Self::None, None) => return Ok(()),
            (Self::Code(wanted), Some(code)) if *wanted == code => return Ok(()),
            (Self::Any, None) => {
                ("the answer is not a JSON-RPC error".to_owned(), "a JSON-RPC error with any code".to_owned())
            }
            (Self::Code(wanted), None) => {
                ("the answer is not a JSON-RPC error".to_owned(), format!("a JSON-RPC error with code {wanted}"))
            }
            (Self::Code(wanted), Some(code)) => (
                format!("the JSON-RPC error has code {code}, not {wanted}"),
                format!("a JSON-RPC error with code {wanted}"),
            ),
            (Self::None, Some(code)) => {
                (format!("the answer is a JSON-RPC error with code {code}"), "no JSON-RPC error".to_owned())
            }
        };
        let help = (code.is_none() && seen.is_error)
            .then(|| "the tool reported the error in its result; `is_error: true` asks for that".to_owned());
        Err(Mismatch { message, expected, actual: outcome::described(seen), diff: None, help })
    }

    fn wants_protocol_error(&self) -> bool {
        match self {
            Self::Any | Self::Code(_) => true,
            Self::None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::trial::{check, mismatch, result};
    use super::*;

    #[test]
    fn only_a_wanted_error_is_accepted_as_the_answer() {
        assert!(check(NAME, "true").wants_protocol_error());
        assert!(check(NAME, "-32602").wants_protocol_error());
        assert!(!check(NAME, "false").wants_protocol_error());
    }

    #[test]
    fn an_error_in_the_result_is_told_apart() {
        let mismatch = mismatch(NAME, "true", &result(json!({"content": [], "isError": true})));
        assert!(mismatch.help.expect("help").contains("is_error"));
    }
}
