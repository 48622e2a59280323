//! Outcomes of requests, in a few words.

use mcprove_model::{Observation, Outcome};

use crate::excerpt;

/// The outcome of the request under test, for the `actual` of a mismatch.
pub(super) fn described(seen: &Observation) -> String {
    match &seen.outcome {
        Outcome::Result(_) => {
            let flag = if seen.is_error { "a result with isError: true" } else { "a result without isError" };
            format!("{flag}: {}", excerpt::of_text(seen, 0..0))
        }
        Outcome::Error(error) => format!("JSON-RPC error {}: {}", error.code, excerpt::around(&error.message, 0..0)),
        Outcome::Malformed(malformed) => format!("a malformed reply: {}", malformed.fault),
        Outcome::Refused(refused) => format!("no reply: {}", refused.what),
        Outcome::TimedOut { after_ms } => format!("no reply within {after_ms} ms"),
        Outcome::Closed { what, end: _ } => format!("no reply: {what}"),
        Outcome::Cancelled => "no reply: the request was cancelled".to_owned(),
    }
}
