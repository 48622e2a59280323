//! The command line.

use clap::{Parser, ValueEnum};

use crate::commands::Command;
use crate::limits::{self, Limit};

const EXIT_CODES: &str = "Exit codes: 0 good, 1 something is wrong with the server, the tests or the files, 2 the job could not be done, \
                          4 nothing was selected, 70 a bug of mcprove, 130 interrupted; each command says its own.";

/// Tests MCP servers and the agents that use them.
#[derive(Debug, Parser)]
#[command(name = "mcprove", version, about, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(flatten)]
    pub(crate) everywhere: GlobalArguments,
    /// The subcommand.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The program without its commands.
pub(crate) fn program() -> clap::Command {
    let program = clap::Command::new("mcprove")
        .version(env!("CARGO_PKG_VERSION"))
        .about(env!("CARGO_PKG_DESCRIPTION"))
        .max_term_width(100)
        .after_help(EXIT_CODES)
        .subcommand_required(true)
        .arg_required_else_help(true);
    <GlobalArguments as clap::Args>::augment_args(program)
}

// The options of every command. A documentation comment would become the description of the program.
#[derive(Debug, clap::Args)]
pub(crate) struct GlobalArguments {
    /// When to use colours.
    #[arg(long, global = true, help_heading = "Everywhere", value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Print less: of suites, failures and the summary only.
    #[arg(short, long, global = true, help_heading = "Everywhere", conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more: calls, timings, notes.
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    pub(crate) verbose: bool,
    /// Change a resource limit, such as message=128MiB; a wrong name lists them all.
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "NAME=VALUE", value_parser = limits::parse)]
    pub(crate) limit: Vec<Limit>,
}

/// When to use colours; `auto` means on a terminal that wants them. The values have no help of their own, because one
/// that has makes clap set every option of every `--help` on lines of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        super::Arguments::command().debug_assert();
    }
}
