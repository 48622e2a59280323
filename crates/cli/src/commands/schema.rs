//! `mcprove schema`: what may stand in suites, for editors.

use mcprove_model::ExitStatus;
use mcprove_suite::schema::{KINDS, either, text};

use crate::context::Context;
use crate::failure::Failure;
use crate::stdout::print;

/// Print the JSON Schema of a kind of file, for editors.
#[derive(Debug, clap::Args)]
#[command(after_help = "An editor completes keys and shows what they mean in a file that begins with\n  \
                        # yaml-language-server: $schema=suite.schema.json\n\nExamples:\n  \
                        mcprove schema suite > suite.schema.json\n  mcprove schema assertion > assertion.schema.json\n  \
                        mcprove schema > mcprove.schema.json")]
pub(crate) struct Args {
    /// The kind of file; without it, the schema takes either.
    #[arg(value_name = "assertion|suite", value_parser = KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>())]
    kind: Option<String>,
}

pub(crate) fn run(args: &Args, _context: &Context) -> Result<ExitStatus, Failure> {
    let kind = args.kind.as_ref().and_then(|name| KINDS.iter().find(|kind| kind.name == name));
    print(&kind.map_or_else(either, text))?;
    Ok(ExitStatus::Good)
}
