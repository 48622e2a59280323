//! `mcprove negative`: which wrong requests a server really rejects.

use mcprove_engine::ScanKind;
use mcprove_judge::negative::{PROBES, Probe};
use mcprove_model::{ExitStatus, nearest};
use mcprove_report::{Detail, Verbosity, compat_json, contract_table};

use crate::context::Context;
use crate::failure::Failure;
use crate::run_flags::RunFlags;
use crate::scan::{InputFlags, Scan, ScanFlags, ScanRequest, ScanTimes, scan};
use crate::stdout::print;

/// Send bad requests to each tool that does not write; all must be rejected.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  mcprove negative --server 'npx -y my-server' --checks unknown_tool,missing_required"
)]
#[command(mut_arg("timeout", |timeout| timeout.help("Time limit for the start of the server, and for each call [default: 60s and 15s]")))]
pub(crate) struct Args {
    /// Only these probes: `unknown_tool`, `missing_required`, `wrong_type`, `extra_field`, `oversized` [default: all].
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = probe)]
    checks: Vec<&'static Probe>,
    /// Size of an oversized argument in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = oversized)]
    oversized: usize,
    #[command(flatten)]
    inputs: InputFlags,
    #[command(flatten)]
    scan: ScanFlags,
    #[command(flatten)]
    run: RunFlags,
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
    let request = ScanRequest {
        command: "negative",
        scan: &args.scan,
        run: &args.run,
        fixture: args.inputs.fixture.as_deref(),
        seed: args.inputs.seed,
        times: ScanTimes::DEFAULT.with(args.run.execution.timeout()),
        kind: ScanKind::Probe { probes, oversized: args.oversized },
    };
    let scanned = match scan(request, context)? {
        Scan::Shown(status) => return Ok(status),
        Scan::Made(scanned) => scanned,
    };
    if scanned.is_interrupted() {
        context.write_stderr("interrupted: not every tool was called\n");
    }
    let report = &scanned.outcome.report;
    if args.run.json {
        print(&compat_json(report))?;
    } else if args.run.are_for_people() {
        let detail = if context.verbosity == Verbosity::Verbose { Detail::Requests } else { Detail::Results };
        print(&contract_table(report, &names, detail, &context.style()))?;
    }
    let was_called = report.summary().skipped < report.cases.len();
    scanned.status(&args.run, was_called, "nothing was probed", context)
}
