//! `mcprove ui`: a page in the browser to try and test servers.

use std::path::PathBuf;
use std::time::Duration;

use mcprove_model::{ExitStatus, ServerSpec};
use mcprove_suite::duration;

use crate::browser::open_in_browser;
use crate::context::Context;
use crate::execution::runtime;
use crate::failure::Failure;
use crate::logins::ask_elsewhere;
use crate::stdout::print;
use crate::stop_signals::StopSignals;
use crate::subject::Subject;
use crate::suites::load_as_written;
use crate::ui::{Settings, serve};

/// Try and test servers on a page in the browser.
#[derive(Debug, clap::Args)]
#[command(after_help = "The page is served on 127.0.0.1. The URL that is printed has a token that works once. An \
                        interrupt (Ctrl-C) ends it.\n\nExamples:\n  mcprove ui --server 'npx -y my-server'\n  mcprove ui evals/\n  \
                        mcprove ui --no-open --port 4000")]
pub(crate) struct Args {
    /// Suites to test, and to take servers from.
    #[arg(value_name = "SUITE")]
    suites: Vec<PathBuf>,
    #[command(flatten)]
    subject: Subject,
    /// The port to serve on [default: any that is free].
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Print the URL, and open no browser.
    #[arg(long)]
    no_open: bool,
    /// The folder with event logs to show and compare [default: the current one].
    #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    logs: PathBuf,
    /// Time limit for a server to start and to list what it has.
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration::parse)]
    timeout: Duration,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    if !args.logs.is_dir() {
        let message = format!("the folder of event logs `{}` does not exist", args.logs.display());
        return Err(Failure::new(message, "give `--logs` an existing folder"));
    }
    if let Some(missing) = args.suites.iter().find(|path| !path.exists()) {
        let message = format!("`{}` does not exist", missing.display());
        return Err(Failure::new(message, "name suite files or folders, or none at all"));
    }
    ask_elsewhere();
    let settings = Settings {
        servers: servers(args)?,
        subject: args.subject.is_named().then(|| args.subject.spec()).transpose()?,
        suites: args.suites.clone(),
        logs: args.logs.clone(),
        own_program: context.own_program.clone(),
        limits: context.limits,
        timeout: args.timeout,
    };
    let ready = |url: &str| {
        // A reader that went away has seen what it wanted.
        let _ = print(&format!("{url}\n"));
        if !args.no_open {
            open_in_browser(url);
        }
    };
    runtime(1)?.block_on(async {
        let mut signals = StopSignals::listen();
        let local = tokio::task::LocalSet::new();
        let serving = local.run_until(serve(settings, args.port, ready));
        tokio::select! {
            biased;
            () = signals.next() => Ok(ExitStatus::Good),
            served = serving => match served {
                Ok(()) => Ok(ExitStatus::Good),
                Err(error) => Err(Failure::new(
                    format!("port {} of 127.0.0.1 cannot be used: {error}", args.port),
                    "give another `--port`, or none",
                )),
            },
        }
    })
}

/// The servers that the page offers to connect to.
fn servers(args: &Args) -> Result<Vec<ServerSpec>, Failure> {
    let mut servers: Vec<ServerSpec> = Vec::new();
    if args.subject.is_named() {
        servers.push(args.subject.spec()?);
    }
    if !args.suites.is_empty() {
        let loaded = load_as_written(&args.suites);
        for server in loaded.cases.iter().filter_map(|case| case.server.as_deref()) {
            if !servers.iter().any(|known| known.name == server.name) {
                servers.push(server.clone());
            }
        }
    }
    Ok(servers)
}
