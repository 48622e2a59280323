//! From a server as it was described to an open session.

use std::path::PathBuf;

use mcprove_model::{ClientCapabilities, ServerSpec, Target};
use mcprove_suite::template::{Variables, substitute_text};
use mcprove_wire::{Endpoint, HttpClient, Limits, OpenFailure, Program, Session, SessionOptions};
use tokio::time::Instant;

/// What opening a session needs beside the server's description.
#[derive(Clone, Debug)]
pub(crate) struct Opener {
    /// The running program, which a suite may name as a server.
    pub(crate) own_program: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) http: HttpClient,
}

impl Opener {
    pub(crate) async fn open(
        &self,
        server: &ServerSpec,
        variables: &Variables,
        deadline: Instant,
    ) -> Result<Session, Box<OpenFailure>> {
        let options = SessionOptions {
            limits: self.limits,
            client: with_roots_resolved(&server.client, variables),
            protocol: server.protocol,
            ..SessionOptions::default()
        };
        let endpoint = self.endpoint(&server.target, variables);
        Session::connect(&endpoint, &self.http, &options, deadline).await
    }

    fn endpoint(&self, target: &Target, variables: &Variables) -> Endpoint {
        let text = |text: &String| substitute_text(text, variables);
        let pairs = |pairs: &[(String, String)]| {
            pairs.iter().map(|(name, value)| (name.clone(), text(value))).collect::<Vec<_>>()
        };
        match target {
            Target::Stdio { command, args, env, cwd, docker: _ } => Endpoint::Stdio(self.own_or_named(Program {
                command: text(command),
                args: args.iter().map(text).collect(),
                env: pairs(env),
                cwd: cwd.as_ref().map(text),
            })),
            Target::Http { url, headers } => Endpoint::Http { url: text(url), headers: pairs(headers) },
            Target::Sse { url, headers } => Endpoint::Sse { url: text(url), headers: pairs(headers) },
        }
    }

    /// A command named `mcprove`, or the mock of a tool whose files we run, means the running program.
    fn own_or_named(&self, mut program: Program) -> Program {
        let is_mock = program.args.first().is_some_and(|arg| arg == "mock");
        let own = match program.command.as_str() {
            "mcprove" => true,
            "mcptest" | "mcp-assert" => is_mock,
            _ => false,
        };
        if own {
            program.command = self.own_program.to_string_lossy().into_owned();
        }
        program
    }
}

fn with_roots_resolved(client: &ClientCapabilities, variables: &Variables) -> ClientCapabilities {
    let mut client = client.clone();
    for root in client.roots.iter_mut().flatten() {
        *root = substitute_text(root, variables);
    }
    client
}
