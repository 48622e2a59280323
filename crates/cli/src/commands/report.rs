//! `mcprove report`: event logs into reports, several into one.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use mcprove_judge::load::merge_loads;
use mcprove_model::{ExitStatus, Report};
use mcprove_report::{FORMATS, Format, Shows, Terminal, TerminalOptions, Threshold};

use crate::atomic_write;
use crate::baselines::Baselines;
use crate::browser::open_and_wait;
use crate::context::Context;
use crate::failure::Failure;
use crate::finish::{FinishOptions, Gates, RunOutcome, Stdout, finish};
use crate::logs::{self, Frames};
use crate::outputs::Outputs;
use crate::stdout::print_exactly;

/// Render event logs; the logs of shards become one report.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  mcprove report run.ndjson\n  mcprove report run.ndjson --format html -o report.html\n  \
                  mcprove report shard-*.ndjson --junit junit.xml --html report.html"
)]
pub(crate) struct Args {
    /// Logs that `mcprove run --events` wrote; `-` is standard input.
    #[arg(value_name = "EVENTS", required = true)]
    logs: Vec<PathBuf>,
    /// The format to print [default: what a run shows].
    #[arg(long, value_name = "NAME", value_parser = formats())]
    format: Option<&'static Format>,
    /// Open the report as a page in the browser.
    #[arg(long, conflicts_with_all = ["format", "json"])]
    open: bool,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "PATH", requires = "format")]
    output: Option<PathBuf>,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Percentage of cases that must pass, skipped ones aside [default: all].
    #[arg(long, value_name = "PERCENT")]
    threshold: Option<Threshold>,
    #[command(flatten)]
    outputs: Outputs,
    #[command(flatten)]
    baselines: Baselines,
}

fn formats() -> impl TypedValueParser<Value = &'static Format> {
    let values = FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.summary));
    PossibleValuesParser::new(values).try_map(|name| Format::find(&name).ok_or("no such format"))
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    args.outputs.distinct(&[args.baselines.saved(), ("-o", args.output.as_deref())])?;
    let baseline = args.baselines.read(false)?;
    let own = if args.open { Shows::Frames } else { args.format.map(|format| format.shows).unwrap_or_default() };
    let shows = own.max(args.outputs.shows());
    let waiting = context.waiting("reading event logs");
    let logs::Read { mut report, complaints } =
        logs::read(&args.logs, if shows >= Shows::Frames { Frames::Keep } else { Frames::Drop })?;
    drop(waiting);
    merge_loads(&mut report);
    for complaint in complaints {
        context.write_stderr(&format!("warning: {complaint}\n"));
    }
    let mut stdout = Stdout::of(args.json, &args.outputs);
    match (args.format, &args.output) {
        (Some(format), Some(path)) => write(path, &(format.render)(&report))?,
        (Some(format), None) => {
            print_exactly(&(format.render)(&report))?;
            stdout = Stdout::Report;
        }
        (None, _) if args.json || !args.outputs.are_for_people() => {}
        (None, _) if args.open => {
            show_in_browser(&report, context)?;
            stdout = Stdout::Report;
        }
        (None, _) => {
            let options = TerminalOptions { color: context.color, verbosity: context.verbosity, width: context.width };
            // A reader that went away (`| head`) has seen what it wanted.
            match Terminal::new(std::io::stdout().lock(), options).from_log().report(&report) {
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                    let message = format!("standard output could not be written: {error}");
                    return Err(Failure::Other { message, help: None });
                }
                Ok(()) | Err(_) => {}
            }
        }
    }
    let options = FinishOptions {
        stdout,
        outputs: &args.outputs,
        baselines: &args.baselines,
        baseline,
        known: BTreeSet::new(),
        is_partial: false,
        gates: Gates { threshold: args.threshold, regressions: args.baselines.fail_on_regression },
    };
    finish(RunOutcome::of(report), &options, context)
}

/// Writes the page to the folder of temporary files and opens it; the browser reads it when it gets to it, so it stays.
fn show_in_browser(report: &Report, context: &Context) -> Result<(), Failure> {
    let Some(html) = Format::find("html") else { return Ok(()) };
    let unwritable = |error: &dyn std::fmt::Display| {
        Failure::new(format!("the page could not be written: {error}"), "give `--html PATH` and open that")
    };
    let file = tempfile::Builder::new().prefix("mcprove-report-").suffix(".html").tempfile();
    let (mut file, path) = file.map_err(|error| unwritable(&error))?.keep().map_err(|error| unwritable(&error))?;
    file.write_all((html.render)(report).as_bytes()).map_err(|error| unwritable(&error))?;
    let place = path.display().to_string();
    context.write_stderr(&format!("the report is {place}\n"));
    open_and_wait(&place).map_err(|why| Failure::new(why, format!("open {place} yourself")))
}

fn write(path: &Path, content: &str) -> Result<(), Failure> {
    atomic_write::write_report(path, content.as_bytes()).map_err(|error| {
        Failure::new(
            format!("`{}` could not be written: {error}", path.display()),
            "give `-o` a path in an existing folder",
        )
    })
}
