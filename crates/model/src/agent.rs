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
    /// Who decides.
    pub model: AgentModel,
    /// The servers whose tools it is given, at least one.
    pub servers: Vec<AgentServer>,
    /// Which of them the steps around the act speak to.
    pub steps_at: usize,
    /// What the user says, one text a turn, at least one unless a model plays the user.
    pub turns: Vec<Node>,
    /// A user that the model plays, after the turns.
    pub simulated_user: Option<SimulatedUser>,
    /// What the model is told first.
    pub system_prompt: Option<Node>,
    /// What bounds it.
    pub budget: AgentBudget,
    /// Faults in the order in which they are tried.
    pub faults: Vec<Fault>,
    /// How it must recover from them.
    pub recovery: Option<Recovery>,
    /// Tools that do the same.
    pub equal_function_sets: Vec<Vec<String>>,
    /// The tool it must choose.
    pub tool_selection: Option<ToolSelection>,
    /// The calls it must make; a threshold of `expect` does not soften this.
    pub trajectory: Expectation,
    /// Measures of its run, each with what is expected of it.
    pub gates: Vec<AgentGate>,
    /// What is expected of all of its runs together.
    pub stability: Option<Expectation>,
    /// What is expected of the best of its models.
    pub matrix_assert: Option<MatrixAssert>,
    /// How often it is run.
    pub runs: NonZeroU32,
}

/// A user that a language model plays.
#[derive(Clone, Debug)]
pub struct SimulatedUser {
    /// What the user wants: a text node.
    pub goal: Node,
    /// How the user speaks: a text node.
    pub persona: Option<Node>,
    /// How often the user may speak.
    pub max_turns: u64,
}

/// A measure of an agent's run, and what is expected of it.
#[derive(Clone, Debug)]
pub struct AgentGate {
    /// The measure.
    pub measure: Arc<dyn AgentMeasure>,
    /// What is expected.
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

/// What is expected of the best of several models.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatrixAssert {
    /// The least score of the best model.
    pub max_score: Option<f64>,
    /// True if the best model is reported.
    pub select_best: bool,
    /// Where it is written.
    pub span: Span,
}

/// A server of an agent.
#[derive(Clone, Debug)]
pub struct AgentServer {
    /// What the suite calls it; calls and faults name it so, wherever the server is.
    pub name: String,
    /// Where it is.
    pub spec: Arc<ServerSpec>,
}

/// Who decides what an agent does.
#[derive(Clone, Debug)]
pub enum AgentModel {
    /// A script in the suite: no key, no network.
    Script(Vec<ScriptStep>),
    /// A language model.
    Named(NamedModel),
}

impl AgentModel {
    /// What people call it.
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
    /// Who runs it; absent where that is unknown, and only a recorded conversation can be played.
    pub provider: Option<Arc<Provider>>,
}

/// Who runs language models.
#[derive(Clone, Debug)]
pub struct Provider {
    /// What the suite calls it.
    pub name: String,
    /// How it is spoken to.
    pub dialect: Dialect,
    /// Its address, without the path of the request.
    pub base_url: String,
    /// How we show who we are; some local servers want nothing.
    pub key: Option<ProviderKey>,
    /// The organisation a request is made for.
    pub organization: Option<String>,
    /// What models cost there, by the beginning of their names, as the suite says.
    pub prices: Vec<(String, Price)>,
}

/// How a provider is spoken to.
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

/// What a model costs, in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// For tokens it reads.
    pub input: f64,
    /// For tokens it writes.
    pub output: f64,
}

/// What bounds a run of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentBudget {
    /// How often the model may answer, for each thing the user says.
    pub max_turns: u64,
    /// How many tokens one answer may have.
    pub max_tokens: u64,
    /// How many tools it may call in all.
    pub max_tool_calls: Option<u64>,
    /// How many tokens it may use in all.
    pub token_budget: Option<u64>,
    /// How long it may take; the deadline of the case when absent.
    pub time_budget: Option<Duration>,
    /// How long it waits for a call.
    pub call_timeout: Option<Duration>,
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

/// What is asked of the recovery from a fault.
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
    /// Where it is written.
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
    /// Where it is written.
    pub span: Span,
}

/// One turn of a scripted model. Nodes may hold templates.
#[derive(Clone, Debug)]
pub struct ScriptStep {
    /// What must hold of the last results; otherwise the step is passed over.
    pub when: Option<When>,
    /// What the model does.
    pub action: ScriptAction,
    /// How often it does so.
    pub repeat: Repeat,
    /// Where it is written.
    pub span: Span,
}

/// What a scripted model does in a turn.
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
    /// What the request claims of the client in place of what is true.
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

/// How often a step of a script is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// So many times in all.
    Times(u64),
    /// Until something else ends the run.
    Forever,
}

/// Why a run of an agent ended.
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
