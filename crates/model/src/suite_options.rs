//! What a suite file says about all of its cases together.

use std::sync::Arc;
use std::time::Duration;

use crate::{Security, SourceFile, Span};

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
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        let Self { before_all, after_all, before_each, after_each } = self;
        [before_all, after_all, before_each, after_each].into_iter().all(Vec::is_empty)
    }
}

/// A command; it is well when it exits with 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The program and its arguments, at least one word.
    pub words: Vec<String>,
    /// Where it is written.
    pub span: Span,
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
