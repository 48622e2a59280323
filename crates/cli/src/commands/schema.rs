//! `mcprove schema`: the keys of suites, for editors; the output of `--json`, for programs.

use mcprove_mock::manifest_schema;
use mcprove_model::ExitStatus;
use mcprove_suite::schema::{KINDS, SCENARIO, either, text};

use crate::context::Context;
use crate::failure::Failure;
use crate::json_outputs::JSON_OUTPUTS;
use crate::stdout::print_exactly;

/// Print the JSON Schema of a kind of file, for editors, or of what `--json` prints.
#[derive(Debug, clap::Args)]
#[command(after_help = "An editor completes keys and shows what they mean in a file that begins with\n  \
                        # yaml-language-server: $schema=suite.schema.json\n\nExamples:\n  \
                        mcprove schema suite > suite.schema.json\n  mcprove schema assertion > assertion.schema.json\n  \
                        mcprove schema > mcprove.schema.json\n  \
                        mcprove schema report > report.schema.json\n  mcprove schema --output-of audit > audit.schema.json")]
pub(crate) struct Args {
    /// The kind of file; without it, the schema of both kinds of suites.
    #[arg(value_name = "assertion|suite|scenario|mock|report|events",
          value_parser = KINDS.iter().chain([&SCENARIO]).map(|kind| kind.name).chain([MOCK]).chain(WRITTEN.iter().map(|written| written.0)).collect::<Vec<_>>())]
    kind: Option<String>,
    /// The schema of what this command prints with `--json`.
    #[arg(long, value_name = "COMMAND", conflicts_with = "kind",
          value_parser = JSON_OUTPUTS.iter().map(|output| output.command).collect::<Vec<_>>())]
    output_of: Option<String>,
}

/// The manifests of `mcprove mock`.
const MOCK: &str = "mock";

/// Files that a run writes, with their schemas; of the event log, that of one line.
const WRITTEN: &[(&str, &str)] = &[
    ("report", include_str!("../../../../schema/report.json")),
    ("events", include_str!("../../../../schema/events.json")),
];

pub(crate) fn run(args: &Args, _context: &Context) -> Result<ExitStatus, Failure> {
    if let Some(command) = &args.output_of {
        let schema = JSON_OUTPUTS.iter().find(|output| output.command == command).map(|output| output.schema);
        print_exactly(schema.unwrap_or_default())?;
        return Ok(ExitStatus::Good);
    }
    if let Some((_, schema)) = WRITTEN.iter().find(|(name, _)| args.kind.as_deref() == Some(*name)) {
        print_exactly(schema)?;
        return Ok(ExitStatus::Good);
    }
    if args.kind.as_deref() == Some(MOCK) {
        print_exactly(&format!("{:#}\n", manifest_schema()))?;
        return Ok(ExitStatus::Good);
    }
    let kind = args.kind.as_ref().and_then(|name| KINDS.iter().chain([&SCENARIO]).find(|kind| kind.name == name));
    print_exactly(&kind.map_or_else(either, text))?;
    Ok(ExitStatus::Good)
}
