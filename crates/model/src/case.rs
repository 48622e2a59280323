//! One test, decoded and valid.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::{
    Act, Agent, Isolation, Matrix, Node, PlannedCheck, ServerSpec, SourceFile, Span, SuiteOptions, Vocabulary,
};

/// One test, decoded and valid: a server, what to do there, and what to expect.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name, unique in its folder.
    pub name: String,
    /// The file it was written in.
    pub source: Arc<SourceFile>,
    /// Its position in the file.
    pub span: Span,
    /// The server under test; `None` for acts that need none.
    pub server: Option<Arc<ServerSpec>>,
    /// Calls made before the act.
    pub setup: Vec<Step>,
    /// Its action.
    pub act: Act,
    /// Values taken from the act's reply, for the steps after it.
    pub capture: Vec<Capture>,
    /// Calls made after the act, to look at the state it left.
    pub verify: Vec<Step>,
    /// Calls made in the end, also after a failure.
    pub teardown: Vec<Step>,
    /// Its expectation.
    pub expect: Expectation,
    /// The folder copied for this case and named by `{{fixture}}`; `None` when there is none.
    pub fixture: Option<PathBuf>,
    /// The columns it is run in by itself; without any, it is run once.
    pub matrix: Option<Arc<Matrix>>,
    /// Its server reuse.
    pub isolation: Isolation,
    /// Additional patterns that are masked in its snapshots.
    pub masks: Vec<String>,
    /// Words it can be chosen by.
    pub tags: Vec<String>,
    /// Its own deadline; the run's when absent.
    pub timeout: Option<Duration>,
    /// The reason for skipping it, if any.
    pub skip: Option<Skip>,
    /// The known defect for which it fails.
    pub known: Option<String>,
    /// Options of its file for all cases, for files that hold many.
    pub suite: Option<Arc<SuiteOptions>>,
}

impl Case {
    /// Every server it speaks to: its own, those of an agent, and those of its steps.
    pub fn servers(&self) -> impl Iterator<Item = &Arc<ServerSpec>> {
        let of_agent = self.agent().into_iter().flat_map(|agent| agent.servers.iter().map(|own| &own.spec));
        let steps = self.setup.iter().chain(&self.verify).chain(&self.teardown);
        let nodes = if let Act::Compose(composition) = &self.act { composition.nodes.as_slice() } else { &[] };
        let of_nodes = nodes.iter().filter_map(|node| node.server.as_ref());
        self.server.iter().chain(of_agent).chain(of_nodes).chain(steps.filter_map(|step| step.server.as_ref()))
    }

    /// Replaces all its servers, also those of its steps; an agent goes on calling them by the names it knows.
    pub fn replace_servers(&mut self, other: &mut dyn FnMut(&Arc<ServerSpec>) -> Arc<ServerSpec>) {
        let steps = self.setup.iter_mut().chain(&mut self.verify).chain(&mut self.teardown);
        for server in self.server.iter_mut().chain(steps.filter_map(|step| step.server.as_mut())) {
            *server = other(server);
        }
        if let Act::Agent(agent) = &mut self.act {
            for own in &mut agent.servers {
                own.spec = other(&own.spec);
            }
        }
        if let Act::Compose(composition) = &mut self.act {
            for server in composition.nodes.iter_mut().filter_map(|node| node.server.as_mut()) {
                *server = other(server);
            }
        }
    }

    /// The agent, if it is one.
    pub fn agent(&self) -> Option<&Agent> {
        if let Act::Agent(agent) = &self.act { Some(agent) } else { None }
    }
}

/// A call made around the act.
#[derive(Clone, Debug)]
pub struct Step {
    /// The call.
    pub call: StepCall,
    /// The server, where it is another than the case's own.
    pub server: Option<Arc<ServerSpec>>,
    /// Capabilities that the request claims instead of the real ones.
    pub claims: Option<Value>,
    /// Its expectation.
    pub expect: Expectation,
    /// Values taken from its reply.
    pub capture: Vec<Capture>,
    /// True if an `isError` reply is accepted.
    pub allow_error: bool,
    /// The condition until which the call is repeated; it is made once when absent.
    pub poll: Option<Poll>,
    /// Its position in the file.
    pub span: Span,
}

/// A call that is repeated until its reply is as expected.
#[derive(Clone, Debug)]
pub struct Poll {
    /// The checks that end it.
    pub until: Expectation,
    /// The pause between two calls.
    pub every: Duration,
    /// The time after which it is given up.
    pub timeout: Duration,
    /// Its position in the file.
    pub span: Span,
}

/// Call of a step. Nodes may hold templates.
#[derive(Clone, Debug)]
pub enum StepCall {
    /// A tool.
    Tool {
        /// Its name: a text node.
        tool: Node,
        /// Its arguments: a map.
        args: Node,
    },
    /// A resource that is read.
    Resource {
        /// Its URI: a text node.
        uri: Node,
    },
    /// The server is ended and started again on the same data.
    Restart {
        /// The flag that asks for it.
        flag: Node,
    },
}

impl StepCall {
    /// The node that names what is called.
    pub fn subject(&self) -> &Node {
        match self {
            Self::Tool { tool, .. } => tool,
            Self::Resource { uri } => uri,
            Self::Restart { flag } => flag,
        }
    }
}

/// A value taken from a reply, to be used as `{{name}}`.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The variable's name.
    pub name: String,
    /// A JSON path into the reply; the whole text when empty or `$`.
    pub path: String,
    /// Position of the path in the file.
    pub span: Span,
}

/// Expectation of a case: the checks its block decodes to, and the block if their values are not known yet.
#[derive(Clone, Debug, Default)]
pub struct Expectation {
    /// The block as written, where it holds templates: it is decoded again once their values are known.
    pub templated: Option<Box<Node>>,
    /// The vocabulary it is written in.
    pub vocabulary: Vocabulary,
    /// The checks, in the order they are reported in.
    pub checks: Vec<PlannedCheck>,
    /// Checks on the whole that judges decide; each must hold.
    pub judged: Vec<PlannedCheck>,
    /// The weighted share of checks that must hold; all of them when absent.
    pub threshold: Option<f64>,
    /// True if the values of its snapshots are stored anew in every run.
    pub updates_snapshots: bool,
}

impl Expectation {
    /// All checks, and what judges decide besides.
    pub fn all(&self) -> impl Iterator<Item = &PlannedCheck> {
        self.checks.iter().chain(&self.judged)
    }

    /// True if a language model, or a script in its place, decides part of it.
    pub fn is_model_graded(&self) -> bool {
        self.all().any(|planned| planned.check.is_model_graded())
    }
}

/// Reason for skipping a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The reason shown to people.
    pub reason: String,
}
