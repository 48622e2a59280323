//! The one action of a case.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::{Agent, Composition, Expectation, Metamorphic, Node, Offline, ScanWork, Score, Span};

/// The one thing a case does. What a file asks for is this enum, never "whichever field is present".
///
/// Nodes may hold templates; they are filled in when the case runs.
#[derive(Clone, Debug)]
pub enum Act {
    /// `tools/call`, judged by its result (`assert`, `assert_sampling`).
    CallTool(CallTool),
    /// Resources: list, read, templates, subscriptions (`assert_resources`).
    Resources(Resources),
    /// Prompts: list or get (`assert_prompts`).
    Prompts(Prompts),
    /// `completion/complete` (`assert_completion`).
    Complete(Completion),
    /// A log level, then perhaps a tool, judged by the log messages (`assert_logging`).
    Logging(Logging),
    /// `tools/call`, judged by the notifications it causes (`assert_notifications`).
    Notifications(CallTool),
    /// A recorded sequence of tool calls, judged without any server (`trajectory`).
    Trajectory(Trajectory),
    /// Any request, or any bytes (`assert_raw`).
    Raw(Raw),
    /// A model in a loop with the tools of servers (`agents`).
    Agent(Box<Agent>),
    /// Every tool is listed, and judged by how it describes itself (`tool_quality`).
    ToolQuality,
    /// A graph of tool calls (`compositions`).
    Compose(Box<Composition>),
    /// Work on files, judged without any server (`scenarios`, `calibration`, mocked `compositions`).
    Offline(Arc<dyn Offline>),
    /// An answer that commands grade (`evals`).
    Score(Box<Score>),
    /// Work that a planner made from what the server lists (`audit`, `negative`, `fuzz`).
    Scan(ScanWork),
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct CallTool {
    /// The tool's name: a text node.
    pub tool: Node,
    /// Its arguments: a map.
    pub args: Node,
    /// Cancel the call after this time and expect no reply.
    pub cancel_after: Option<Duration>,
    /// Drop the first reply on our side and call again, as a client that lost it would.
    pub lose_response: bool,
    /// Capabilities that the request claims instead of the real ones.
    pub claims: Option<Box<Value>>,
    /// Wrong requests that are made afterwards.
    pub negative_path: Option<Box<NegativePath>>,
    /// Number of consecutive calls; each answer is judged. At least 1.
    pub repeat: u32,
    /// Calls that are open at the same time: all are sent before any answer is awaited.
    pub beside: Vec<BesideCall>,
    /// Adversarial calls of the same tool, made once everything else held.
    pub fuzz: Option<Box<FuzzBlock>>,
    /// The time after the reply in which notifications are still awaited.
    pub settle: Duration,
    /// Rewriting of the request and the reply.
    pub transform: Option<Box<Transform>>,
    /// Related calls, made once everything else held.
    pub metamorphic: Option<Box<Metamorphic>>,
    /// The error that stands in for the answer; the server is not called.
    pub injected: Option<Box<InjectedError>>,
}

/// An error that stands in for the answer of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectedError {
    /// Its name in the suite.
    pub name: String,
    /// The code of JSON-RPC.
    pub code: i64,
    /// The message.
    pub message: String,
}

/// Rewriting of the request and the reply of a call.
#[derive(Clone, Debug)]
pub struct Transform {
    /// Rewrites `{name, arguments}` before it is sent.
    pub request: Option<TransformPhase>,
    /// Rewrites `{result}` before it is judged.
    pub response: Option<TransformPhase>,
    /// Its position in the file.
    pub span: Span,
}

/// One value in, one value out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransformPhase {
    /// A jq program.
    Jq(String),
    /// A command that reads JSON and prints JSON.
    Command(Vec<String>),
}

/// A call that is open at the same time as another.
#[derive(Clone, Debug)]
pub struct BesideCall {
    /// The tool's name: a text node.
    pub tool: Node,
    /// Its arguments: a map.
    pub args: Node,
}

/// Adversarial calls of a tool, as a suite asks for them.
#[derive(Clone, Debug)]
pub struct FuzzBlock {
    /// Fixes every byte of every call.
    pub seed: u64,
    /// Number of calls.
    pub cases: usize,
    /// Time limit of a call.
    pub max_call: Duration,
    /// Expectation on the counts; if empty, no failures are allowed.
    pub expect: Expectation,
    /// Position of the block in the file.
    pub span: Span,
}

/// Wrong requests of a tool, each of which must be rejected.
#[derive(Clone, Debug)]
pub struct NegativePath {
    /// The names of the probes, in the order they are made.
    pub checks: Vec<&'static str>,
    /// Size of an oversized argument in bytes.
    pub oversized_bytes: usize,
    /// Time limit of each request.
    pub timeout: Duration,
    /// Expectation on the counts.
    pub expect: Expectation,
    /// True if every probe must be passed, because nothing else is said about them.
    pub default_gate: bool,
    /// True if the expectation distinguishes a contract that was not probed from one that is kept.
    pub counts_probes: bool,
}

/// Request for resources.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Subscribed to before the request.
    pub subscribe: Option<Node>,
    /// The request.
    pub ask: ResourceAsk,
    /// `Some(true)` if an update must be announced after the request, `Some(false)` if it must not.
    pub expect_notification: Option<bool>,
    /// The time after the reply in which an update is still awaited.
    pub settle: Duration,
    /// Unsubscribed from in the end.
    pub unsubscribe: Option<Node>,
}

/// A request about resources.
#[derive(Clone, Debug)]
pub enum ResourceAsk {
    /// `resources/list`; all pages, or the one at a cursor.
    List {
        /// The cursor.
        cursor: Option<Node>,
    },
    /// `resources/templates/list`.
    Templates {
        /// The cursor.
        cursor: Option<Node>,
    },
    /// `resources/read`.
    Read {
        /// The resource's URI: a text node.
        uri: Node,
    },
    /// Nothing: a subscription alone.
    Nothing,
}

/// Request for prompts.
#[derive(Clone, Debug)]
pub enum Prompts {
    /// `prompts/list`; all pages, or the one at a cursor.
    List {
        /// The cursor.
        cursor: Option<Node>,
    },
    /// `prompts/get`.
    Get {
        /// The prompt's name: a text node.
        name: Node,
        /// Its arguments: a map of texts.
        arguments: Node,
    },
}

/// Request for completions. All three are maps as the protocol wants them.
#[derive(Clone, Debug)]
pub struct Completion {
    /// `ref`: `{type, name}` or `{type, uri}`.
    pub reference: Node,
    /// `argument`: `{name, value}`.
    pub argument: Node,
    /// `context`: `{arguments}`.
    pub context: Option<Node>,
}

/// Action that causes log messages.
#[derive(Clone, Debug)]
pub struct Logging {
    /// The level that is set first.
    pub level: Option<Node>,
    /// The tool that is called then.
    pub call: Option<Box<CallTool>>,
    /// The time after the reply in which messages are still awaited.
    pub settle: Duration,
}

/// Source of a sequence of tool calls.
#[derive(Clone, Debug)]
pub enum Trajectory {
    /// `trace`: written in the file, a list of `{tool, args}`.
    Trace(Node),
    /// `audit_log`: a file of `{tool, args}` lines, or an event log of mcprove.
    AuditLog(Node),
}

/// Anything that is sent.
#[derive(Clone, Debug)]
pub enum Raw {
    /// A request or notification with any method and any params.
    Message {
        /// The method: a text node.
        method: Node,
        /// The params, of any kind.
        params: Option<Node>,
        /// True if it is sent without an id.
        notification: bool,
    },
    /// A line exactly as written.
    Text(Node),
    /// Nothing more: the result of the handshake is judged. The node is where it is asked for.
    Handshake(Node),
}

/// The time after a reply in which notifications are still awaited, where a file says nothing else.
pub const SETTLE: Duration = Duration::from_millis(200);

impl Act {
    /// The time after the reply in which notifications are still awaited.
    pub fn settle(&self) -> Duration {
        match self {
            Self::CallTool(call) | Self::Notifications(call) => call.settle,
            Self::Logging(logging) => logging.settle,
            // An update is awaited by the act itself.
            Self::Resources(_)
            | Self::Prompts(_)
            | Self::Complete(_)
            | Self::Trajectory(_)
            | Self::Raw(_)
            | Self::Agent(_)
            | Self::Scan(_)
            | Self::Compose(_)
            | Self::Offline(_)
            | Self::Score(_)
            | Self::ToolQuality => Duration::ZERO,
        }
    }

    /// True if it speaks to a server.
    pub fn needs_server(&self) -> bool {
        !matches!(self, Self::Trajectory(_) | Self::Offline(_) | Self::Score(_))
    }
}
