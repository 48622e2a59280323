//! The commands, one file each.

mod mock;
mod run;

use clap::Subcommand;
use mcprove_model::ExitStatus;

use crate::context::Context;
use crate::failure::Failure;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Pretend to be a server, from a manifest.
    Mock(mock::Args),
    /// Run suites against servers.
    Run(run::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command, context: &Context) -> Result<ExitStatus, Failure> {
    match command {
        Command::Mock(args) => mock::run(&args, context),
        Command::Run(args) => run::run(&args, context),
    }
}
