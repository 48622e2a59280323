//! Observation of a case: everything its checks may look at, gathered before they run.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::{Notification, Outcome, StoredValues, lenient_view};

/// Observation of a case. Checks read it and nothing else.
#[derive(Debug)]
pub struct Observation {
    /// Outcome of the request under test.
    pub outcome: Outcome,
    /// The text under test (see the views of each kind of act).
    pub text: String,
    /// True if the result was marked `isError`.
    pub is_error: bool,
    /// `structuredContent` of a tool result.
    pub structured: Option<Value>,
    /// Files that the checks speak of, by the path as written after templates, before and after the call.
    pub files: BTreeMap<String, FileSeen>,
    /// Every notification of the case, in order.
    pub notifications: Vec<Notification>,
    /// Requests the server made of the client, in order.
    pub asked: Vec<AskedOfClient>,
    /// The sequence of tool calls under test, for acts that judge one.
    pub trace: Vec<TracedCall>,
    /// The arguments that were sent, where a tool was called; what a reply merely repeats was not given away.
    pub arguments: Value,
    /// The server's list entry of the called tool, if a check needs it.
    pub tool: Option<Value>,
    /// Values of the environment that no reply should hold.
    pub environment: Arc<[String]>,
    /// The headers of the HTTP response that carries the answer, where a check asked for them and there is one.
    pub headers: Option<Vec<(String, String)>>,
    /// Further names that targets may begin with, and what they stand for: an object, or null.
    pub extra: Value,
    /// Stored values that the checks compare with.
    pub stored: StoredValues,
    /// Time the request under test took.
    pub elapsed_us: u64,
    json: OnceLock<Option<Value>>,
}

/// A request the server made of the client.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedOfClient {
    /// The method.
    pub method: String,
    /// Its params.
    pub params: Value,
}

/// A tool call of a recorded sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
}

/// A file before and after the request under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSeen {
    /// Before the request, after setup.
    pub before: FileState,
    /// After the request.
    pub after: FileState,
}

/// A file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// There is no such file.
    Missing,
    /// Its content.
    Content(Vec<u8>),
    /// It is a directory.
    Directory,
    /// It could not be read, and why.
    Unreadable(String),
}

impl Observation {
    /// An observation of a result: its text, flags and structured content are given by the view of the act.
    pub fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        Self {
            outcome,
            text: text.into(),
            is_error: false,
            structured: None,
            files: BTreeMap::new(),
            notifications: Vec::new(),
            asked: Vec::new(),
            trace: Vec::new(),
            arguments: Value::Null,
            tool: None,
            environment: Arc::default(),
            headers: None,
            extra: Value::Null,
            stored: StoredValues::default(),
            elapsed_us: 0,
            json: OnceLock::new(),
        }
    }

    /// An observation of a `tools/call` outcome.
    pub fn of_tool_call(outcome: Outcome) -> Self {
        let (text, is_error, structured) = match &outcome {
            Outcome::Result(result) => (
                lenient_view::text_of_tool_result(result),
                lenient_view::member_of(result, "isError") == Some(&Value::Bool(true)),
                lenient_view::member_of(result, "structuredContent").cloned(),
            ),
            Outcome::Error(_)
            | Outcome::Malformed(_)
            | Outcome::Refused(_)
            | Outcome::TimedOut { .. }
            | Outcome::Closed { .. }
            | Outcome::Cancelled => (String::new(), false, None),
        };
        Self { is_error, structured, ..Self::new(outcome, text) }
    }

    /// The JSON under test: the text when it is JSON (or holds a JSON document), else `structuredContent`.
    pub fn json(&self) -> Option<&Value> {
        self.json.get_or_init(|| lenient_view::first_json(&self.text).or_else(|| self.structured.clone())).as_ref()
    }

    /// Number of progress notifications.
    pub fn progress_count(&self) -> u64 {
        self.notifications.iter().filter(|n| n.method == "notifications/progress").count() as u64
    }
}
