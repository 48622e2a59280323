//! `mcprove negative`: which wrong requests a server really rejects.

use mcprove_engine::Visit;
use mcprove_judge::negative::{PROBES, Probe};
use mcprove_model::{ExitStatus, nearest};
use mcprove_report::{Detail, Verbosity, contract_table, known_json};

use crate::context::Context;
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::stdout::print;
use crate::touring::Touring;

/// Send every tool requests that it must reject.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mcprove negative --server 'npx my-server' --checks unknown_tool,missing_required")]
pub(crate) struct Args {
    #[command(flatten)]
    touring: Touring,
    /// Which probes to make [default: all five].
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = probe)]
    checks: Vec<&'static Probe>,
    /// How many bytes an oversized argument has.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = oversized)]
    oversized: usize,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    outputs: Outputs,
}

fn oversized(text: &str) -> Result<usize, String> {
    let bytes = text.parse().ok().filter(|bytes| (1..=Probe::LARGEST).contains(bytes));
    bytes.ok_or_else(|| format!("give a number from 1 to {}", Probe::LARGEST))
}

fn probe(name: &str) -> Result<&'static Probe, String> {
    let names = PROBES.iter().map(|probe| probe.name);
    Probe::find(name).ok_or_else(|| match nearest(name, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known probes: {}", names.collect::<Vec<_>>().join(", ")),
    })
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let probes: Vec<&'static Probe> =
        if args.checks.is_empty() { PROBES.iter().collect() } else { args.checks.clone() };
    let names: Vec<&str> = probes.iter().map(|probe| probe.name).collect();
    let report = args.touring.tour(Visit::Probe { probes, oversized: args.oversized }, context)?;
    if args.json {
        print(&known_json(&report))?;
    } else {
        let detail = if context.verbosity == Verbosity::Verbose { Detail::Requests } else { Detail::Results };
        print(&contract_table(&report, &names, detail, &context.style()))?;
    }
    for complaint in args.outputs.write(&report, None) {
        context.complain(&format!("error: {complaint}\n"));
    }
    let summary = report.summary();
    if report.exit_status() == ExitStatus::Interrupted {
        return Ok(ExitStatus::Interrupted);
    }
    if summary.skipped == report.cases.len() {
        context.complain("error: no tool was called, so nothing was probed\n");
        return Ok(ExitStatus::NothingSelected);
    }
    Ok(report.exit_status())
}
