//! mcprove tests MCP servers and the agents that use them.
//!
//! This crate is the program's thin outside: arguments become options, the engine runs, reporters tell it, and an
//! exit code comes out. It is the only room that prints, reads the environment and exits.

mod arguments;
mod baselines;
mod catalog_report;
mod catalogs;
mod commands;
mod conclusion;
mod context;
mod env_files;
mod execution;
mod explanations;
mod failure;
mod finding_report;
mod fixes;
mod help;
mod kept_tests;
mod live;
mod logs;
mod outputs;
mod selection;
mod snapshots;
mod starters;
mod stdout;
mod subject;
mod suites;
mod told_to_stop;
mod touring;
mod whole_file;

use std::io::Write as _;
use std::process::ExitCode;

use clap::FromArgMatches as _;
use mcprove_model::ExitStatus;

pub use arguments::Arguments;
pub use explanations::{Explained, Topic, findings};
pub use help::{PURPOSES, command_line};

use context::Context;

/// Runs the program with the arguments and environment of this process.
pub fn main() -> ExitCode {
    let ran = std::panic::catch_unwind(|| match parsed() {
        Ok(arguments) => run(arguments),
        Err(error) => usage(&error),
    });
    let status = ran.unwrap_or_else(|_| {
        let _ = writeln!(anstream::stderr(), "error: this is a bug of mcprove; please report it with the lines above");
        ExitStatus::Bug
    });
    ExitCode::from(status.code())
}

/// The arguments of this process.
fn parsed() -> Result<Arguments, clap::Error> {
    Arguments::from_arg_matches_mut(&mut command_line().try_get_matches()?)
}

fn run(arguments: Arguments) -> ExitStatus {
    let context = Context::of_this_process(&arguments);
    match commands::run(arguments.command, &context) {
        Ok(status) => status,
        Err(failure) => {
            failure.tell(&context);
            failure.status()
        }
    }
}

fn usage(error: &clap::Error) -> ExitStatus {
    let text = error.render();
    let text = text.ansi();
    let wanted = !error.use_stderr();
    // Nothing can be done when the terminal is gone.
    let _ = if wanted { write!(anstream::stdout(), "{text}") } else { write!(anstream::stderr(), "{text}") };
    if wanted { ExitStatus::Good } else { ExitStatus::NotDone }
}
