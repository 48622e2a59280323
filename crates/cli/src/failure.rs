//! Why a command could not do its job.

use mcprove_model::{ExitStatus, Finding};
use mcprove_report::render_findings;

use crate::context::Context;

/// Why a command could not do its job.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The authored files are wrong.
    #[error("{} in the suite", count(.0.len(), "problem"))]
    Suite(Vec<Finding>),
    /// The configuration file is wrong.
    #[error("{} in the configuration", count(.0.len(), "problem"))]
    Config(Vec<Finding>),
    /// Nothing is left to do.
    #[error("{message}")]
    NothingSelected {
        /// What was looked for.
        message: String,
        /// What to do next.
        help: String,
    },
    /// The user stopped it before there was anything to tell.
    #[error("interrupted")]
    Interrupted,
    /// Anything else.
    #[error("{message}")]
    Other {
        /// What went wrong.
        message: String,
        /// What to do next.
        help: Option<String>,
    },
}

impl Failure {
    /// A failure with what to do next.
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Other { message: message.into(), help: Some(help.into()) }
    }

    /// The failure that a finding is about.
    pub(crate) fn of(finding: &Finding) -> Self {
        Self::Other { message: finding.message.clone(), help: finding.help.clone() }
    }

    /// The exit status it deserves.
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Suite(_) | Self::Config(_) | Self::Other { .. } => ExitStatus::NotDone,
            Self::NothingSelected { .. } => ExitStatus::NothingSelected,
            Self::Interrupted => ExitStatus::Interrupted,
        }
    }

    /// Tells it on standard error.
    pub(crate) fn tell(&self, context: &Context) {
        let text = match self {
            Self::Suite(findings) | Self::Config(findings) => {
                format!("{}\nerror: {self}; nothing was started\n", render_findings(findings, &context.style()))
            }
            Self::NothingSelected { help, .. } | Self::Other { help: Some(help), .. } => {
                format!("error: {self}\n  help: {help}\n")
            }
            Self::Interrupted => "interrupted: nothing was called\n".to_owned(),
            Self::Other { help: None, .. } => format!("error: {self}\n"),
        };
        context.complain(&text);
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
