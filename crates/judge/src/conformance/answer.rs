//! A reply, read as leniently as possible: what is wrong with its envelope is the business of the rules about envelopes.

use serde_json::Value;

use super::evidence::Payload;

/// Answer to a request.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'r> {
    /// With a result.
    Result(&'r Value),
    /// With a JSON-RPC error.
    Error(&'r Value),
    /// With something that is neither.
    Other(&'r Value),
    /// With an HTTP status and no JSON-RPC message.
    Status(u16),
    /// Not at all: the server went away.
    Gone,
    /// Not at all.
    Silence,
}

impl<'r> Answer<'r> {
    /// Reads a reply.
    pub fn of(payload: &'r Payload) -> Self {
        let Some(json) = &payload.json else { return Self::Silence };
        match (json.get("result"), json.get("error").filter(|error| !error.is_null())) {
            (_, Some(error)) => Self::Error(error),
            (Some(result), None) => Self::Result(result),
            (None, None) => Self::Other(json),
        }
    }

    /// The result, if it is one.
    pub fn result(self) -> Option<&'r Value> {
        match self {
            Self::Result(result) => Some(result),
            _ => None,
        }
    }

    /// True if it is a JSON-RPC error.
    pub fn is_error(self) -> bool {
        matches!(self, Self::Error(_))
    }

    /// The code of the error, also if it is written as a string or a float.
    pub fn code(self) -> Option<i64> {
        let Self::Error(error) = self else { return None };
        match error.get("code")? {
            Value::Number(code) => code.as_i64().or_else(|| {
                let float = code.as_f64()?;
                format!("{float:.0}").parse().ok()
            }),
            Value::String(code) => code.parse().ok(),
            _ => None,
        }
    }

    /// True if it is a result that reports a failure of the tool.
    pub fn is_tool_failure(self) -> bool {
        self.result().is_some_and(|result| match result.get("isError") {
            Some(Value::Bool(is_error)) => *is_error,
            Some(Value::String(text)) => text == "true" || text == "yes",
            _ => false,
        })
    }

    /// True if something answered at all: a message, or an HTTP status.
    pub fn came(self) -> bool {
        !matches!(self, Self::Gone | Self::Silence)
    }

    /// A few words for a message.
    pub fn words(self) -> String {
        match self {
            Self::Result(_) if self.is_tool_failure() => "a result with `isError: true`".to_owned(),
            Self::Result(_) => "a result".to_owned(),
            Self::Error(_) => match self.code() {
                Some(code) => format!("error {code}"),
                None => "an error without a code".to_owned(),
            },
            Self::Other(_) => "a message that is neither result nor error".to_owned(),
            Self::Status(status) => format!("HTTP {status} without a JSON-RPC message"),
            Self::Gone => "nothing: the server went away".to_owned(),
            Self::Silence => "no reply".to_owned(),
        }
    }
}
