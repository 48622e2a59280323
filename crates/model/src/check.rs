//! The contract of a check: pure, and speaking of one observation.

use std::fmt::Debug;
use std::sync::Arc;

use serde_json::Value;

use crate::{Observation, Question, Snapshot, Span};

/// One thing a case expects. A check is pure: it reads an [`Observation`] and nothing else.
pub trait Check: Debug + Send + Sync {
    /// Compares the observation with the expectation.
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch>;

    /// A remark on an expectation that held, e.g. that it held only loosely.
    fn remark(&self, _seen: &Observation) -> Option<String> {
        None
    }

    /// The name its author gave it, by which metrics refer to it.
    fn label(&self) -> Option<&str> {
        None
    }

    /// The files it speaks of; they are read before and after the request under test.
    fn files(&self) -> Vec<&str> {
        Vec::new()
    }

    /// True if it compares with stored values; they are read before it judges.
    fn wants_stored(&self) -> bool {
        false
    }

    /// The values it would have stored.
    fn to_store(&self, _seen: &Observation) -> Vec<Snapshot> {
        Vec::new()
    }

    /// True if it judges headers of an HTTP response.
    fn wants_headers(&self) -> bool {
        false
    }

    /// True if a language model, or a script in its place, decides it.
    fn is_model_graded(&self) -> bool {
        false
    }

    /// The questions to judges that it depends on.
    fn questions(&self, _seen: &Observation) -> Vec<Question> {
        Vec::new()
    }

    /// A name that targets of other checks may begin with, and what it stands for once this check is graded.
    fn supplies(&self, _seen: &Observation) -> Option<(&'static str, Value)> {
        None
    }

    /// True if notifications that are still to come could make it hold: "at least", never "at most".
    fn awaits_more(&self) -> bool {
        false
    }

    /// True if notifications that are still to come could break it: "at most" and "none".
    fn breaks_with_more(&self) -> bool {
        false
    }

    /// True if it accepts a JSON-RPC error as the answer (otherwise such an error fails the case by itself).
    fn wants_protocol_error(&self) -> bool {
        false
    }

    /// True if it judges how long the answer took.
    fn judges_time(&self) -> bool {
        false
    }

    /// True if it compares the answer with what the server lists of the tool, which is then looked up.
    fn wants_tool(&self) -> bool {
        false
    }

    /// True if it accepts that no reply came (otherwise silence fails the case by itself).
    fn wants_no_reply(&self) -> bool {
        false
    }

    /// True if it says how an agent's run must end (otherwise one that did not finish fails by itself).
    fn judges_stop_reason(&self) -> bool {
        false
    }
}

/// Difference between an observation and the expectation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// One lowercase fragment: what is wrong.
    pub message: String,
    /// The expectation.
    pub expected: String,
    /// The actual value: bounded, with the interesting part in view.
    pub actual: String,
    /// A unified diff, where one helps.
    pub diff: Option<String>,
    /// Advice on what to do next.
    pub help: Option<String>,
}

/// A check with its name and the place that asked for it.
#[derive(Clone, Debug)]
pub struct PlannedCheck {
    /// Its name in the file format, e.g. `contains`.
    pub name: &'static str,
    /// The value that asked for it.
    pub span: Span,
    /// Its weight where a threshold is set.
    pub weight: f64,
    /// The check.
    pub check: Arc<dyn Check>,
}
