//! `mcprove ci`: a run as a build server wants it.

use std::path::PathBuf;

use mcprove_model::ExitStatus;
use mcprove_report::Threshold;

use super::run::{self as plain, run_through};
use crate::context::Context;
use crate::failure::Failure;
use crate::finish::Gates;
use crate::suites::Watched;

/// Where JUnit XML goes when no path is given.
const JUNIT: &str = "mcprove-junit.xml";

/// Run suites in CI: a threshold, JUnit XML, GitHub summary.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(
    after_help = "JUnit XML is written to mcprove-junit.xml unless --junit names another path. On GitHub, annotations are printed \
                  and the step summary is added to.\n\nExamples:\n  mcprove ci evals/\n  mcprove ci evals/ --threshold 95 \
                  --baseline baseline.json --fail-on-regression"
)]
pub(crate) struct Args {
    /// The percentage of cases that must pass, of those that were not skipped.
    #[arg(long, value_name = "PERCENT", default_value_t = Threshold::ALL)]
    threshold: Threshold,
    #[command(flatten)]
    run: plain::Args,
}

pub(crate) fn run(mut args: Args, context: &Context) -> Result<ExitStatus, Failure> {
    let outputs = &mut args.run.flags.outputs;
    outputs.junit.get_or_insert_with(|| PathBuf::from(JUNIT));
    outputs.summarise = true;
    outputs.github |= Context::variable("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    let gates = Gates { threshold: Some(args.threshold), regressions: args.run.flags.baselines.fail_on_regression };
    // A log cannot show a line that is overwritten.
    let context = Context { live: false, ..context.clone() };
    run_through(&args.run, gates, Watched::No, &context)
}
