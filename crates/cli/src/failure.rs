//! Why a command could not do its job.

use std::fmt::Write as _;

use mcprove_model::{ExitStatus, Finding, Redactor, ServerSpec, shorten};
use mcprove_report::{escape_terminal_line, render_findings};
use mcprove_wire::OpenFailure;

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
        /// The message, with what was looked for.
        message: String,
        /// Advice.
        help: String,
    },
    /// The user stopped it before there was anything to report.
    #[error("interrupted")]
    Interrupted,
    /// A problem with the server.
    #[error("{message}")]
    Server {
        /// The message.
        message: String,
        /// The server's output instead of an answer.
        evidence: Option<String>,
        /// Advice.
        help: Option<String>,
    },
    /// Anything else.
    #[error("{message}")]
    Other {
        /// The message.
        message: String,
        /// Advice.
        help: Option<String>,
    },
}

/// Advice for a server that does not answer and gives no reason.
const UNOPENED: &str = "`mcprove doctor` with the same server shows all that it writes; does it need a variable, an \
                        argument, or more time (`--timeout 2m`)?";

impl Failure {
    /// A failure with what to do next.
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Other { message: message.into(), help: Some(help.into()) }
    }

    /// The failure that a finding is about.
    pub(crate) fn of(finding: &Finding) -> Self {
        let (message, help) = (finding.message.clone(), finding.help.clone());
        Self::Server { message, evidence: finding.actual.clone(), help }
    }

    /// The failure of a server that could not be reached; its output may show its secrets.
    pub(crate) fn unreachable(failure: &OpenFailure, server: &ServerSpec) -> Self {
        let secrets = crate::logins::redactor(server.secrets.iter().map(String::as_str));
        let sent = failure.evidence.as_deref().map(|bytes| {
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(EVIDENCE * 4)]);
            shorten(&secrets.text(&text), EVIDENCE).into_owned()
        });
        // Of a server that answered nothing, what it printed where answers belong is what there is to see.
        let printed = || failure.closing.oddities.iter().find_map(|oddity| oddity.actual.clone());
        let message = secrets.text(&failure.message).into_owned();
        let help = failure.help.as_deref().map_or(UNOPENED.into(), |help| secrets.text(help));
        let evidence = sent.or_else(|| printed().map(|text| secrets.text(&text).into_owned()));
        Self::Server { message, evidence, help: Some(help.into_owned()) }
    }

    /// The same without secrets, for messages that quote a server.
    pub(crate) fn masked(self, redactor: &Redactor) -> Self {
        let mask = |text: String| redactor.text(&text).into_owned();
        match self {
            Self::NothingSelected { message, help } => {
                Self::NothingSelected { message: mask(message), help: mask(help) }
            }
            Self::Server { message, evidence, help } => {
                Self::Server { message: mask(message), evidence: evidence.map(mask), help: help.map(mask) }
            }
            Self::Other { message, help } => Self::Other { message: mask(message), help: help.map(mask) },
            Self::Suite(_) | Self::Config(_) | Self::Interrupted => self,
        }
    }

    /// The server's output instead of an answer.
    pub(crate) fn evidence(&self) -> Option<&str> {
        match self {
            Self::Server { evidence, .. } => evidence.as_deref(),
            Self::Suite(_)
            | Self::Config(_)
            | Self::NothingSelected { .. }
            | Self::Interrupted
            | Self::Other { .. } => None,
        }
    }

    /// The exit status it deserves.
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Suite(_) | Self::Config(_) | Self::Server { .. } | Self::Other { .. } => ExitStatus::NotDone,
            Self::NothingSelected { .. } => ExitStatus::NothingSelected,
            Self::Interrupted => ExitStatus::Interrupted,
        }
    }

    /// Prints it on standard error.
    pub(crate) fn print(&self, context: &Context) {
        let text = match self {
            Self::Suite(findings) | Self::Config(findings) => {
                format!("{}\nerror: {self}; nothing was started\n", render_findings(findings, &context.style()))
            }
            Self::Server { message, evidence, help } => lines(message, evidence.as_deref(), help.as_deref()),
            Self::NothingSelected { message, help } => lines(message, None, Some(help)),
            Self::Interrupted => "interrupted: nothing was called\n".to_owned(),
            Self::Other { message, help } => lines(message, None, help.as_deref()),
        };
        context.write_stderr(&text);
    }
}

/// Characters of what a server sent that are shown.
const EVIDENCE: usize = 500;

/// A message with what belongs to it; parts of each may come from a server.
fn lines(message: &str, evidence: Option<&str>, help: Option<&str>) -> String {
    let indented = |text: &str| text.lines().map(escape_terminal_line).collect::<Vec<_>>().join("\n    ");
    let mut text = format!("error: {}\n", indented(message));
    if let Some(evidence) = evidence.filter(|evidence| !evidence.trim().is_empty()) {
        let _ = writeln!(text, "  it sent: {}", indented(evidence.trim_end()));
    }
    if let Some(help) = help {
        let _ = writeln!(text, "  help: {}", indented(help));
    }
    text
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

#[cfg(test)]
mod tests {
    use mcprove_wire::{Closing, Stage};

    use super::*;

    #[test]
    fn no_part_of_a_failure_shows_a_secret() {
        let server = ServerSpec { secrets: vec!["s3cret-token".to_owned()], ..ServerSpec::default() };
        let failure = OpenFailure {
            stage: Stage::Handshake,
            message: "HTTP 429: s3cret-token".to_owned(),
            help: Some("it asks to wait until s3cret-token".to_owned()),
            evidence: Some("s3cret-token".into()),
            status: Some(429),
            again: None,
            closing: Closing::default(),
        };
        let Failure::Server { message, evidence, help } = Failure::unreachable(&failure, &server) else {
            panic!("a server that was not reached");
        };
        assert_eq!(message, "HTTP 429: ***");
        assert_eq!(evidence.as_deref(), Some("***"));
        assert_eq!(help.as_deref(), Some("it asks to wait until ***"));
    }
}
