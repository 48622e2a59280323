//! What a suite file says about all of its cases together.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::{Judge, Provider, Security, ServerSpec, SourceFile, Span};

/// What a suite file says about all of its cases together.
#[derive(Clone, Debug)]
pub struct SuiteOptions {
    /// The file.
    pub source: Arc<SourceFile>,
    /// How many of its cases may run side by side.
    pub parallel: Parallel,
    /// What the slowest twentieth of its requests may take.
    pub p95_latency: Option<Duration>,
    /// Commands run around its cases.
    pub hooks: Hooks,
    /// How much of a server its cases must reach.
    pub coverage: Coverage,
    /// What its agents may cost.
    pub budget: Budget,
    /// What it declares about trust.
    pub security: Security,
    /// Who grades, where a check names nobody.
    pub judge: Option<Judge>,
    /// Who runs the language models that grade.
    pub providers: Vec<Arc<Provider>>,
}

/// What language models may cost, in millionths of a US dollar; what is absent is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// One run of an agent.
    pub per_test_usd_micros: Option<u64>,
    /// All agents of a suite together.
    pub per_suite_usd_micros: Option<u64>,
}

/// How many cases may run side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parallel {
    /// One after the other, in file order.
    #[default]
    One,
    /// As many as the run allows.
    Auto,
    /// At most this many.
    AtMost(usize),
}

/// Commands run around the cases of a suite, in order.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// Before the first case.
    pub before_all: Vec<Hook>,
    /// After the last case.
    pub after_all: Vec<Hook>,
    /// Before each case.
    pub before_each: Vec<Hook>,
    /// After each case.
    pub after_each: Vec<Hook>,
}

impl Hooks {
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        let Self { before_all, after_all, before_each, after_each } = self;
        [before_all, after_all, before_each, after_each].into_iter().all(Vec::is_empty)
    }
}

/// A command, which must exit with 0, or a call of a tool, which must not be answered with an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// The program and its arguments, at least one word; none where a tool is called.
    pub words: Vec<String>,
    /// The tool that is called, on a session of its own.
    pub call: Option<HookCall>,
    /// Where it is written.
    pub span: Span,
    /// How long it may take.
    pub timeout: Duration,
    /// True if nothing waits for its end; it is ended after the last case.
    pub background: bool,
    /// What must be reachable before anything goes on.
    pub wait_for: Option<WaitFor>,
    /// What its author wants to be said if it fails.
    pub message: Option<String>,
}

/// A call of a tool before the first case, or after the last.
#[derive(Clone, Debug, PartialEq)]
pub struct HookCall {
    /// The server.
    pub server: Arc<ServerSpec>,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
}

impl Hook {
    /// The deadline of a command of which nothing else is said.
    pub const TIMEOUT: Duration = Duration::from_mins(1);

    /// A command that is waited for, until its deadline.
    pub fn new(words: Vec<String>, span: Span) -> Self {
        Self { words, span, ..Self::default() }
    }
}

impl Default for Hook {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            call: None,
            span: Span::default(),
            timeout: Self::TIMEOUT,
            background: false,
            wait_for: None,
            message: None,
        }
    }
}

/// Something that is waited for until it can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// A `host:port` that accepts connections.
    Tcp(String),
    /// A URL that answers with a status of 2xx.
    Url(String),
}

impl WaitFor {
    /// Reads `tcp://host:port`, or a URL.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(address) = text.strip_prefix("tcp://") {
            let (host, port) = address.rsplit_once(':')?;
            return (!host.is_empty() && port.parse::<u16>().is_ok()).then(|| Self::Tcp(address.to_owned()));
        }
        let is_url = ["http://", "https://"].iter().any(|scheme| text.len() > scheme.len() && text.starts_with(scheme));
        is_url.then(|| Self::Url(text.to_owned()))
    }
}

impl std::fmt::Display for WaitFor {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => write!(out, "tcp://{address}"),
            Self::Url(url) => out.write_str(url),
        }
    }
}

/// The least share of a server that cases must reach, in percent; what is absent is not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Of its tools.
    pub tools: Option<f64>,
    /// Of the arguments of its tools.
    pub args: Option<f64>,
    /// Of its tools, by a call that is answered with an error.
    pub error_paths: Option<f64>,
    /// Of the transports.
    pub transports: Option<f64>,
}
