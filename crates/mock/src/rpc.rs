//! JSON-RPC from the server's side: what a message is, and what is answered to what is none.

use mcprove_model::bounded_json;
use serde_json::{Value, json};

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// Resource not found, up to 2025-11-25.
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;
/// Header fields and body say different things (2026-07-28).
pub(crate) const HEADER_MISMATCH: i64 = -32020;
/// The client did not declare what is needed (2026-07-28).
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
/// The revision of a request is not spoken here (2026-07-28).
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// An error answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    pub(crate) layer: Layer,
}

/// Subject of a refusal; over HTTP it decides the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// The message itself: 400.
    Envelope,
    /// The method: 404 in the modern era.
    Method,
    /// The requested content.
    Content,
}

impl Refusal {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        let layer = match code {
            PARSE_ERROR | INVALID_REQUEST | HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION => {
                Layer::Envelope
            }
            METHOD_NOT_FOUND => Layer::Method,
            _ => Layer::Content,
        };
        Self { code, message: message.into(), data: None, layer }
    }

    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(crate) fn with(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The same, as a fault of the message rather than of what it asks for.
    pub(crate) fn of_the_envelope(mut self) -> Self {
        self.layer = Layer::Envelope;
        self
    }

    pub(crate) fn error(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }

    pub(crate) fn reply(&self, id: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "error": self.error()})
    }
}

/// Reason for a request without a result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ended {
    /// It is answered with an error.
    Refused(Refusal),
    /// The client is gone; nothing is answered.
    Cut,
}

impl From<Refusal> for Ended {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: Value,
    pub(crate) method: String,
    /// An object, or null when there are none.
    pub(crate) params: Value,
}

/// Kinds of messages.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Incoming {
    Request(Request),
    Notification { method: String, params: Value },
    Reply { id: Value, outcome: Result<Value, Value> },
    Batch(Vec<Value>),
    Invalid { id: Value, refusal: Refusal },
}

/// Reads bytes as JSON.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, Refusal> {
    bounded_json::value(bytes).map_err(|error| Refusal::new(PARSE_ERROR, format!("parse error: {error}")))
}

/// Says what a message is.
pub(crate) fn classify(message: Value) -> Incoming {
    let mut map = match message {
        Value::Object(map) => map,
        Value::Array(messages) => return Incoming::Batch(messages),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return invalid(Value::Null, "a message must be an object");
        }
    };
    let id = map.remove("id");
    let echoed = id.clone().filter(is_id).unwrap_or(Value::Null);
    if map.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(echoed, "`jsonrpc` must be \"2.0\"");
    }
    let method = match map.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return invalid(echoed, "`method` must be text"),
        None => {
            let outcome = match (map.remove("result"), map.remove("error")) {
                (Some(result), None) => Ok(result),
                (None, Some(error)) => Err(error),
                (_, _) => return invalid(echoed, "this is neither a request nor an answer: `method` is missing"),
            };
            return Incoming::Reply { id: id.unwrap_or(Value::Null), outcome };
        }
    };
    let params = map.remove("params").unwrap_or(Value::Null);
    let Some(id) = id else { return Incoming::Notification { method, params } };
    if !is_id(&id) {
        return invalid(Value::Null, "`id` must be text or a whole number");
    }
    if !matches!(params, Value::Object(_) | Value::Null) {
        return Incoming::Invalid { id, refusal: Refusal::params("`params` must be an object").of_the_envelope() };
    }
    Incoming::Request(Request { id, method, params })
}

fn invalid(id: Value, message: &str) -> Incoming {
    Incoming::Invalid { id, refusal: Refusal::new(INVALID_REQUEST, message) }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        assert!(matches!(
            classify(json!({"jsonrpc": "2.0", "id": "a", "method": "ping"})),
            Incoming::Request(Request { params: Value::Null, .. })
        ));
        assert!(matches!(classify(json!({"jsonrpc": "2.0", "method": "x"})), Incoming::Notification { .. }));
        assert!(matches!(classify(json!({"jsonrpc": "2.0", "id": 1, "result": {}})), Incoming::Reply { .. }));
        assert!(matches!(classify(json!([])), Incoming::Batch(_)));
    }

    #[test]
    fn what_is_no_message_is_refused_with_the_id_it_has() {
        for (message, id, code) in [
            (json!(3), Value::Null, INVALID_REQUEST),
            (json!({"id": 1, "method": "ping"}), json!(1), INVALID_REQUEST),
            (json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}), json!(1), INVALID_REQUEST),
            (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), Value::Null, INVALID_REQUEST),
            (json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}), Value::Null, INVALID_REQUEST),
            (json!({"jsonrpc": "2.0", "id": {}, "method": "ping"}), Value::Null, INVALID_REQUEST),
            (json!({"jsonrpc": "2.0", "id": 1}), json!(1), INVALID_REQUEST),
            (json!({"jsonrpc": "2.0", "id": 1, "method": 3}), json!(1), INVALID_REQUEST),
            (json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}), json!(1), INVALID_PARAMS),
        ] {
            let Incoming::Invalid { id: got, refusal } = classify(message.clone()) else { panic!("{message}") };
            assert_eq!((got, refusal.code), (id, code), "{message}");
        }
        assert_eq!(read(b"{").expect_err("not JSON").code, PARSE_ERROR);
    }
}
