//! `mcprove run`: suites against servers.

use std::collections::BTreeSet;

use mcprove_engine::{Storing, expand_conformance, missing_keys};
use mcprove_model::{CaseReport, ExitStatus, Plan};
use mcprove_report::Shows;

use crate::cassettes;
use crate::context::Context;
use crate::execution::{RunMode, redactor_of};
use crate::failure::Failure;
use crate::finish::{Gates, Stdout, or_list_mistakes};
use crate::fixes;
use crate::run_flags::{Ending, RunFlags};
use crate::selection::show;
use crate::snapshots;
use crate::subject::Subject;
use crate::suites::{Suites, Watched, stand_in, usable};

/// Run suites against servers.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(
    after_help = "Examples:\n  mcprove run evals/\n  mcprove run evals/ --fixture evals/fixtures --jobs auto\n  \
                        mcprove run evals/ --filter '/read.*file/' --server 'npx -y my-server'\n  \
                        mcprove run evals/ --junit junit.xml --html report.html"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) suites: Suites,
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    pub(super) flags: RunFlags,
    /// Try the positions (line, column, …) around those of a failing case.
    #[arg(long, visible_alias = "fix-positions")]
    fix: bool,
    /// With `--fix`: change the files to the positions that pass.
    #[arg(long, requires = "fix")]
    write: bool,
    /// Store the values of `snapshot` matchers instead of comparing with them.
    #[arg(short = 'u', long)]
    update_snapshots: bool,
    /// Save the replies of language models next to their suites, for replay without them, and write the cassettes of
    /// servers anew that name a `command` or `url`.
    #[arg(long)]
    record: bool,
    /// Skip model-graded checks, and cases that have no other checks.
    #[arg(long)]
    no_model: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    run_through(args, Gates { threshold: None, regressions: true }, Watched::Perhaps, context)
}

/// Checks before the start that each agent's model has its key.
pub(super) fn keys_are_set(plan: &Plan, record: bool) -> Result<(), Failure> {
    let missing = missing_keys(plan, record);
    let Some(first) = missing.first() else { return Ok(()) };
    let mut variables: Vec<&str> = missing.iter().map(|key| key.variable.as_str()).collect();
    variables.sort_unstable();
    variables.dedup();
    let message = match variables.as_slice() {
        [one] => format!("the environment variable `{one}` is not set, and the agent `{}` needs it", first.case),
        many => format!("the environment variables `{}` are not set, and agents need them", many.join("`, `")),
    };
    Err(Failure::new(message, "set the key and run again; `model: script`, or a recorded conversation, needs none"))
}

/// Runs the suites and finishes by these gates.
pub(super) fn run_through(
    args: &Args,
    gates: Gates,
    watched: Watched,
    context: &Context,
) -> Result<ExitStatus, Failure> {
    let flags = &args.flags;
    flags.check()?;
    let server = flags.execution.in_container(args.subject.replacement()?);
    let loaded = args.suites.load(stand_in(&server), watched)?;
    let stdout = Stdout::of(flags.json, &flags.outputs);
    let findings = or_list_mistakes(usable(&loaded, flags.execution.strict), stdout, &loaded.secrets)?;
    let cases = expand_conformance(&loaded.cases, &server);
    let plan = or_list_mistakes(flags.selection.plan(&cases, server), stdout, &loaded.secrets)?;
    let redactor = redactor_of(&plan, &loaded.secrets);
    if flags.selection.dry_run {
        return show(&plan, &redactor, flags.json);
    }
    keys_are_set(&plan, args.record)?;
    let baseline = flags.baseline()?;
    let records_servers = args.record && cassettes::has_refreshed(&plan);
    let mode = RunMode {
        is_whole: !flags.selection.is_partial(),
        storing: if args.update_snapshots { Storing::Update } else { Storing::Compare },
        shown: flags.are_for_people(),
        shows: if records_servers { Shows::Everything } else { flags.shows(stdout, gates) },
        fix: args.fix,
        record: args.record,
        no_model: args.no_model,
        again: args.rerun_arguments(),
        ..RunMode::new(findings, redactor)
    };
    let outcome = flags.run(&plan, mode, context)?;
    if records_servers {
        for line in cassettes::write_all(&plan, &outcome.report)? {
            context.write_stderr(&format!("{line}\n"));
        }
    }
    if args.write {
        for line in fixes::write_all(&outcome.report)? {
            context.write_stderr(&format!("changed {line}\n"));
        }
    }
    // A suite may store values anew by itself.
    if args.update_snapshots || outcome.report.cases.iter().any(has_snapshots) {
        for line in snapshots::store_values(&outcome.report)? {
            context.write_stderr(&format!("{line}\n"));
        }
    }
    // Many names are not worth sorting where nothing is compared with them.
    let known: BTreeSet<_> = match &baseline {
        Some(_) => cases.iter().map(|case| case.name.as_str()).collect(),
        None => BTreeSet::new(),
    };
    let status = flags.finish(outcome, Ending { stdout, baseline, known, gates }, context);
    // The program ends here. Taking apart ten thousand cases piece by piece would only keep its user waiting.
    std::mem::forget((plan, loaded));
    status
}

/// True if values of a case are to be stored.
fn has_snapshots(case: &CaseReport) -> bool {
    case.finished.as_ref().is_some_and(|finished| !finished.snapshots.is_empty())
}

impl Args {
    /// The arguments that start such a run again.
    fn rerun_arguments(&self) -> Vec<String> {
        let mut words = vec!["run".to_owned()];
        words.extend(self.suites.words());
        words.extend(self.subject.words());
        words
    }
}
