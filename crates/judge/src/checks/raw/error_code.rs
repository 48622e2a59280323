//! `error_code`: the reply is a JSON-RPC error with this code.

use mcprove_model::{Diagnostics, Node, PlannedCheck};
use serde_json::{Number, Value, json};

use super::error::RpcErrorLike;
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, shape};

const NAME: &str = "error_code";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The reply is a JSON-RPC error with this code.",
    decode,
    schema,
    examples: &[
        holds("-32601", Seen::ProtocolError(-32601)),
        fails("-32601", Seen::ProtocolError(-32602)),
        fails("-32601", Seen::Text("fine")),
        fails("-32601", Seen::Nothing),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let Some(code) = node.as_number().and_then(Number::as_i64) else {
        shape::wrong(found, node, NAME, "an error code", format!("write `{NAME}: -32601`"));
        return Vec::new();
    };
    let check = RpcErrorLike { code: Some(code), message_part: None };
    vec![shape::planned(NAME, node.span, check)]
}

fn schema() -> Value {
    json!({"type": "integer"})
}
