//! Examples: what a check holds for and what it does not.

use std::fmt;

/// A value of a check, an observation, and the expected result.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The value under the check's key, as JSON (which is YAML too).
    pub value: &'static str,
    /// The observation.
    pub seen: Seen,
    /// True if the check holds.
    pub holds: bool,
}

/// Observation of an example.
#[derive(Clone, Copy, Debug)]
pub enum Seen {
    /// A result with one text.
    Text(&'static str),
    /// A result of `tools/call`, as JSON.
    Result(&'static str),
    /// A JSON-RPC error with this code.
    ProtocolError(i64),
    /// A file before and after the call; `None` when it is not there.
    File {
        /// Its path.
        path: &'static str,
        /// Its content before.
        before: Option<&'static str>,
        /// Its content after.
        after: Option<&'static str>,
    },
    /// This many progress notifications.
    Progress(usize),
    /// Notifications, as a JSON list of `{method, params}`.
    Notifications(&'static str),
    /// Requests that the server made of the client, as a JSON list of `{method, params}`.
    Asked(&'static str),
    /// A sequence of tool calls, as a JSON list of `{tool, args}`.
    Trace(&'static str),
    /// Headers of an HTTP response, as a JSON object.
    Headers(&'static str),
    /// An answer that took this many milliseconds.
    Elapsed(u64),
    /// No reply.
    Nothing,
}

impl fmt::Display for Seen {
    /// The observation in a few words.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(out, "the text {text:?}"),
            Self::Result(json) => write!(out, "the result {json}"),
            Self::Headers(json) => write!(out, "a response with the headers {json}"),
            Self::ProtocolError(code) => write!(out, "a JSON-RPC error {code}"),
            Self::File { path, before, after } => match (before, after) {
                (Some(before), Some(after)) if before == after => write!(out, "the file {path} that stays {after:?}"),
                (Some(before), Some(after)) => write!(out, "the file {path} that was {before:?} and is {after:?}"),
                (Some(_), None) => write!(out, "the file {path} that was removed"),
                (None, Some(after)) => write!(out, "the file {path} that was made, with {after:?}"),
                (None, None) => write!(out, "no file {path}"),
            },
            Self::Progress(count) => write!(out, "{count} progress notifications"),
            Self::Notifications(json) => write!(out, "the notifications {json}"),
            Self::Asked(json) => write!(out, "the server asking {json}"),
            Self::Trace(json) => write!(out, "the calls {json}"),
            Self::Elapsed(ms) => write!(out, "an answer after {ms} ms"),
            Self::Nothing => write!(out, "no reply"),
        }
    }
}

/// An example in which the check holds.
pub(super) const fn holds(value: &'static str, seen: Seen) -> Example {
    Example { value, seen, holds: true }
}

/// An example in which the check fails.
pub(super) const fn fails(value: &'static str, seen: Seen) -> Example {
    Example { value, seen, holds: false }
}
