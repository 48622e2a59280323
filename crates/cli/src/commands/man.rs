//! `mcprove man`: the manual pages, for packagers.

use std::fs;
use std::path::{Path, PathBuf};

use clap_mangen::Man;
use mcprove_model::ExitStatus;

use crate::context::Context;
use crate::failure::Failure;
use crate::help::command_line;
use crate::stdout::print_exactly;

/// Print the manual page, or write those of all commands.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove man | man -l -\n  mcprove man --dir /usr/local/share/man/man1")]
pub(crate) struct Args {
    /// Write `mcprove.1`, `mcprove-run.1` and so on to this folder instead.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, _context: &Context) -> Result<ExitStatus, Failure> {
    let mut whole = command_line();
    whole.build();
    match &args.dir {
        None => print_exactly(&page(whole)?)?,
        Some(folder) => {
            fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
            let parts =
                whole.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
            for part in parts.cloned().chain([whole.clone()]) {
                let name = part.get_display_name().unwrap_or(part.get_name());
                let path = folder.join(format!("{name}.1"));
                fs::write(&path, page(part)?).map_err(|error| cannot_write(&path, &error))?;
            }
        }
    }
    Ok(ExitStatus::Good)
}

fn page(command: clap::Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    // Memory can be written to, so this does not fail; and if it did, half a page would be no page.
    Man::new(command)
        .render(&mut text)
        .map_err(|error| Failure::Other { message: format!("the page could not be made: {error}"), help: None })?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(
        format!("`{}` could not be written: {error}", path.display()),
        "give `--dir` a folder you may write to",
    )
}
