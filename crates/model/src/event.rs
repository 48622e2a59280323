//! The one ordered stream of a run. The event log is the saved run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Finding, Frame, LoadRecord, ProcessEnd, Snapshot, StopReason, Usage};

/// Something that happened in a run. Events of a case come together and cases come in plan order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run begins.
    RunStarted(RunStarted),
    /// Something about the suite or the run as a whole.
    Finding {
        /// What.
        finding: Finding,
    },
    /// A case begins.
    CaseStarted(CaseStarted),
    /// A session of the current case is open.
    Connected(Connected),
    /// A frame of a session of the current case.
    Frame {
        /// The case.
        index: usize,
        /// The session within the case, from 0.
        session: u32,
        /// The frame.
        frame: Frame,
    },
    /// A case is over.
    CaseFinished(CaseFinished),
    /// The run is over.
    RunFinished(RunFinished),
}

/// The head of an event log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// The log format; readers refuse what they do not know.
    pub format: u32,
    /// Name and version of the program that wrote the log.
    pub program: String,
    /// Wall-clock start, milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
    /// Number of planned cases.
    pub total: usize,
    /// Number of concurrent cases.
    pub jobs: usize,
    /// True if warnings fail cases.
    #[serde(default)]
    pub strict: bool,
    /// The shard of a larger plan, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardOf>,
    /// The arguments that repeat the run, as far as they affect its result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<String>,
    /// Place and circumstances of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Box<RunContext>>,
}

/// Place and circumstances of a run, for the readers of its report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunContext {
    /// The command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The commit that was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The branch that was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The page of the CI run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_url: Option<String>,
    /// The name of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// Position of a shard in a larger plan. Merged logs of all shards are the log of the whole plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ShardOf {
    /// Number of the shard, from 1.
    pub number: u32,
    /// Number of shards.
    pub of: u32,
    /// Identity of the whole plan: a hash of its cases.
    pub plan: String,
    /// Number of cases in the whole plan.
    pub cases: usize,
}

impl RunStarted {
    /// The log format this program writes.
    pub const FORMAT: u32 = 1;
}

/// A case begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseStarted {
    /// Its position in the plan; the larger one, when this run is a shard.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// The file it was written in.
    pub file: String,
    /// The line it begins at.
    pub line: u32,
    /// Number of the repetition, from 1.
    pub trial: u32,
    /// The server, as people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The column of a matrix it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl CaseStarted {
    /// The place of the case, for people: its file and line, or its server where no file holds it.
    pub fn place(&self) -> String {
        if self.file.is_empty() {
            self.server.clone().unwrap_or_default()
        } else {
            format!("{}:{}", self.file, self.line)
        }
    }
}

/// A session is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Connected {
    /// The case.
    pub index: usize,
    /// The session within the case, from 0.
    pub session: u32,
    /// The server, as the suite names it, where a case speaks to several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Its start, in microseconds since the start of the case; negative if it is shared and began before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub began_us: i64,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// The negotiated protocol revision.
    pub protocol: String,
    /// The server's own name.
    pub server_name: String,
    /// The server's own version.
    pub server_version: String,
}

/// A case is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseFinished {
    /// Its position in the plan.
    pub index: usize,
    /// Its verdict.
    pub verdict: Verdict,
    /// Everything there is to say about it, in reporting order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Its duration.
    pub duration_us: u64,
    /// Breakdown of the time.
    #[serde(default)]
    pub timings: Timings,
    /// The calls it made, in order; the act is the last with [`CallRole::Act`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallRecord>,
    /// The tail of the server's standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Exit of the server process, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_end: Option<ProcessEnd>,
    /// Snapshots to store, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<Snapshot>,
    /// Record of its agent, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<AgentRecord>>,
    /// Record of its load, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<LoadRecord>>,
}

impl CaseFinished {
    /// A case without calls and time of its own.
    pub fn new(index: usize, verdict: Verdict, findings: Vec<Finding>) -> Self {
        Self {
            index,
            verdict,
            findings,
            duration_us: 0,
            timings: Timings::default(),
            calls: Vec::new(),
            stderr: String::new(),
            process_end: None,
            snapshots: Vec::new(),
            agent: None,
            load: None,
        }
    }
}

/// Record of an agent besides its calls. Texts may be shortened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentRecord {
    /// The model.
    pub model: String,
    /// True if its replies were recorded earlier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// Messages of the user, in order.
    pub prompts: Vec<String>,
    /// The final answer; `None` when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Reason for the end of the run.
    pub stop_reason: StopReason,
    /// Number of replies of the model.
    pub turns: u64,
    /// Tokens it used.
    pub usage: Usage,
    /// Their cost, in millionths of a US dollar; `None` if the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd_micros: Option<u64>,
    /// Recovery from injected faults, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<String>,
    /// Scores of this run that are compared with those of other runs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<String, f64>,
}

/// Result of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Everything held.
    Passed,
    /// Something about the subject is wrong.
    Failed,
    /// It was not run, and why.
    Skipped {
        /// The reason.
        reason: String,
    },
    /// It could not be run: the server could not be started or reached, or the handshake failed.
    Error,
}

/// Breakdown of the time of a case, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timings {
    /// Copying the fixture.
    #[serde(default)]
    pub fixture: u64,
    /// Starting the server's process; nothing where one is shared or runs already.
    #[serde(default)]
    pub start: u64,
    /// The handshake, and with it what the server does before it answers.
    #[serde(default)]
    pub handshake: u64,
    /// Waiting for a turn with a server that was started ahead; not part of the case's duration.
    #[serde(default)]
    pub waiting: u64,
    /// Setup calls.
    #[serde(default)]
    pub setup: u64,
    /// The request under test.
    #[serde(default)]
    pub call: u64,
    /// Checks.
    #[serde(default)]
    pub checks: u64,
    /// Fuzzing: generated calls, and the servers that were started for them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fuzz: u64,
    /// Ending the server and removing the fixture copy.
    #[serde(default)]
    pub teardown: u64,
}

impl Timings {
    /// The parts with their names, in the order in which they happen.
    pub fn parts(&self) -> [(&'static str, u64); 9] {
        let Self { fixture, start, handshake, waiting, setup, call, checks, fuzz, teardown } = *self;
        [
            ("fixture", fixture),
            ("start", start),
            ("handshake", handshake),
            ("waiting", waiting),
            ("setup", setup),
            ("call", call),
            ("checks", checks),
            ("fuzz", fuzz),
            ("teardown", teardown),
        ]
    }

    /// Adds the time of another case.
    pub fn add(&mut self, other: &Self) {
        let Self { fixture, start, handshake, waiting, setup, call, checks, fuzz, teardown } = self;
        let mine = [fixture, start, handshake, waiting, setup, call, checks, fuzz, teardown];
        for (part, (_, more)) in mine.into_iter().zip(other.parts()) {
            *part = part.saturating_add(more);
        }
    }
}

/// A request of a case with its reply, both bounded for display; the frames hold all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Purpose of the call.
    pub role: CallRole,
    /// The method.
    pub method: String,
    /// The tool, resource or prompt it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The server, as the suite names it, where it is another than the case's own, and for calls of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The injected fault that answered in the server's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The request as sent, possibly shortened.
    pub request: String,
    /// The reply as received, possibly shortened; `None` when none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// Its duration.
    pub elapsed_us: u64,
}

/// Purpose of a call of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallRole {
    /// A setup step.
    Setup,
    /// The request under test.
    Act,
    /// A call that a model asked for.
    Agent,
    /// A wrong request that is to be rejected.
    Probe,
    /// A step that looks at the state afterwards.
    Verify,
    /// A step that cleans up.
    Teardown,
}

/// The run is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFinished {
    /// Its duration.
    pub duration_us: u64,
    /// True if it was stopped before its end.
    #[serde(default)]
    pub interrupted: bool,
    /// Advice that would have made it faster, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// True for a number that is left out.
fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}
