//! Refusals of the sandbox as findings: they are never the server's fault.

use std::path::PathBuf;

use mcprove_model::{Finding, Observation, Outcome, ServerSpec, Target, ToolVerdict};
use mcprove_suite::template::{Variables, substitute_text};
use mcprove_wire::{Refusal, SandboxSupport, refusal_in, sandbox_support, writable_paths};

use crate::server::policy;

/// Rules of a server's sandbox, to distinguish its refusals from the server's own errors.
#[derive(Debug)]
pub(crate) struct SandboxRules {
    folder: PathBuf,
    writable: Vec<PathBuf>,
}

impl SandboxRules {
    /// The rules of a server; `None` for one that is not confined.
    pub(crate) fn of(server: &ServerSpec, variables: &Variables) -> Option<Self> {
        let sandbox = server.sandbox.as_ref()?;
        if let SandboxSupport::Unsupported(_) = sandbox_support() {
            return None;
        }
        let Target::Stdio { cwd, .. } = &server.target else { return None };
        let folder = match cwd {
            Some(cwd) => PathBuf::from(substitute_text(cwd, variables)),
            None => std::env::current_dir().unwrap_or_default(),
        };
        Some(Self { folder, writable: writable_paths(&policy(sandbox, variables)) })
    }

    /// The sandbox's refusal to a tool, by its answer, or by the server's standard error if the server exited.
    pub(crate) fn refusal(&self, seen: &Observation, stderr: &str) -> Option<Refusal> {
        let text = match &seen.outcome {
            Outcome::Result(_) => seen.text.clone(),
            Outcome::Error(error) => error.to_string(),
            Outcome::Closed { .. } | Outcome::TimedOut { .. } => stderr.to_owned(),
            Outcome::Malformed(_) | Outcome::Refused(_) | Outcome::Cancelled => return None,
        };
        refusal_in(&text, &self.folder, &self.writable)
    }
}

/// The findings about a call without what the sandbox is to blame for, and with a note that says so.
pub(crate) fn excuse(findings: &mut Vec<Finding>, refusal: &Refusal) {
    findings.retain(|finding| ToolVerdict::of_rule(&finding.rule).is_none());
    findings.push(refusal_note(refusal));
}

/// Says what was refused.
pub(crate) fn refusal_note(refusal: &Refusal) -> Finding {
    let help = "the server may not write there; `--no-sandbox` lets it, `--fixture DIR` gives it a copy of a folder";
    Finding::note("sandbox-refusal", refusal.to_string()).help(help)
}
