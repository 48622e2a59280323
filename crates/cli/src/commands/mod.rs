//! The commands, one file each.

mod explain;
mod mock;
mod run;
mod schema_lint;

use clap::Subcommand;
use mcprove_model::ExitStatus;

use crate::context::Context;
use crate::failure::Failure;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Explain a rule, a group of rules, or the exit codes.
    Explain(explain::Args),
    /// Pretend to be a server, from a manifest.
    Mock(mock::Args),
    /// Run suites against servers.
    Run(run::Args),
    /// Judge the input schemas that a server lists.
    SchemaLint(schema_lint::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command, context: &Context) -> Result<ExitStatus, Failure> {
    match command {
        Command::Explain(args) => explain::run(&args, context),
        Command::Mock(args) => mock::run(&args, context),
        Command::Run(args) => run::run(&args, context),
        Command::SchemaLint(args) => schema_lint::run(&args, context),
    }
}
