//! Options of a suite file for all its cases.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::{FuzzDictionary, Judge, Provider, Security, ServerSpec, SourceFile, Span};

/// Options of a suite file for all its cases.
#[derive(Clone, Debug)]
pub struct SuiteOptions {
    /// The file.
    pub source: Arc<SourceFile>,
    /// Maximum number of concurrent cases.
    pub parallel: Parallel,
    /// True if servers are started while the case before them runs.
    pub prestart: bool,
    /// Limit for the 95th percentile of request latency.
    pub p95_latency: Option<Duration>,
    /// Gates and weights of a load of its tests.
    pub load: SuiteLoad,
    /// Commands run around its cases.
    pub hooks: Hooks,
    /// Required coverage.
    pub coverage: Coverage,
    /// Limit for the cost of its agents.
    pub budget: Budget,
    /// Its declarations about trust.
    pub security: Security,
    /// Its declarations for sequences of calls.
    pub fuzz: FuzzDictionary,
    /// The default judge.
    pub judge: Option<Judge>,
    /// Providers of the language models that grade.
    pub providers: Vec<Arc<Provider>>,
}

impl SuiteOptions {
    /// The options of a file that has none.
    pub fn new(source: Arc<SourceFile>) -> Self {
        Self {
            source,
            parallel: Parallel::default(),
            prestart: false,
            p95_latency: None,
            load: SuiteLoad::default(),
            hooks: Hooks::default(),
            coverage: Coverage::default(),
            budget: Budget::default(),
            security: Security::default(),
            fuzz: FuzzDictionary::default(),
            judge: None,
            providers: Vec::new(),
        }
    }

    /// True if the latency of the requests is judged over all cases.
    pub fn bounds_latency(&self) -> bool {
        self.p95_latency.is_some()
    }
}

/// Gates and weights of a load of the tests of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteLoad {
    /// The limits that fail the load, as they are written; all are valid.
    pub gates: Vec<String>,
    /// Tests whose share of the calls is not that of the others.
    pub weights: Vec<(String, u32)>,
}

/// Limits for the cost of language models, in millionths of a US dollar; an absent limit is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// One run of an agent.
    pub per_test_usd_micros: Option<u64>,
    /// All agents of a suite together.
    pub per_suite_usd_micros: Option<u64>,
}

/// Maximum number of concurrent cases.
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
    /// Its position in the file.
    pub span: Span,
    /// Its time limit.
    pub timeout: Duration,
    /// True if nothing waits for its end; it is ended after the last case.
    pub background: bool,
    /// Probe that must succeed before the run continues.
    pub wait_for: Option<WaitFor>,
    /// The author's message for a failure.
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
