//! `error`: the reply is a JSON-RPC error like this.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, Outcome, PlannedCheck, RpcError, Span};
use serde_json::{Number, Value, json};

use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, outcome, shape};
use crate::excerpt::{self, quoted};
use crate::nearest_match;

const NAME: &str = "error";
const KEYS: &[&str] = &["code", "message_contains"];

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The reply is a JSON-RPC error with this `code`, whose message contains each text of \
              `message_contains`; `true` asks for any error.",
    decode,
    schema,
    examples: &[
        holds("true", Seen::ProtocolError(-32601)),
        holds(r#"{"code": -32601, "message_contains": ["no such", "tool"]}"#, Seen::ProtocolError(-32601)),
        holds(r#"{"message_contains": "tool"}"#, Seen::ProtocolError(1)),
        fails("true", Seen::Text("fine")),
        fails("true", Seen::Nothing),
        fails(r#"{"code": -32601}"#, Seen::ProtocolError(-32602)),
        fails(r#"{"code": -32601, "message_contains": "prompt"}"#, Seen::ProtocolError(-32601)),
    ],
};

/// One thing that is asked of a JSON-RPC error; without anything, that there is one.
#[derive(Debug)]
pub(super) struct RpcErrorLike {
    pub(super) code: Option<i64>,
    pub(super) message_part: Option<String>,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let any = |span| shape::planned(NAME, span, RpcErrorLike { code: None, message_part: None });
    if node.as_bool() == Some(true) {
        return vec![any(node.span)];
    }
    if node.as_map().is_none() {
        let help = "write `error: {code: -32601, message_contains: text}`, or `error: true` for any".to_owned();
        shape::wrong(found, node, NAME, "a map with `code` and `message_contains`, or true", help);
        return Vec::new();
    }
    found.known_keys(node, "`error`", KEYS);
    let mut checks = Vec::new();
    if let Some(code) = node.get("code").filter(|code| !code.is_null()) {
        checks.extend(decode_code(code, found));
    }
    if let Some(parts) = node.get("message_contains") {
        let part = |text: &str, span: Span| {
            shape::planned(NAME, span, RpcErrorLike { code: None, message_part: Some(text.to_owned()) })
        };
        checks.extend(shape::texts("message_contains", parts, found).iter().map(|w| part(w.text, w.span)));
    }
    if checks.is_empty() { vec![any(node.span)] } else { checks }
}

fn decode_code(node: &Node, found: &mut Diagnostics<'_>) -> Option<PlannedCheck> {
    let code = node.as_number().and_then(Number::as_i64);
    if code.is_none() {
        shape::wrong(found, node, "code", "an error code", "write for example `code: -32601`".to_owned());
    }
    code.map(|code| shape::planned(NAME, node.span, RpcErrorLike { code: Some(code), message_part: None }))
}

fn schema() -> Value {
    let mut part = shape::texts_schema();
    part["description"] = "Parts of the message.".into();
    let properties = json!({"code": {"type": "integer", "description": "The error code."}, "message_contains": part});
    json!({"anyOf": [{"const": true}, {"type": "object", "additionalProperties": false, "properties": properties}]})
}

impl Check for RpcErrorLike {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let Outcome::Error(error) = &seen.outcome else {
            let expected = match self.code {
                Some(code) => format!("a JSON-RPC error with code {code}"),
                None => "a JSON-RPC error".to_owned(),
            };
            let message = "the reply is not a JSON-RPC error".to_owned();
            return Err(Mismatch { message, expected, actual: outcome::described(seen), ..Mismatch::default() });
        };
        if let Some(code) = self.code.filter(|code| *code != error.code) {
            return Err(Mismatch {
                message: format!("the JSON-RPC error has code {}, not {code}", error.code),
                expected: format!("a JSON-RPC error with code {code}"),
                actual: outcome::described(seen),
                ..Mismatch::default()
            });
        }
        match &self.message_part {
            Some(part) if !error.message.contains(part.as_str()) => Err(without_part(error, part)),
            Some(_) | None => Ok(()),
        }
    }

    fn wants_protocol_error(&self) -> bool {
        true
    }
}

fn without_part(error: &RpcError, part: &str) -> Mismatch {
    let near = nearest_match::find(&error.message, part);
    let view = near.as_ref().map_or(0..0, |near| near.range.clone());
    Mismatch {
        message: format!("the message of the JSON-RPC error does not contain {}", quoted(part)),
        expected: excerpt::around(part, 0..0),
        actual: if error.message.is_empty() {
            "an empty message".to_owned()
        } else {
            excerpt::around(&error.message, view)
        },
        diff: None,
        help: near.map(|near| near.help),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::Trial;

    #[test]
    fn each_thing_asked_is_a_check_of_its_own() {
        let asked = r#"{"code": 1, "message_contains": ["No such", "prompt"]}"#;
        let mismatches = Trial(super::super::CHECKS).mismatches(NAME, asked, Seen::ProtocolError(2));
        let messages: Vec<&str> = mismatches.iter().map(|m| m.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "the JSON-RPC error has code 2, not 1",
                "the message of the JSON-RPC error does not contain `No such`",
                "the message of the JSON-RPC error does not contain `prompt`",
            ]
        );
        assert_eq!(mismatches[1].help.as_deref(), Some("found `no such`, which differs in case"));
    }

    #[test]
    fn an_error_without_anything_asked_is_any_error() {
        assert_eq!(Trial(super::super::CHECKS).decoded(NAME, "{}").len(), 1);
        let findings = Trial(super::super::CHECKS).findings(NAME, r#"{"cod": 1}"#);
        assert_eq!(findings[0].help.as_deref(), Some("did you mean `code`?"));
    }
}
