//! `mcprove validate`: what is wrong with suites, without starting anything.

use mcprove_model::ExitStatus;

use crate::context::Context;
use crate::failure::Failure;
use crate::finding_report::{FindingOutputs, FindingSet};
use crate::subject::Subject;
use crate::suites::Suites;

/// Check suites for mistakes, without starting a server.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove validate evals/\n  \
                        mcprove validate evals/ --strict --env-file .env.test\n  mcprove validate suite.yaml --json")]
pub(crate) struct Args {
    #[command(flatten)]
    suites: Suites,
    #[command(flatten)]
    subject: Subject,
    /// Treat warnings as failures.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    outputs: FindingOutputs,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let loaded = args.suites.load_for(&args.subject)?;
    let found = FindingSet {
        findings: &loaded.findings,
        files: loaded.files,
        tests: loaded.tests,
        called: "problem",
        secrets: &loaded.secrets,
    };
    args.outputs.print(&found, context)?;
    let is_wrong = loaded.findings.iter().any(|finding| finding.fails(args.strict));
    // The program ends here; taking a large suite apart before that takes longer than the report.
    std::mem::forget(loaded);
    Ok(if is_wrong { ExitStatus::NotDone } else { ExitStatus::Good })
}
