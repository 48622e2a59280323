//! An agent test: a model, the servers whose tools it is given, what it is asked, and what bounds it.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ChatTool, Expectation, Fault, Node, Observation, ServerSpec, Span};

/// An agent: a model in a loop with the tools of servers.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The model that decides.
    pub model: AgentModel,
    /// The servers whose tools it is given, at least one.
    pub servers: Vec<AgentServer>,
    /// Index of the one that the steps around the act use.
    pub steps_at: usize,
    /// Messages of the user, one string per turn, at least one unless a model plays the user.
    pub turns: Vec<Node>,
    /// A user that the model plays, after the turns.
    pub simulated_user: Option<SimulatedUser>,
    /// The system prompt.
    pub system_prompt: Option<Node>,
    /// Its limits.
    pub budget: AgentBudget,
    /// Faults in the order in which they are tried.
    pub faults: Vec<Fault>,
    /// Required recovery from them.
    pub recovery: Option<Recovery>,
    /// Tools that do the same.
    pub equal_function_sets: Vec<Vec<String>>,
    /// The tool it must choose.
    pub tool_selection: Option<ToolSelection>,
    /// The calls it must make; a threshold of `expect` does not soften this.
    pub trajectory: Expectation,
    /// Measures of its run, each with what is expected of it.
    pub gates: Vec<AgentGate>,
    /// Expectation on all its runs together.
    pub stability: Option<Expectation>,
    /// Expectation on the best of its models.
    pub matrix_assert: Option<MatrixAssert>,
    /// Number of runs.
    pub runs: NonZeroU32,
}

/// A user that a language model plays.
#[derive(Clone, Debug)]
pub struct SimulatedUser {
    /// Goal of the user: a text node.
    pub goal: Node,
    /// Manner of speaking: a text node.
    pub persona: Option<Node>,
    /// Maximum number of messages from the user.
    pub max_turns: u64,
}

/// A measure of an agent's run, and what is expected of it.
#[derive(Clone, Debug)]
pub struct AgentGate {
    /// The measure.
    pub measure: Arc<dyn AgentMeasure>,
    /// The expectation.
    pub expect: Expectation,
}

/// Something that can be measured in what an agent did.
pub trait AgentMeasure: fmt::Debug + Send + Sync {
    /// The name that its targets begin with.
    fn name(&self) -> &'static str;

    /// Its values: an object.
    fn measure(&self, seen: &Observation) -> Value;

    /// Tools that are offered to the model besides those of the servers; none of them may be called.
    fn distractors(&self, _offered: &[ChatTool]) -> Vec<ChatTool> {
        Vec::new()
    }
}

/// Expectation on the best of several models.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatrixAssert {
    /// The least score of the best model.
    pub max_score: Option<f64>,
    /// True if the best model is reported.
    pub select_best: bool,
    /// Its position in the file.
    pub span: Span,
}

/// A server of an agent.
#[derive(Clone, Debug)]
pub struct AgentServer {
    /// Its name in the suite, used by calls and faults.
    pub name: String,
    /// Its location.
    pub spec: Arc<ServerSpec>,
}

/// The model behind an agent.
#[derive(Clone, Debug)]
pub enum AgentModel {
    /// A script in the suite: no key, no network.
    Script(Vec<ScriptStep>),
    /// A language model.
    Named(NamedModel),
}

impl AgentModel {
    /// Its display name.
    pub fn name(&self) -> &str {
        match self {
            Self::Script(_) => "script",
            Self::Named(named) => &named.id,
        }
    }
}

/// A language model at a provider.
#[derive(Clone, Debug)]
pub struct NamedModel {
    /// Its name at the provider.
    pub id: String,
    /// Its provider; if unknown, only a recorded conversation can be replayed.
    pub provider: Option<Arc<Provider>>,
}

/// Provider of language models.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Its name in the suite.
    pub name: String,
    /// Its API.
    pub dialect: Dialect,
    /// Its URL, without the path of the request.
    pub base_url: String,
    /// Its API key; some local servers need none.
    pub key: Option<ProviderKey>,
    /// The organisation a request is made for.
    pub organization: Option<String>,
    /// Prices of its models by prefix of their names, from the suite.
    pub prices: Vec<(String, Price)>,
}

/// API of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The Messages API of Anthropic.
    Anthropic,
    /// Chat completions as `OpenAI` has them, and many others after it.
    OpenAi,
}

/// A key of a provider.
#[derive(Clone, Debug)]
pub struct ProviderKey {
    /// The variable of the environment that holds it.
    pub variable: String,
    /// Its value; `None` when the variable is not set.
    pub value: Option<Secret>,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Price of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// For tokens it reads.
    pub input: f64,
    /// For tokens it writes.
    pub output: f64,
}

/// Limits for a run of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentBudget {
    /// Maximum number of model replies per message of the user.
    pub max_turns: u64,
    /// Maximum number of tokens in one reply.
    pub max_tokens: u64,
    /// Maximum number of tool calls in total.
    pub max_tool_calls: Option<u64>,
    /// Maximum number of tokens in total.
    pub token_budget: Option<u64>,
    /// Time limit; the deadline of the case when absent.
    pub time_budget: Option<Duration>,
    /// Time limit of a call.
    pub call_timeout: Option<Duration>,
}

impl AgentBudget {
    /// Maximum number of tool calls where none is stated: a model that asks for more is out of its mind.
    pub const TOOL_CALLS: u64 = 10_000;

    /// The maximum number of tool calls in total.
    pub fn tool_calls(&self) -> u64 {
        self.max_tool_calls.unwrap_or(Self::TOOL_CALLS)
    }
}

impl Default for AgentBudget {
    fn default() -> Self {
        Self {
            max_turns: 10,
            max_tokens: 1024,
            max_tool_calls: None,
            token_budget: None,
            time_budget: None,
            call_timeout: None,
        }
    }
}

/// Requirements on the recovery from a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The budget for detecting that one call will not return.
    pub max_detection_ms: u64,
    /// The budget until the agent has recovered; unbounded when absent.
    pub max_recovery_ms: Option<u64>,
    /// True if detection must come within its budget.
    pub require_clean_timeout: bool,
    /// True if a fault may stay unhit.
    pub allow_unhit: bool,
    /// Its position in the file.
    pub span: Span,
}

/// The tool an agent must choose.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSelection {
    /// The tool; one that does the same counts too.
    pub expected_tool: String,
    /// The least share of runs in which it is called.
    pub min_selection_rate: f64,
    /// The most tokens a run may use.
    pub max_total_tokens: Option<u64>,
    /// Its position in the file.
    pub span: Span,
}

/// One turn of a scripted model. Nodes may hold templates.
#[derive(Clone, Debug)]
pub struct ScriptStep {
    /// Condition on the last results; if it is false, the step is skipped.
    pub when: Option<When>,
    /// Action of the model.
    pub action: ScriptAction,
    /// Number of repetitions.
    pub repeat: Repeat,
    /// Its position in the file.
    pub span: Span,
}

/// Action of a scripted model in a turn.
#[derive(Clone, Debug)]
pub enum ScriptAction {
    /// It calls tools, all at once.
    Call(Vec<ScriptCall>),
    /// It answers.
    Say(Node),
}

/// A call of a scripted model.
#[derive(Clone, Debug)]
pub struct ScriptCall {
    /// The server; the only one that has the tool when absent.
    pub server: Option<String>,
    /// The tool's name: a text node.
    pub tool: Node,
    /// Its arguments: a map.
    pub args: Node,
    /// Capabilities that the request claims instead of the real ones.
    pub claims: Option<Value>,
}

/// A condition about the last tool results.
#[derive(Clone, Debug)]
pub enum When {
    /// One of them is an error.
    Error,
    /// None of them is an error.
    Ok,
    /// The text of one of them contains this text.
    Contains(Node),
}

/// Number of times a step of a script is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// So many times in all.
    Times(u64),
    /// Until something else ends the run.
    Forever,
}

/// Reason for the end of an agent's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model gave its final answer.
    Completed,
    /// `max_turns` tripped.
    TurnBudget,
    /// `max_tool_calls` tripped.
    ToolCallBudget,
    /// `token_budget` tripped.
    TokenBudget,
    /// `time_budget`, or the deadline of the case, passed.
    TimeBudget,
    /// The script had no step left.
    ScriptEnded,
    /// A step of the script could not be taken.
    ScriptError,
    /// The model could not be asked.
    ProviderError,
    /// The recorded replies are of another conversation.
    CassetteMismatch,
}

impl StopReason {
    /// Its name in reports and targets.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::TurnBudget => "turn_budget",
            Self::ToolCallBudget => "tool_call_budget",
            Self::TokenBudget => "token_budget",
            Self::TimeBudget => "time_budget",
            Self::ScriptEnded => "script_ended",
            Self::ScriptError => "script_error",
            Self::ProviderError => "provider_error",
            Self::CassetteMismatch => "cassette_mismatch",
        }
    }
}
