//! `handled`: whatever the tool was given, it dealt with it.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, Outcome, PlannedCheck};
use serde_json::{Value, json};

use super::example::{fails, holds};
use super::{CheckKind, Seen, outcome, shape};
use crate::fuzz::{EnvironmentValues, FuzzExchange, FuzzVerdict, verdict};
use crate::generate::Oracle;

const NAME: &str = "handled";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The call was dealt with: a result, an error result or a refusal, without an internal error, an unhandled \
              exception, a leak or a broken shape; `refused` asks that the input was refused.",
    decode,
    schema,
    examples: &[
        holds("true", Seen::Text("fine")),
        holds("true", Seen::Result(r#"{"content": [{"type": "text", "text": "no such file"}], "isError": true}"#)),
        holds("true", Seen::ProtocolError(-32602)),
        holds("\"refused\"", Seen::ProtocolError(-32602)),
        holds("\"refused\"", Seen::Result(r#"{"content": [], "isError": true}"#)),
        fails("true", Seen::ProtocolError(-32603)),
        fails("true", Seen::Result(r#"{"content": "not a list"}"#)),
        fails(
            "true",
            Seen::Result(
                r#"{"content": [{"type": "text", "text": "Cannot read properties of null (reading 'x')"}], "isError": true}"#,
            ),
        ),
        fails("true", Seen::Nothing),
        fails("\"refused\"", Seen::Text("fine")),
    ],
};

/// Required handling of the call.
#[derive(Debug)]
enum Handled {
    Anyhow,
    Refused,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let check = match (node.as_bool(), node.as_text()) {
        (Some(true), _) => Handled::Anyhow,
        (None, Some("refused")) => Handled::Refused,
        (Some(false) | None, _) => {
            let help = "write `handled: true`, or `handled: refused`".to_owned();
            shape::wrong(found, node, NAME, "true or `refused`", help);
            return Vec::new();
        }
    };
    vec![shape::planned(NAME, node.span, check)]
}

fn schema() -> Value {
    json!({"enum": [true, "refused"]})
}

impl Check for Handled {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let wrong = |message: String, expected: &str| {
            let (expected, actual) = (expected.to_owned(), outcome::described(seen));
            Err(Mismatch { message, expected, actual, ..Mismatch::default() })
        };
        if matches!(seen.outcome, Outcome::Cancelled) {
            return wrong("no reply came".to_owned(), "a result, an error result or a refusal");
        }
        let schema = |key: &str| seen.tool.as_ref().and_then(|tool| Oracle::new(tool.get(key)?).ok());
        let (input, output) = (schema("inputSchema"), schema("outputSchema"));
        let judged = verdict(&FuzzExchange {
            outcome: &seen.outcome,
            arguments: &seen.arguments,
            alive_after: None,
            // Where the schema is not known, a refusal in any words is one.
            accepted: input.is_some_and(|input| input.accepts(&seen.arguments)),
            output_schema: output.as_ref(),
            environment_values: &EnvironmentValues::new(&seen.environment),
        });
        match (&judged, self) {
            (FuzzVerdict::Handled | FuzzVerdict::AcceptedInvalid, Self::Anyhow) => Ok(()),
            (FuzzVerdict::Handled | FuzzVerdict::AcceptedInvalid, Self::Refused) => {
                if seen.is_error || matches!(seen.outcome, Outcome::Error(_)) {
                    return Ok(());
                }
                wrong("the input was accepted".to_owned(), "an error result, or a JSON-RPC error such as -32602")
            }
            (failure, _) => {
                let told = failure.evidence().map_or_else(String::new, |evidence| format!(": {}", evidence.message));
                wrong(format!("{}{told}", failure.kind()), "a result, an error result or a refusal")
            }
        }
    }

    fn wants_protocol_error(&self) -> bool {
        true
    }

    fn wants_tool(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{check, mismatch, result};
    use super::*;

    #[test]
    fn an_echo_is_no_leak_and_a_wrong_output_is_told() {
        let trace = "Traceback (most recent call last):\n  File \"/app/x.py\", line 1, in run\nKeyError: 'a'";
        let mut seen = result(json!({"content": [{"type": "text", "text": trace}], "isError": true}));
        assert!(mismatch(NAME, "true", &seen).message.starts_with("leak: a stack trace"));
        seen.arguments = json!({"text": trace});
        assert_eq!(check(NAME, "true").judge(&seen), Ok(()));

        let mut seen = result(json!({"content": [], "structuredContent": {}}));
        seen.tool = Some(json!({"outputSchema": {"type": "object", "required": ["n"]}}));
        assert!(mismatch(NAME, "true", &seen).message.starts_with("output-mismatch: "));
    }
}
