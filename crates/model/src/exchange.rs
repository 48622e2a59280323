//! One request and how it ended.

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request and how it ended.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The method, e.g. `tools/call`.
    pub method: String,
    /// The request as sent.
    pub request: Bytes,
    /// The reply as received, when one came.
    pub reply: Option<Bytes>,
    /// Its outcome.
    pub outcome: Outcome,
    /// Time from sending to the end.
    pub elapsed_us: u64,
}

/// Outcome of a request. Every behaviour of a server is one of these; it is never an error of mcprove.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A result.
    Result(Value),
    /// A JSON-RPC error.
    Error(RpcError),
    /// Something came in place of a proper reply.
    Malformed(Malformed),
    /// The transport answered where the server should have: an HTTP status, a refused connection.
    Refused(Refused),
    /// Nothing came before the deadline.
    TimedOut {
        /// Time waited.
        after_ms: u64,
    },
    /// The server went away before it answered.
    Closed {
        /// The lost process or connection and the cause, e.g. "the server exited with code 3".
        what: String,
        /// Exit of the process, if there is one.
        end: Option<ProcessEnd>,
    },
    /// The request was cancelled on purpose and no reply came.
    Cancelled,
}

/// A JSON-RPC error as the server sent it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// The optional data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// Under this key of its data, an error of a recording that is played again names the method it has no answer to.
    pub const NOT_RECORDED: &str = "mcprove/not-recorded";

    /// The method that a recording has no answer to; nothing when the error is an answer of a server.
    pub fn not_recorded(&self) -> Option<&str> {
        self.data.as_ref()?.get(Self::NOT_RECORDED)?.as_str()
    }
}

/// A reply that breaks the protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Malformed {
    /// Its defect, e.g. "the reply lacks `jsonrpc`".
    pub fault: String,
    /// The bytes that came.
    pub evidence: Bytes,
}

/// An answer of the transport itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Description, in one line.
    pub what: String,
    /// Advice on what to do next.
    pub help: Option<String>,
    /// The bytes received, if any.
    pub evidence: Bytes,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// True if the status says that the request was refused, and the body that it was not: a JSON-RPC result. Also true if the
    /// body did not come, so that this is not known.
    pub may_have_result: bool,
}

/// Exit of a server process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessEnd {
    /// Its exit code, when it exited.
    pub code: Option<i32>,
    /// The signal that ended it, when one did.
    pub signal: Option<i32>,
}

impl ProcessEnd {
    /// True if it died of a fault of its own: a signal that no one sends to end a process, or the exit code of a shell
    /// that started it.
    pub fn is_crash(&self) -> bool {
        let of_shell = self.code.filter(|code| *code > SHELL_SIGNAL).map(|code| code - SHELL_SIGNAL);
        self.signal.or(of_shell).is_some_and(|signal| CRASHES.contains(&signal))
    }

    /// True if it was killed: by the system, for example, because it took too much memory.
    pub fn was_killed(&self) -> bool {
        self.signal == Some(KILLED)
    }
}

/// The signal of the system for a process that takes too much memory.
const KILLED: i32 = 9;
/// SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
const CRASHES: [i32; 7] = [4, 5, 6, 7, 8, 11, 31];
/// A shell exits with the signal of its command, added to this.
const SHELL_SIGNAL: i32 = 128;

impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exited with code {code}"),
            (None, Some(signal)) => match signal_name(signal) {
                Some(name) => write!(f, "was ended by signal {signal} ({name})"),
                None => write!(f, "was ended by signal {signal}"),
            },
            (None, None) => write!(f, "ended"),
        }
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return None,
    })
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// A notification the server sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notification {
    /// Microseconds since the session began.
    pub at_us: u64,
    /// The method.
    pub method: String,
    /// The params, null when there were none.
    #[serde(default)]
    pub params: Value,
}
