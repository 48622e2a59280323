//! Raw bytes of the conversation.

use std::borrow::Cow;

use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::SharedHeaders;

/// One unit of a conversation: a line on stdio, a head, a body or an event on HTTP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Microseconds since the session began.
    pub at_us: u64,
    /// Its direction.
    pub direction: Direction,
    /// Its part of the conversation.
    #[serde(default, skip_serializing_if = "WirePart::is_message")]
    pub part: WirePart,
    /// Its classification.
    pub kind: FrameKind,
    /// The bytes, without the line break that ended them.
    #[serde(flatten, with = "body")]
    pub body: Bytes,
}

impl Frame {
    /// The body as text, with what is not UTF-8 replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

/// Direction of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// mcprove, as the client.
    Sent,
    /// The server.
    Received,
}

/// Part of the conversation that a frame carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WirePart {
    /// A JSON-RPC message, or the bytes in place of one.
    #[default]
    Message,
    /// The head of an HTTP request; the body is a message of its own.
    HttpRequest {
        /// Number of the exchange in the session, from 1.
        exchange: u64,
        /// `POST`, `GET` or `DELETE`.
        method: String,
        /// The URL.
        url: String,
        /// Header fields in sent order.
        headers: SharedHeaders,
    },
    /// The head of an HTTP response.
    HttpResponse {
        /// Number of the exchange in the session.
        exchange: u64,
        /// The status code.
        status: u16,
        /// Header fields in received order.
        headers: SharedHeaders,
    },
    /// An event of a stream, when it is more than a message (`endpoint`, comments, priming, retry).
    StreamEvent {
        /// Number of the exchange in the session.
        exchange: u64,
        /// The event's type.
        event: String,
    },
    /// The end of the connection, by the side that the direction names.
    Closed,
}

impl WirePart {
    fn is_message(&self) -> bool {
        *self == Self::Message
    }
}

/// Classification of a frame's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// A request: it has a method and an id.
    Request,
    /// A notification: it has a method and no id.
    Notification,
    /// An answer: it has an id and no method.
    Reply,
    /// Anything else: log text, a batch, broken JSON.
    Stray,
    /// Part of the transport rather than of the protocol (HTTP heads, stream events).
    Transport,
}

impl FrameKind {
    /// The kind of a message.
    pub fn of(message: &Value) -> Self {
        message.as_object().map_or(Self::Stray, Self::of_object)
    }

    /// The kind of an object.
    pub fn of_object(message: &Map<String, Value>) -> Self {
        Self::of_members(
            message.contains_key("jsonrpc"),
            message.get("id"),
            message.get("method"),
            message.contains_key("result") || message.contains_key("error"),
        )
    }

    /// The kind of an object with these members; `answers` where it has a result or an error.
    pub fn of_members(is_versioned: bool, id: Option<&Value>, method: Option<&Value>, answers: bool) -> Self {
        if method.is_some_and(Value::is_string) {
            return match id {
                // Structured log lines may well have a `method`; a message says `jsonrpc`.
                _ if !is_versioned => Self::Stray,
                None | Some(Value::Null) => Self::Notification,
                Some(_) => Self::Request,
            };
        }
        // `{"level": "error", "error": "…"}` is a log line.
        let is_reply = if answers { is_versioned || id.is_some() } else { is_versioned && id.is_some() };
        if is_reply { Self::Reply } else { Self::Stray }
    }
}

mod body {
    use base64::Engine as _;

    use super::{Bytes, Cow, Deserialize, Deserializer, STANDARD, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Body<'a> {
        #[serde(default, skip_serializing_if = "Option::is_none", borrow)]
        text: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base64: Option<String>,
    }

    pub(super) fn serialize<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Body { text: Some(Cow::Borrowed(text)), base64: None },
            Err(_) => Body { text: None, base64: Some(STANDARD.encode(bytes)) },
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        let body = Body::deserialize(deserializer)?;
        match (body.text, body.base64) {
            (Some(text), _) => Ok(Bytes::from(text.into_owned())),
            (None, Some(encoded)) => STANDARD.decode(encoded).map(Bytes::from).map_err(serde::de::Error::custom),
            (None, None) => Ok(Bytes::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_event_log() {
        for body in [Bytes::from_static(b"{\"a\":1}"), Bytes::from_static(b"\xff\xfe"), Bytes::new()] {
            let frame = Frame {
                at_us: 3,
                direction: Direction::Received,
                part: WirePart::Message,
                kind: FrameKind::Stray,
                body,
            };
            let line = serde_json::to_string(&frame).expect("frames serialise");
            assert_eq!(serde_json::from_str::<Frame>(&line).expect("frames read back"), frame);
        }
    }
}
