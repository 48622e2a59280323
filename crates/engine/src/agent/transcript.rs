//! Transcript of a run of an agent.

use mcprove_model::{Finding, StopReason, TracedCall, Usage};
use serde_json::Value;

/// Transcript of a run of an agent.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    pub(super) system: Option<String>,
    /// The user's messages and the answers to them.
    pub(super) turns: Vec<UserTurn>,
    pub(super) calls: Vec<Called>,
    pub(super) usage: Usage,
    /// Number of answers of the model.
    pub(super) model_turns: u64,
    pub(super) messages: usize,
    /// True if the replies of the model were recorded earlier.
    pub(super) replayed: bool,
    /// True if an answer was cut off.
    pub(super) truncated: bool,
    pub(super) elapsed_ms: u64,
    /// Why it ended; `None` while it goes on.
    pub(super) stopped: Option<Stopped>,
}

/// Something the user said.
#[derive(Debug)]
pub(super) struct UserTurn {
    pub(super) user: String,
    pub(super) response: Option<String>,
}

/// Why a run ended, and what is to be said about it.
#[derive(Debug)]
pub(super) struct Stopped {
    pub(super) reason: StopReason,
    pub(super) finding: Option<Box<Finding>>,
}

impl Stopped {
    pub(super) fn by(reason: StopReason) -> Self {
        Self { reason, finding: None }
    }

    pub(super) fn with(reason: StopReason, finding: Finding) -> Self {
        Self { reason, finding: Some(Box::new(finding)) }
    }
}

/// A call of an agent and its result.
#[derive(Clone, Debug)]
pub(super) struct Called {
    /// The server, as the suite names it; `None` when there is no such tool.
    pub(super) server: Option<String>,
    /// The tool, as the server names it.
    pub(super) tool: String,
    pub(super) args: Value,
    /// The user turn it was made in, from 0.
    pub(super) turn: usize,
    /// The answer of the model that asked for it, counted over the whole run, from 0.
    pub(super) hop: u64,
    /// The result as it came; an error as an object with `error`.
    pub(super) result: Value,
    /// The text that the model gets.
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl Transcript {
    pub(super) fn reason(&self) -> StopReason {
        self.stopped.as_ref().map_or(StopReason::Completed, |stopped| stopped.reason)
    }

    /// The final answer, if there is one.
    pub(super) fn answer(&self) -> Option<&str> {
        self.turns.last().and_then(|turn| turn.response.as_deref()).filter(|_| self.stopped.is_none())
    }

    /// True if the run ended with an answer of its own.
    pub(super) fn replied_cleanly(&self) -> bool {
        self.answer().is_some_and(|answer| !answer.trim().is_empty())
    }

    /// The calls as trajectories are compared.
    pub(super) fn traced(&self) -> Vec<TracedCall> {
        self.calls.iter().map(|call| TracedCall { tool: call.tool.clone(), args: call.args.clone() }).collect()
    }
}
