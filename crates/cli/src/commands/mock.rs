//! `mcprove mock`: a server from a manifest.

use std::path::PathBuf;

use mcprove_model::{ExitStatus, Severity};

use crate::context::Context;
use crate::failure::Failure;

/// Pretend to be a server, from a manifest.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mcprove mock --tools-from tools.yml")]
pub(crate) struct Args {
    /// The manifest: tools with their schemas and answers.
    #[arg(long, value_name = "FILE")]
    tools_from: PathBuf,
}

pub(crate) fn run(args: &Args, _context: &Context) -> Result<ExitStatus, Failure> {
    let (manifest, findings) = mcprove_mock::load(&args.tools_from);
    let Some(manifest) = manifest.filter(|_| findings.iter().all(|finding| finding.severity < Severity::Error)) else {
        return Err(Failure::Suite(findings));
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Failure::Other { message: format!("the runtime could not be started: {error}"), help: None }
    })?;
    let served = runtime.block_on(mcprove_mock::serve(&manifest, tokio::io::stdin(), tokio::io::stdout()));
    // A pending read of standard input would keep the runtime from ending.
    runtime.shutdown_background();
    match served {
        Ok(()) => Ok(ExitStatus::Good),
        Err(error) => {
            Err(Failure::new(format!("the client went away: {error}"), "nothing: the mock ends with its client"))
        }
    }
}
