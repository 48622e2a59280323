//! A failure that was found, and the smallest reproduction of it.

use mcprove_judge::fuzz::FuzzVerdict;
use serde_json::Value;

/// A failure that was found. Failures with the same tool, kind, message and stack are one.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The tool.
    pub tool: String,
    /// The verdict.
    pub verdict: FuzzVerdict,
    /// Kind of the input that found it.
    pub label: String,
    /// The arguments that found it.
    pub original: Value,
    /// True if null arguments mean a call without `arguments`.
    pub is_left_out: bool,
    /// The smallest reproduction.
    pub reproduction: Reproduction,
    /// Number of calls that failed in this way.
    pub times: usize,
    /// Duration of the call that found it.
    pub elapsed_us: u64,
    /// The end of the server's standard error, where the call ended the server.
    pub stderr: String,
    /// True if it fails the run, or is only worth knowing.
    pub fails: bool,
}

/// The least that brings a failure about, on a fresh server.
#[derive(Clone, Debug, PartialEq)]
pub enum Reproduction {
    /// One call.
    Alone {
        /// Its arguments.
        arguments: Value,
    },
    /// The same call again and again.
    Repeated {
        /// Its arguments.
        arguments: Value,
        /// The call that fails, from 1.
        times: usize,
    },
    /// A call after others of the same tool.
    After {
        /// The arguments of the calls before it.
        before: Vec<Value>,
        /// Its arguments.
        arguments: Value,
    },
    /// Calls that are open at the same time.
    Together {
        /// The arguments of the call that gets the wrong answer.
        arguments: Value,
        /// The arguments of the other calls.
        beside: Vec<Value>,
        /// The text it is answered with when it is alone, where the answer was another call's.
        alone: Option<String>,
    },
    /// It was not looked for again.
    NotTried,
    /// It did not come again on a fresh server, neither with the call alone nor with all calls before it.
    Gone,
}

impl Reproduction {
    /// The arguments of the call that fails.
    pub fn arguments(&self) -> Option<&Value> {
        match self {
            Self::Alone { arguments }
            | Self::Repeated { arguments, .. }
            | Self::After { arguments, .. }
            | Self::Together { arguments, .. } => Some(arguments),
            Self::NotTried | Self::Gone => None,
        }
    }
}
