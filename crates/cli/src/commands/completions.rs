//! `mcprove completions`: a script that lets a shell complete our commands and options.

use clap_complete::{Shell, generate};
use mcprove_model::ExitStatus;

use crate::context::Context;
use crate::failure::Failure;
use crate::help::command_line;
use crate::stdout::print_exactly;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mcprove completions bash > ~/.local/share/bash-completion/completions/mcprove\n  \
                        mcprove completions zsh > ~/.zfunc/_mcprove\n  \
                        mcprove completions fish > ~/.config/fish/completions/mcprove.fish"
)]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args, _context: &Context) -> Result<ExitStatus, Failure> {
    let mut script = Vec::new();
    generate(args.shell, &mut command_line(), "mcprove", &mut script);
    print_exactly(&String::from_utf8_lossy(&script))?;
    Ok(ExitStatus::Good)
}
