//! Adversarial calls: every tool gets inputs that break programs, and what fails is made small, told and kept.
//!
//! A tool is worked on alone, on servers of its own (`tool.rs`), so that what is sent does not depend on how many are
//! worked on side by side. `line.rs` is the server that its calls go to, `window.rs` has several in flight once a server
//! has proved steady, `minimal.rs` makes a failure small on fresh servers (`attempt.rs`), `load.rs` looks at what happens
//! to calls that are open at once.

mod attempt;
mod failure;
pub(crate) mod in_suite;
mod keep;
mod line;
mod load;
mod minimal;
mod run;
mod survey;
mod telling;
mod tool;
mod window;
mod workshop;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcprove_judge::tool_effect::Consent;
use mcprove_wire::Limits;
use serde_json::Value;

pub use failure::{Failure, Reproduction};
pub use keep::{Keeping, KeptTest, kept_test};
pub use run::{FuzzRun, FuzzedTool, fuzz};
pub use tool::Tally;

/// How a server is fuzzed.
#[derive(Clone, Debug)]
pub struct FuzzOptions {
    /// Which tools may be called.
    pub consent: Consent,
    /// Only these tools; all when empty.
    pub tools: Vec<String>,
    /// How many calls a tool gets.
    pub runs: usize,
    /// When to stop, whatever is left to do.
    pub time: Option<Duration>,
    /// How many servers work side by side.
    pub jobs: usize,
    /// Fixes every byte of every call.
    pub seed: u64,
    /// Arguments that the user gave, by tool.
    pub given: BTreeMap<String, Vec<Value>>,
    /// How long the server may take to start.
    pub start: Duration,
    /// How long a call may take.
    pub timeout: Duration,
    /// Whether success on an input that the schema refuses is a failure.
    pub strict_input: bool,
    /// Values of the environment that no reply should hold.
    pub environment: Arc<[String]>,
    /// How many fresh servers may be started to make one failure small.
    pub attempts: usize,
    /// Whether frames are wanted.
    pub keep_frames: bool,
    /// The command line that does all of this again, without `--tool` and `--seed`.
    pub command: String,
    /// The running program, which may be named as a server.
    pub own_program: PathBuf,
    /// Name and version of the program, for the log.
    pub program: String,
    /// Wall-clock start, milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
    /// Bounds on sessions.
    pub limits: Limits,
}
