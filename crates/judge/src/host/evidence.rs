//! Observations of a client: frames of all servers in one order, the faults it met, and its end.

use bytes::Bytes;
use mcprove_model::{Direction, FaultKind, WirePart};
use serde_json::Value;

use crate::conformance::Channel;

/// Everything that was observed.
#[derive(Clone, Debug, Default)]
pub struct HostEvidence {
    /// The servers, in the order of the scenario.
    pub servers: Vec<HostServer>,
    /// All frames, in the order in which they were observed.
    pub frames: Vec<HostFrame>,
    /// The frames that were not kept because there were too many.
    pub left_out: LeftOut,
    /// The calls and lists that met a fault, in order.
    pub strikes: Vec<HostStrike>,
    /// The end of the client.
    pub end: ClientEnd,
}

/// Frames that were not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Their number.
    pub frames: usize,
    /// Their bytes.
    pub bytes: usize,
}

/// A server of a scenario.
#[derive(Clone, Debug)]
pub struct HostServer {
    /// Its name.
    pub name: String,
    /// Its transport.
    pub channel: Channel,
    /// Texts that this server alone gave to the client, in results and descriptions.
    pub canaries: Vec<String>,
    /// The token in the client's configuration for this server.
    pub token: Option<String>,
}

/// A frame between the client and one of the servers.
#[derive(Clone, Debug)]
pub struct HostFrame {
    /// Microseconds since the client was started.
    pub at_us: u64,
    /// The server, by position.
    pub server: usize,
    /// Its connection or HTTP session.
    pub session: u32,
    /// Messages of the client are sent.
    pub direction: Direction,
    /// Its part of the conversation.
    pub part: WirePart,
    /// The bytes.
    pub body: Bytes,
    /// The JSON, if the bytes are.
    pub json: Option<Value>,
    /// True if it is one of the messages of a batch; the batch is a frame before it.
    pub in_batch: bool,
}

impl HostFrame {
    /// True if the client sent it, and it is a message.
    pub fn is_sent(&self) -> bool {
        self.direction == Direction::Sent && self.part == WirePart::Message
    }

    /// True if it is a message of the client that could hide a call: no JSON, or a call without an id or the name of a tool. The
    /// messages of a batch are frames after it.
    pub fn is_unreadable(&self) -> bool {
        let is_answer = |json: &Value| json.get("result").is_some() || json.get("error").is_some();
        let is_read = match self.method() {
            Some("tools/call") => self.called().is_some(),
            Some(_) => true,
            None => self.json.as_ref().is_some_and(|json| json.is_array() || is_answer(json)),
        };
        self.is_sent() && !is_read
    }

    /// The method, if it is a request or a notification.
    pub fn method(&self) -> Option<&str> {
        self.json.as_ref()?.get("method")?.as_str()
    }

    /// The id, if it has one.
    pub fn id(&self) -> Option<&Value> {
        self.json.as_ref()?.get("id")
    }

    /// The params; null if there are none.
    pub fn params(&self) -> &Value {
        self.json.as_ref().and_then(|json| json.get("params")).unwrap_or(&Value::Null)
    }

    /// True if it belongs to the same conversation.
    pub fn is_with(&self, other: &Self) -> bool {
        (self.server, self.session) == (other.server, other.session)
    }

    /// True if it is a reply of the server with this id.
    pub fn answers(&self, id: &Value) -> bool {
        self.direction == Direction::Received && self.method().is_none() && self.id() == Some(id)
    }

    /// True if it is a request of the client.
    pub fn is_request(&self) -> bool {
        self.is_sent() && self.method().is_some() && self.id().is_some()
    }

    /// The tool that it calls.
    pub fn called(&self) -> Option<&str> {
        (self.is_request() && self.method() == Some("tools/call")).then(|| self.params()["name"].as_str())?
    }
}

/// A call or list that met a fault.
#[derive(Clone, Debug)]
pub struct HostStrike {
    /// When.
    pub at_us: u64,
    /// The server, by position.
    pub server: usize,
    /// The id of the request; null if the server did not say.
    pub id: Value,
    /// The tool.
    pub tool: String,
    /// The fault.
    pub fault: FaultKind,
}

/// The end of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientEnd {
    /// It was still running when the time of the scenario was up.
    #[default]
    StillRunning,
    /// It ended by itself.
    Exited {
        /// When.
        at_us: u64,
        /// Its exit code.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
    },
}

impl ClientEnd {
    /// When it ended by itself.
    pub fn at_us(self) -> Option<u64> {
        match self {
            Self::Exited { at_us, .. } => Some(at_us),
            Self::StillRunning => None,
        }
    }

    /// True if it crashed: a signal ended it, or it ended as a shell reports one of the 64 signals.
    pub fn is_crash(self) -> bool {
        matches!(self, Self::Exited { signal: Some(_), .. } | Self::Exited { code: Some(129..=192), .. })
    }
}
