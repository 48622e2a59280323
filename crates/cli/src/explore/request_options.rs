//! The server that is tried, and the options that all of these commands have.

use std::path::PathBuf;
use std::time::Duration;

use mcprove_model::ServerSpec;
use mcprove_suite::duration;

use crate::failure::Failure;
use crate::subject::Subject;
use crate::suites::load_as_written;

/// The server that is tried.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TargetServer {
    #[command(flatten)]
    subject: Subject,
    /// Take the server from a suite folder or file.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["server", "url", "client_config", "command"], help_heading = "Server")]
    suite: Option<PathBuf>,
    /// The server of the suite, where it has several.
    #[arg(long, value_name = "NAME", requires = "suite", help_heading = "Server")]
    suite_server: Option<String>,
    /// Time limit for the server's answer; progress restarts it.
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration::parse)]
    pub(crate) timeout: Duration,
}

/// Options around a request.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RequestOptions {
    #[command(flatten)]
    pub(crate) reach: TargetServer,
    /// Answer sampling, elicitation and roots requests from this file; its keys are those of `client_capabilities`.
    #[arg(long, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// The log level to ask the server for, such as debug.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// Add a field to the `_meta` of the request: `key=value` or `key:=json`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) meta: Vec<String>,
    /// Save images, audio and other binary content to this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) media: Option<PathBuf>,
    /// Write the request and an `expect` for its reply to a new assertion file.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Print the duration of the start, the listing and the request.
    #[arg(long)]
    pub(crate) timing: bool,
    /// Print the reply as the server sent it.
    #[arg(long, conflicts_with = "json")]
    pub(crate) raw: bool,
    /// Print the request, the reply and everything that happened as JSON, and nothing else, on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

impl TargetServer {
    /// The server that was named.
    pub(crate) fn server(&self) -> Result<ServerSpec, Failure> {
        let Some(path) = &self.suite else { return self.subject.spec() };
        let loaded = load_as_written(std::slice::from_ref(path));
        let mut servers: Vec<&ServerSpec> = Vec::new();
        for server in loaded.cases.iter().filter_map(|case| case.server.as_deref()) {
            if !servers.iter().any(|known| known.name == server.name) {
                servers.push(server);
            }
        }
        let names = || servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>().join(", ");
        let path = path.display();
        match (servers.as_slice(), &self.suite_server) {
            ([], _) if !loaded.findings.is_empty() => Err(Failure::Suite(loaded.findings)),
            ([], _) => Err(Failure::new(format!("`{path}` names no server"), "give a suite with a server")),
            ([only], None) => Ok((*only).clone()),
            (several, None) => Err(Failure::new(
                format!("`{path}` has {} servers", several.len()),
                format!("choose one with `--suite-server`: {}", names()),
            )),
            (several, Some(name)) => several.iter().find(|server| server.name == *name).map_or_else(
                || {
                    let message = format!("`{path}` has no server `{name}`");
                    Err(Failure::new(message, format!("it has: {}", names())))
                },
                |server| Ok((*server).clone()),
            ),
        }
    }
}
