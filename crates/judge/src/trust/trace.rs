//! Record of a run with several servers: the user's text, the calls, and their results.

use serde_json::Value;

/// One thing that happened, in the order it happened.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceEvent {
    /// A text the author of the test or the user gave: a prompt, a system prompt, a later turn.
    Prompt(String),
    /// A tool was called.
    Call(Call),
    /// A call was answered.
    Result {
        /// Position of the call among the calls of the trace, from 0.
        call: usize,
        /// The result as it came, with its `content`, `structuredContent` and `isError`.
        result: Value,
    },
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The server, as the suite names it.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// The arguments as they were sent.
    pub arguments: Value,
}

impl TraceEvent {
    /// A call of a tool.
    pub fn call(server: impl Into<String>, tool: impl Into<String>, arguments: Value) -> Self {
        Self::Call(Call { server: server.into(), tool: tool.into(), arguments })
    }

    /// The answer to a call, by its position among the calls.
    pub fn result(call: usize, result: Value) -> Self {
        Self::Result { call, result }
    }
}
