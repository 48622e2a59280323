//! A server given on the command line.

use mcprove_model::{ServerSpec, Target};

/// A server given on the command line. A command takes the place of the command and arguments of every server of a suite,
/// which keep their environment and transport; a URL is the server of tests that name none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOverride {
    /// The program, or a URL.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

impl ServerOverride {
    /// The server of a case that has none of its own.
    pub(crate) fn alone(&self) -> ServerSpec {
        ServerSpec { name: self.command.clone(), target: self.target(), ..ServerSpec::default() }
    }

    /// The command that takes the place of others; a URL takes none.
    pub(crate) fn replacing(given: Option<&Self>) -> Option<&Self> {
        given.filter(|given| !given.is_url())
    }

    fn is_url(&self) -> bool {
        self.args.is_empty() && ["http://", "https://"].iter().any(|scheme| self.command.starts_with(scheme))
    }

    /// The program or URL, without anything that a file adds.
    pub(crate) fn target(&self) -> Target {
        if self.is_url() {
            return Target::http(self.command.clone(), Vec::new());
        }
        let (command, args) = (self.command.clone(), self.args.clone());
        Target::Stdio { command, args, env: Vec::new(), cwd: None, docker: None }
    }
}
