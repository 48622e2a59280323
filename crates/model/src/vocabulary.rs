//! Keys that are valid in each block.

/// The vocabulary of an expectation: each kind of block has its own.
///
/// A block that holds templates is decoded again once their values are known, so an expectation has to know in which
/// words it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vocabulary {
    /// `expect` of `assert`.
    #[default]
    Tool,
    /// `expect` of a step that calls a tool.
    ToolStep,
    /// `expect` of a step that reads a resource.
    ReadStep,
    /// `assert_resources`: a map of its `expect`, `expect_notification` and `subscribe`.
    Resources,
    /// `expect` of `assert_prompts`.
    Prompts,
    /// `expect` of `assert_completion`.
    Completion,
    /// `assert_sampling`: a map of its `expect` and `expect_sampling`.
    Sampling,
    /// `expect` of `assert_logging`.
    Logging,
    /// `expect` of `assert_notifications`.
    Notifications,
    /// `trajectory`: a list.
    Trajectory,
    /// `expect` of `assert_raw`.
    Raw,
    /// `expect` of an agent: its final answer, and targets in everything it did.
    Agent,
    /// `trajectory` of an agent: a sequence of calls with a mode, or a list of items.
    AgentTrajectory,
    /// `expect` of `tool_quality`: targets only.
    ToolQuality,
    /// `expect` of `negative_path`: targets only.
    NegativePath,
    /// `expect` of `fuzz`: targets only.
    Fuzz,
    /// `expect` of a block without a result: targets only.
    Targets(&'static Targets),
}

/// Targets that a block without a result has.
#[derive(Debug, PartialEq, Eq)]
pub struct Targets {
    /// One word for it.
    pub name: &'static str,
    /// The block, as people call it.
    pub block: &'static str,
    /// Beginnings of targets.
    pub known: &'static [&'static str],
}

impl Vocabulary {
    /// The block it is for, as people call it.
    pub fn block(self) -> &'static str {
        match self {
            Self::Tool => "`assert`",
            Self::ToolStep => "a step that calls a tool",
            Self::ReadStep => "a step that reads a resource",
            Self::Resources => "`assert_resources`",
            Self::Prompts => "`assert_prompts`",
            Self::Completion => "`assert_completion`",
            Self::Sampling => "`assert_sampling`",
            Self::Logging => "`assert_logging`",
            Self::Notifications => "`assert_notifications`",
            Self::Trajectory => "`trajectory`",
            Self::Raw => "`assert_raw`",
            Self::Agent => "an agent",
            Self::AgentTrajectory => "`trajectory` of an agent",
            Self::ToolQuality => "`tool_quality`",
            Self::NegativePath => "`negative_path`",
            Self::Fuzz => "`fuzz`",
            Self::Targets(targets) => targets.block,
        }
    }
}
