//! `result`: the reply is a result, with these values in it.

use std::sync::Arc;

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, Outcome, PlannedCheck};
use serde_json::{Value, json};

use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, json_path, outcome, shape};

const NAME: &str = "result";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The reply is a result: `true` for any, `false` for none, or a map from JSON paths into the whole \
              result to values.",
    decode,
    schema,
    examples: &[
        holds("true", Seen::Result("{}")),
        holds(r#"{"$.tools[0].name": "echo"}"#, Seen::Result(r#"{"tools": [{"name": "echo"}]}"#)),
        holds("false", Seen::ProtocolError(-32601)),
        holds("false", Seen::Nothing),
        fails("true", Seen::ProtocolError(-32601)),
        fails("true", Seen::Nothing),
        fails("false", Seen::Result("{}")),
        fails(r#"{"$.tools[0].name": "echo"}"#, Seen::Result(r#"{"tools": []}"#)),
        fails(r#"{"$.tools": []}"#, Seen::ProtocolError(-32601)),
    ],
};

#[derive(Debug)]
struct IsResult {
    wanted: bool,
}

/// A value at a path of the whole result.
#[derive(Debug)]
struct ResultAt {
    value_at: Arc<dyn Check>,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    if let Some(wanted) = node.as_bool() {
        return vec![shape::planned(NAME, node.span, IsResult { wanted })];
    }
    if node.as_map().is_none() {
        let help = "write `result: true`, or `result: {\"$.path\": value}`".to_owned();
        shape::wrong(found, node, NAME, "true, false or a map from paths to values", help);
        return Vec::new();
    }
    let values = json_path::KIND.decode;
    let checks = values(node, found);
    checks.into_iter().map(|p| shape::planned(NAME, p.span, ResultAt { value_at: p.check })).collect()
}

fn schema() -> Value {
    json!({"type": ["boolean", "object"]})
}

impl Check for IsResult {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let is_result = matches!(seen.outcome, Outcome::Result(_));
        if is_result == self.wanted {
            return Ok(());
        }
        let (message, expected) = if self.wanted {
            ("the reply is not a result", "a result")
        } else {
            ("the reply is a result", "no result")
        };
        Err(Mismatch {
            message: message.to_owned(),
            expected: expected.to_owned(),
            actual: outcome::described(seen),
            ..Mismatch::default()
        })
    }

    fn wants_protocol_error(&self) -> bool {
        !self.wanted
    }
}

impl Check for ResultAt {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        match &seen.outcome {
            Outcome::Result(result) => self.value_at.judge(&whole(result)),
            Outcome::Error(_)
            | Outcome::Malformed(_)
            | Outcome::Refused(_)
            | Outcome::TimedOut { .. }
            | Outcome::Closed { .. }
            | Outcome::Cancelled => IsResult { wanted: true }.judge(seen),
        }
    }

    fn remark(&self, seen: &Observation) -> Option<String> {
        let Outcome::Result(result) = &seen.outcome else { return None };
        self.value_at.remark(&whole(result))
    }
}

/// The whole result as the text under test.
fn whole(result: &Value) -> Observation {
    Observation::new(Outcome::Result(result.clone()), result.to_string())
}
