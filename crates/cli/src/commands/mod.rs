//! The commands, one file each.

mod ci;
mod matrix;
mod mock;
mod report;
mod run;

use clap::Subcommand;
use mcprove_model::ExitStatus;

use crate::context::Context;
use crate::failure::Failure;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run suites as a build server wants it: a threshold, JUnit XML, and what GitHub shows.
    Ci(ci::Args),
    /// Run the same suite on several servers and in several protocol revisions.
    Matrix(matrix::Args),
    /// Pretend to be a server, from a manifest.
    Mock(mock::Args),
    /// Render event logs; the logs of shards become one report.
    Report(report::Args),
    /// Run suites against servers.
    Run(run::Args),
}

/// Runs a command.
pub(crate) fn run(command: Command, context: &Context) -> Result<ExitStatus, Failure> {
    match command {
        Command::Ci(args) => ci::run(args, context),
        Command::Matrix(args) => matrix::run(&args, context),
        Command::Mock(args) => mock::run(&args, context),
        Command::Report(args) => report::run(&args, context),
        Command::Run(args) => run::run(&args, context),
    }
}
