//! `mcprove conformance`: does a server keep the protocol, revision by revision?

use std::path::PathBuf;
use std::sync::Arc;

use mcprove_engine::{ConformanceOptions, plan_conformance};
use mcprove_judge::conformance::RULES;
use mcprove_judge::tool_effect::Consent;
use mcprove_model::{ExitStatus, Override, nearest};
use mcprove_report::{Shows, conformance_table};

use crate::confinement::Confinement;
use crate::conformance_logs;
use crate::context::Context;
use crate::execution::{RunMode, redactor_of};
use crate::failure::Failure;
use crate::finish::{Gates, Stdout};
use crate::run_flags::{Ending, RunFlags};
use crate::selection::show_scan;
use crate::stdout::print;
use crate::subject::Subject;

/// Check a server against the protocol, in every revision.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Up to 12 tools that do not write are called. A run takes about 20 seconds or more.\n\nExamples:\n  mcprove conformance -- npx -y my-server\n  \
                        mcprove conformance --url http://localhost:3000/mcp --protocol 2026-07-28\n  \
                        mcprove conformance run.ndjson\n  mcprove conformance --auth --url http://localhost:3000/mcp \
                        --test-issuer http://localhost:9000"
)]
pub(crate) struct Args {
    /// Event logs of earlier runs: what was recorded is judged, and no server is started.
    #[arg(value_name = "EVENTS", conflicts_with_all = ["server", "url", "client_config", "command"])]
    logs: Vec<PathBuf>,
    /// Test the authorization of a server behind a login: with the tokens of `mcprove login`, or of `--test-issuer`.
    #[arg(long)]
    auth: bool,
    /// The URL of a test issuer (`mcprove mock --issuer`) that the server trusts: tokens of all kinds are made with it.
    #[arg(long, value_name = "URL", requires = "auth")]
    test_issuer: Option<String>,
    /// Only this rule; may be repeated.
    #[arg(long, value_name = "ID")]
    rule: Vec<String>,
    /// Also call tools that write or look like it, with any input, and test their hints.
    #[arg(long, conflicts_with = "read_only")]
    include_writes: bool,
    /// Call only tools that are annotated as read-only.
    #[arg(long)]
    read_only: bool,
    /// Folder that is copied before the first call; `{{fixture}}` in the server's arguments is the copy.
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
    /// Seed of the generated inputs.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    confinement: Confinement,
    #[command(flatten)]
    run: RunFlags,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    known_rules(&args.rule)?;
    if !args.logs.is_empty() {
        return conformance_logs::judge_logs(&args.logs, &args.rule, context);
    }
    args.run.check()?;
    if let Some(missing) = args.fixture.as_ref().filter(|folder| !folder.is_dir()) {
        let message = format!("the fixture folder `{}` does not exist", missing.display());
        return Err(Failure::new(message, "give `--fixture` an existing folder"));
    }
    let mut server = args.run.execution.in_container(Override::default()).apply(&args.subject.spec()?);
    args.confinement.apply(&mut server, context);
    let server = Arc::new(server);
    let baseline = args.run.baseline()?;
    let options = ConformanceOptions {
        protocol: args.subject.protocol(),
        rules: rules(args),
        tests_tokens: args.auth,
        issuer: args.test_issuer.clone(),
        consent: Consent::of(args.include_writes, args.read_only),
        seed: args.seed,
        fixture: args.fixture.clone(),
        ..ConformanceOptions::default()
    }
    .with_timeout(args.run.execution.timeout());
    let cases = plan_conformance(&server, &options);
    let plan = args.run.selection.plan(&cases, Override::default())?;
    let redactor = redactor_of(&plan, &[]);
    if args.run.selection.dry_run {
        return show_scan(&plan, &redactor, args.run.json);
    }
    let mode = RunMode {
        prints_findings: true,
        shows: args.run.outputs.shows().max(Shows::Calls),
        again: std::iter::once("conformance".to_owned()).chain(args.subject.words()).collect(),
        ..RunMode::new(Vec::new(), redactor)
    };
    let outcome = args.run.run(&plan, mode, context)?;
    if outcome.is_interrupted() {
        context.write_stderr("interrupted: not every revision was judged\n");
    }
    if args.run.are_for_people() {
        print(&conformance_table(&outcome.report, &context.style()))?;
    }
    let known = cases.iter().map(|case| case.name.as_str()).collect();
    let gates = Gates { threshold: None, regressions: true };
    let stdout = Stdout::of(args.run.json, &args.run.outputs);
    args.run.finish(outcome, Ending { stdout, baseline, known, gates }, context)
}

/// The rules that were asked for; `--auth` means those about authorization.
fn rules(args: &Args) -> Vec<String> {
    if !args.auth || !args.rule.is_empty() {
        return args.rule.clone();
    }
    let is_meant = |id: &&str| id.starts_with("mcp-auth-") || id.starts_with("mcp-token-");
    RULES.iter().map(|rule| rule.id).filter(is_meant).map(str::to_owned).collect()
}

/// Refuses rules that there are not.
fn known_rules(wanted: &[String]) -> Result<(), Failure> {
    let ids = || RULES.iter().map(|rule| rule.id);
    let Some(unknown) = wanted.iter().find(|id| !ids().any(|known| known == id.as_str())) else { return Ok(()) };
    let help = match nearest(unknown, ids()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`mcprove explain conformance` lists all rules".to_owned(),
    };
    Err(Failure::new(format!("unknown rule `{unknown}`"), help))
}
