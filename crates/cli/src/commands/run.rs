//! `mcprove run`: suites against servers.

use std::collections::BTreeSet;

use mcprove_engine::{Storing, missing_keys};
use mcprove_model::{ExitStatus, Plan};

use crate::baselines::Baselines;
use crate::conclusion::{Gates, Stdout, Wishes, begun, conclude, shows};
use crate::context::Context;
use crate::execution::{Execution, Manner, redactor_of};
use crate::failure::Failure;
use crate::fixes;
use crate::outputs::Outputs;
use crate::selection::{Selection, show};
use crate::snapshots;
use crate::subject::Subject;
use crate::suites::{Suites, Watched, stand_in, usable};

/// Run suites against servers.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(
    after_help = "Examples:\n  mcprove run evals/\n  mcprove run evals/ --fixture evals/fixtures --jobs auto\n  \
                        mcprove run evals/ --filter '/read.*file/' --server 'npx my-server'\n  \
                        mcprove run evals/ --junit junit.xml --html report.html"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) suites: Suites,
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    execution: Execution,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    /// Try the positions (line, column, …) around those of a failing case.
    #[arg(long)]
    fix: bool,
    /// With `--fix`: change the files to the positions that pass.
    #[arg(long, requires = "fix")]
    write: bool,
    /// Store the values of `snapshot` matchers instead of comparing with them.
    #[arg(short = 'u', long)]
    update_snapshots: bool,
    /// Save the replies of language models next to their suites, to be played again without them.
    #[arg(long)]
    record: bool,
    #[command(flatten)]
    pub(super) outputs: Outputs,
    #[command(flatten)]
    pub(super) baselines: Baselines,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    run_through(args, Gates { threshold: None, regressions: true }, Watched::Perhaps, context)
}

/// Agents whose model cannot be asked are told of before anything is started.
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

/// Runs the suites and concludes by these gates.
pub(super) fn run_through(
    args: &Args,
    gates: Gates,
    watched: Watched,
    context: &Context,
) -> Result<ExitStatus, Failure> {
    args.outputs.distinct(&[args.execution.events(), args.baselines.saved()])?;
    let server = args.execution.in_container(args.subject.replacement()?);
    let loaded = args.suites.load(stand_in(&server), watched)?;
    let stdout = Stdout::of(args.json);
    let warnings = begun(usable(&loaded, args.execution.strict), stdout, &loaded.secrets)?;
    let plan = begun(args.selection.plan(&loaded.cases, server), stdout, &loaded.secrets)?;
    let redactor = redactor_of(&plan, &loaded.secrets);
    if args.selection.dry_run {
        return show(&plan, &redactor, args.json);
    }
    keys_are_set(&plan, args.record)?;
    let baseline = args.baselines.read(args.selection.is_partial())?;
    let manner = Manner {
        is_whole: !args.selection.is_partial(),
        storing: if args.update_snapshots { Storing::Update } else { Storing::Compare },
        warnings,
        shown: !args.json,
        shows: shows(Stdout::of(args.json), &args.outputs, &args.baselines, gates),
        fix: args.fix,
        record: args.record,
        strict_reports: args.outputs.strict_reports,
        redactor,
        again: args.again(),
    };
    let over = args.execution.run(&plan, manner, context)?;
    if args.write {
        for line in fixes::write_all(&over.report)? {
            context.complain(&format!("changed {line}\n"));
        }
    }
    if args.update_snapshots {
        for line in snapshots::store_values(&over.report)? {
            context.complain(&format!("{line}\n"));
        }
    }
    // Many names are not worth sorting where nobody compares them.
    let known: BTreeSet<_> = match &baseline {
        Some(_) => loaded.cases.iter().map(|case| case.name.as_str()).collect(),
        None => BTreeSet::new(),
    };
    let wishes = Wishes {
        stdout,
        outputs: &args.outputs,
        baselines: &args.baselines,
        baseline,
        known,
        is_partial: args.selection.is_partial(),
        gates,
    };
    let status = conclude(over, &wishes, context);
    drop(wishes);
    // The program ends here. Taking apart ten thousand cases piece by piece would only keep its user waiting.
    std::mem::forget((plan, loaded));
    status
}

impl Args {
    /// The words that start such a run again.
    fn again(&self) -> Vec<String> {
        let mut words = vec!["run".to_owned()];
        words.extend(self.suites.words());
        words.extend(self.subject.words());
        words
    }
}
