//! Classification of frames as JSON-RPC messages, for any input, however broken.

use mcprove_model::bounded_json::{self, TopLevel};
use mcprove_model::{FrameKind, RpcError, escape_line, shorten};
use serde_json::Value;

/// Meaning of a frame's bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The server asks something of us.
    Request {
        /// The id, of any JSON type.
        id: Value,
        /// The method.
        method: String,
        /// The params, null when absent.
        params: Value,
    },
    /// A notification from the server.
    Notification {
        /// The method.
        method: String,
        /// The params, null when absent.
        params: Value,
    },
    /// The server answers something.
    Reply(Reply),
    /// Several messages in one array.
    Batch(Vec<Message>),
    /// Not a JSON-RPC message.
    NonProtocol(NonProtocol),
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The id; `None` when there is no such member.
    pub id: Option<Value>,
    /// Result or error.
    pub body: ReplyBody,
}

/// Result or error of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyBody {
    /// A result.
    Result(Value),
    /// An error.
    Error(RpcError),
    /// It breaks the protocol: how.
    Broken(String),
}

/// Something that is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonProtocol {
    /// An empty line.
    Blank,
    /// Text, or JSON that is not a message: log output.
    Text,
    /// It looks like a message but cannot be read: why.
    Unreadable(String),
}

impl Message {
    /// The kind the frame log records.
    pub fn kind(&self) -> FrameKind {
        match self {
            Self::Request { .. } => FrameKind::Request,
            Self::Notification { .. } => FrameKind::Notification,
            Self::Reply(_) => FrameKind::Reply,
            Self::Batch(_) | Self::NonProtocol(_) => FrameKind::Stray,
        }
    }
}

/// A message with what it costs to keep it.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) message: Message,
    /// About how many bytes it takes in memory.
    pub(crate) size: usize,
    /// A key that is in one of its objects twice.
    pub(crate) duplicate: Option<String>,
    /// An integer that was read as another one.
    pub(crate) inexact: Option<String>,
}

/// The meaning of the bytes of a frame; it never fails.
pub fn classify(bytes: &[u8]) -> Message {
    measure(bytes).message
}

/// The meaning of the bytes of a frame, with what it costs to keep it.
pub(crate) fn measure(bytes: &[u8]) -> Measured {
    let (bytes, marked) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (rest, true),
        None => (bytes, false),
    };
    let mut measured = match bounded_json::read_members(bytes, Members::NAMES, bounded_json::MOST) {
        Ok(read) => {
            let message = match read.top {
                TopLevel::Members { values, other } => Members::new(values, other).into_message(),
                TopLevel::Other(value) => from_value(value),
            };
            Measured { message, size: read.size, duplicate: read.duplicate, inexact: read.inexact }
        }
        Err(error) => Measured { message: unreadable(bytes, &error), size: 0, duplicate: None, inexact: None },
    };
    if marked && let Message::Reply(reply) = &mut measured.message {
        reply.body = ReplyBody::Broken("begins with a byte order mark".to_owned());
    }
    measured
}

fn unreadable(bytes: &[u8], error: &serde_json::Error) -> Message {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Message::NonProtocol(NonProtocol::Blank);
    }
    if std::str::from_utf8(bytes).is_err() {
        // What is not UTF-8 is not JSON. If it would be a reply otherwise, the request it answers can end with that.
        let text = String::from_utf8_lossy(bytes);
        if let Ok(read) = bounded_json::read(text.as_bytes(), bounded_json::MOST)
            && let Message::Reply(reply) = from_value(read.value)
        {
            return Message::Reply(Reply { id: reply.id, body: ReplyBody::Broken("is not valid UTF-8".to_owned()) });
        }
    }
    // A log line may well quote a message; a broken message begins like one, whatever surrounds it.
    let start = after_controls(bytes);
    let head = &bytes[start..bytes.len().min(start + 4096)];
    if !head.starts_with(b"{") || memchr::memmem::find(head, b"\"jsonrpc\"").is_none() {
        return Message::NonProtocol(NonProtocol::Text);
    }
    let why = if memchr::memchr(0x1b, bytes).is_some() {
        "has terminal escape codes around it".to_owned()
    } else if memchr::memchr(0, bytes).is_some() {
        "has NUL bytes in it".to_owned()
    } else {
        plain_error(error)
    };
    Message::NonProtocol(NonProtocol::Unreadable(why))
}

/// Start of a line after control characters and terminal escape codes.
fn after_controls(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            0x1b if bytes.get(at + 1) == Some(&b'[') => {
                let code = bytes[at + 2..].iter().position(u8::is_ascii_alphabetic);
                at += 2 + code.map_or(bytes.len(), |end| end + 1);
            }
            byte if byte.is_ascii_control() || *byte == b' ' => at += 1,
            _ => return at,
        }
    }
    bytes.len()
}

fn plain_error(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "is cut off in the middle".to_owned();
    }
    let text = error.to_string();
    if text.contains("recursion limit") {
        return "is nested too deeply (more than 127 levels)".to_owned();
    }
    let what = text.split(" at line").next().unwrap_or(&text);
    if bounded_json::is_too_large(error) {
        return what.to_owned();
    }
    format!("is not valid JSON: {what} at column {}", error.column())
}

fn from_value(value: Value) -> Message {
    match value {
        Value::Object(mut map) => {
            let values = Members::NAMES.map(|name| map.remove(name));
            Members::new(values, map.into_iter().next().map(|(name, _)| name)).into_message()
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let messages: Vec<_> = items.into_iter().map(from_value).collect();
            if messages.iter().all(|m| matches!(m, Message::NonProtocol(_))) {
                return Message::NonProtocol(NonProtocol::Text);
            }
            Message::Batch(messages)
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Message::NonProtocol(NonProtocol::Text)
        }
    }
}

/// The members of an object that decide what it is.
struct Members {
    jsonrpc: Option<Value>,
    id: Option<Value>,
    method: Option<Value>,
    params: Option<Value>,
    result: Option<Value>,
    error: Option<Value>,
    /// The name of another one.
    other: Option<String>,
}

impl Members {
    const NAMES: &[&str; 6] = &["jsonrpc", "id", "method", "params", "result", "error"];

    /// The values of [`Members::NAMES`].
    fn new([jsonrpc, id, method, params, result, error]: [Option<Value>; 6], other: Option<String>) -> Self {
        Self { jsonrpc, id, method, params, result, error, other }
    }

    fn into_message(self) -> Message {
        let Self { jsonrpc, id, method, params, result, error, other } = self;
        let answers = result.is_some() || error.is_some();
        let kind = FrameKind::of_members(jsonrpc.is_some(), id.as_ref(), method.as_ref(), answers);
        match (kind, method) {
            (FrameKind::Request, Some(Value::String(method))) => {
                let params = params.unwrap_or(Value::Null);
                Message::Request { id: id.unwrap_or(Value::Null), method, params }
            }
            (FrameKind::Notification, Some(Value::String(method))) => {
                Message::Notification { method, params: params.unwrap_or(Value::Null) }
            }
            (FrameKind::Reply, _) => {
                let other = other.or_else(|| params.map(|_| "params".to_owned()));
                let fault = version_fault(jsonrpc.as_ref()).or_else(|| other.map(|name| foreign_member(&name)));
                let body = fault.map_or_else(|| reply_body(result, error), ReplyBody::Broken);
                Message::Reply(Reply { id, body })
            }
            (_, _) => Message::NonProtocol(NonProtocol::Text),
        }
    }
}

fn version_fault(version: Option<&Value>) -> Option<String> {
    match version {
        Some(Value::String(text)) if text == "2.0" => None,
        Some(other) => Some(format!("says `\"jsonrpc\": {other}` instead of \"2.0\"")),
        None => Some("lacks `\"jsonrpc\": \"2.0\"`".to_owned()),
    }
}

/// The TypeScript SDK's clients drop a response with a member that is not of the protocol, so that the call times out.
fn foreign_member(name: &str) -> String {
    let name = shorten(&escape_line(name), 40).into_owned();
    format!("has a member `{name}` that a response does not have (refused by clients built on the TypeScript SDK)")
}

fn reply_body(result: Option<Value>, error: Option<Value>) -> ReplyBody {
    match (result, error) {
        (Some(result @ Value::Object(_)), None) => ReplyBody::Result(result),
        (Some(result), None) => ReplyBody::Broken(format!("has a result that is {}, not an object", kind(&result))),
        (Some(_), Some(Value::Null)) => ReplyBody::Broken("has `\"error\": null` next to its result".to_owned()),
        (Some(_), Some(_)) => ReplyBody::Broken("has both a result and an error".to_owned()),
        (None, Some(error)) => error_body(error),
        (None, None) => ReplyBody::Broken("has neither a result nor an error".to_owned()),
    }
}

fn error_body(error: Value) -> ReplyBody {
    let Value::Object(mut error) = error else {
        return ReplyBody::Broken(format!("has an error that is {}, not an object", kind(&error)));
    };
    let code = match error.remove("code") {
        Some(Value::Number(number)) if number.is_i64() => number.as_i64().unwrap_or_default(),
        Some(other) => {
            return ReplyBody::Broken(format!("has the error code {other}, which is not a whole number"));
        }
        None => return ReplyBody::Broken("has an error without a code".to_owned()),
    };
    match error.remove("message") {
        Some(Value::String(message)) => ReplyBody::Error(RpcError { code, message, data: error.remove("data") }),
        Some(other) => ReplyBody::Broken(format!("has an error message that is {}, not text", kind(&other))),
        None => ReplyBody::Broken("has an error without a message".to_owned()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn broken(text: &str) -> String {
        match classify(text.as_bytes()) {
            Message::Reply(Reply { body: ReplyBody::Broken(fault), .. }) => fault,
            other => panic!("{text} is {other:?}"),
        }
    }

    #[test]
    fn proper_messages_are_recognised() {
        assert_eq!(
            classify(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            Message::Reply(Reply { id: Some(json!(1)), body: ReplyBody::Result(json!({})) })
        );
        assert!(matches!(
            classify(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#),
            Message::Request { method, .. } if method == "ping"
        ));
        assert!(matches!(
            classify(br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#),
            Message::Notification { .. }
        ));
    }

    #[test]
    fn broken_replies_say_how() {
        assert!(broken(r#"{"id":1,"result":{}}"#).contains("lacks `\"jsonrpc\""));
        assert!(broken(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#).contains("\"error\": null"));
        assert!(broken(r#"{"jsonrpc":"2.0","id":1,"result":{},"extra":1}"#).starts_with("has a member `extra` that"));
        assert!(broken(r#"{"jsonrpc":"2.0","id":1,"params":{},"result":{}}"#).starts_with("has a member `params`"));
        assert!(broken(r#"{"jsonrpc":"2.0","id":1,"error":{"code":"-32602","message":"x"}}"#).contains("-32602"));
        assert!(broken(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#).contains("both"));
        assert!(broken(r#"{"jsonrpc":"2.0","id":1}"#).contains("neither"));
        assert!(broken(r#"{"jsonrpc":"2.0","id":1,"result":null}"#).contains("null"));
        assert!(broken("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}").contains("byte order mark"));
    }

    #[test]
    fn a_reply_that_is_not_utf8_keeps_its_id() {
        let Message::Reply(reply) = classify(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"t\":\"\xff\"}}") else {
            panic!("a reply");
        };
        assert_eq!(reply.id, Some(json!(7)));
        assert_eq!(reply.body, ReplyBody::Broken("is not valid UTF-8".to_owned()));
    }

    #[test]
    fn log_lines_are_stray_and_torn_messages_are_unreadable() {
        for torn in ["\x1b[32m{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\x1b[0m", "\0{\"jsonrpc\":\"2.0\"}"] {
            assert!(matches!(classify(torn.as_bytes()), Message::NonProtocol(NonProtocol::Unreadable(_))), "{torn}");
        }
        for log in [
            "DEBUG got {\"jsonrpc\":\"2.0\"}",
            "\x1b[",
            "starting",
            "{\"level\":\"info\",\"msg\":\"x\"}",
            "[1,2]",
            "{",
            "42",
            r#"{"method":"GET"}"#,
        ] {
            assert_eq!(classify(log.as_bytes()), Message::NonProtocol(NonProtocol::Text), "{log}");
        }
        assert!(matches!(
            classify(br#"{"jsonrpc":"2.0","id":1,"result":{"n":1e400}}"#),
            Message::NonProtocol(NonProtocol::Unreadable(why)) if why.contains("number out of range")
        ));
        let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}", "[".repeat(10_000));
        assert!(matches!(
            classify(deep.as_bytes()),
            Message::NonProtocol(NonProtocol::Unreadable(why)) if why.contains("too deeply")
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_meaning(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = classify(&bytes);
        }
    }
}
