//! Classification of answers to invalid requests.

use mcprove_model::{Outcome, escape_line, shorten};
use serde_json::Value;

use crate::scan_verdict::error_as_success;

const INTERNAL_ERROR: i64 = -32603;

/// Reaction of a server to an invalid request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It rejected it, as it should.
    Rejected {
        /// The code of a JSON-RPC error; `None` for a result with `isError`.
        code: Option<i64>,
    },
    /// It ran it and said nothing: silent execution.
    Executed,
    /// It answered with an error text as a success.
    ErrorText(String),
    /// It did not answer in time.
    Hung,
    /// It went away, or the connection did.
    Crashed(String),
    /// It answered with something that is not a valid reply.
    Malformed(String),
}

/// Says what an outcome means.
pub fn answer(outcome: &Outcome) -> Answer {
    match outcome {
        Outcome::Result(result) if result.get("isError") == Some(&Value::Bool(true)) => Answer::Rejected { code: None },
        Outcome::Result(result) => match error_as_success(result, &Value::Null) {
            Some(text) => Answer::ErrorText(text),
            None => Answer::Executed,
        },
        Outcome::Error(error) => Answer::Rejected { code: Some(error.code) },
        Outcome::Malformed(malformed) => Answer::Malformed(malformed.fault.clone()),
        Outcome::Refused(refused) => Answer::Crashed(refused.what.clone()),
        Outcome::TimedOut { .. } | Outcome::Cancelled => Answer::Hung,
        Outcome::Closed { what, .. } => Answer::Crashed(what.clone()),
    }
}

impl Answer {
    /// In a few words, for a table.
    pub fn word(&self) -> String {
        match self {
            Self::Rejected { code: Some(code) } => format!("error {code}"),
            Self::Rejected { code: None } => "isError".to_owned(),
            Self::Executed => "silent execution".to_owned(),
            Self::ErrorText(_) => "error text as a success".to_owned(),
            Self::Hung => "hang".to_owned(),
            Self::Crashed(_) => "crash".to_owned(),
            Self::Malformed(_) => "malformed reply".to_owned(),
        }
    }

    /// In a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Rejected { code: Some(code) } => format!("it was rejected with the JSON-RPC error {code}"),
            Self::Rejected { code: None } => "it was rejected with `isError`".to_owned(),
            Self::Executed => "it was executed silently: the answer is an ordinary result".to_owned(),
            Self::ErrorText(text) => {
                format!(
                    "it was answered with an error text as a success, without `isError`: {}",
                    shorten(&escape_line(text), 120)
                )
            }
            Self::Hung => "it was not answered in time".to_owned(),
            Self::Crashed(what) => what.clone(),
            Self::Malformed(fault) => fault.clone(),
        }
    }

    /// True if it is a rejection that hides an unhandled exception.
    pub fn is_internal_error(&self) -> bool {
        *self == Self::Rejected { code: Some(INTERNAL_ERROR) }
    }
}
