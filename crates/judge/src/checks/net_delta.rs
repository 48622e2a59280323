//! `net_delta`: the `net_delta` that a simulated edit reports.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use serde_json::{Number, Value, json};

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};
use crate::excerpt;
use crate::json_equality::truncated;
use crate::json_path::{keys_seen, kind_of};

const NAME: &str = "net_delta";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The JSON of the result is an object whose `net_delta` is this whole number; a fraction is cut off.",
    decode,
    schema,
    examples: &[
        holds("0", Seen::Text(r#"{"net_delta": 0}"#)),
        holds("-2", Seen::Text(r#"{"net_delta": -2.5}"#)),
        fails("0", Seen::Text(r#"{"net_delta": 1}"#)),
        fails("0", Seen::Text(r#"{"delta": 0}"#)),
        fails("0", Seen::Text(r#"{"net_delta": "0"}"#)),
        fails("0", Seen::Text("no JSON")),
    ],
};

#[derive(Debug)]
struct NetDelta {
    wanted: i64,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let Some(wanted) = node.as_number().and_then(Number::as_i64) else {
        shape::wrong(found, node, NAME, "a whole number", "write `net_delta: 0`".to_owned());
        return Vec::new();
    };
    vec![shape::planned(NAME, node.span, NetDelta { wanted })]
}

fn schema() -> Value {
    json!({"type": "integer"})
}

impl Check for NetDelta {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let delta = seen.json().and_then(|document| document.get("net_delta"));
        let number = delta.and_then(Value::as_number);
        if number.and_then(truncated) == Some(self.wanted.into()) {
            return Ok(());
        }
        let (message, actual) = match (seen.json(), delta) {
            (None, _) => (
                "`net_delta` is missing: the text is not JSON and structuredContent is missing".to_owned(),
                excerpt::of_text(seen, 0..0),
            ),
            (Some(document), None) => (no_key(document), excerpt::around(&document.to_string(), 0..0)),
            (Some(_), Some(delta)) => {
                let actual = excerpt::around(&delta.to_string(), 0..0);
                match number {
                    Some(_) => (format!("`net_delta` is {actual}, not {}", self.wanted), actual),
                    None => (format!("`net_delta` is {}, not a number", kind_of(delta)), actual),
                }
            }
        };
        Err(Mismatch { message, expected: self.wanted.to_string(), actual, ..Mismatch::default() })
    }
}

fn no_key(document: &Value) -> String {
    match document.as_object() {
        Some(map) => format!("there is no `net_delta` in the object; {}", keys_seen(map.keys().map(String::as_str))),
        None => format!("there is no `net_delta`: the JSON is {}", kind_of(document)),
    }
}
