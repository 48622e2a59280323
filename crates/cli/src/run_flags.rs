//! The flags of every command that runs cases.

use std::collections::BTreeSet;

use mcprove_model::{ExitStatus, Plan};
use mcprove_report::{Baseline, Shows};

use crate::baselines::Baselines;
use crate::context::Context;
use crate::execution::{Execution, RunMode};
use crate::failure::Failure;
use crate::finish::{FinishOptions, Gates, RunOutcome, Stdout, finish, shows};
use crate::inputs::refuse_inputs;
use crate::outputs::Outputs;
use crate::selection::Selection;

/// The flags of every command that runs cases: which cases, how, and what is done with the results. A command that takes
/// them calls [`RunFlags::begin`], [`RunFlags::run`] and [`RunFlags::finish`], which use all of them.
#[derive(Debug, clap::Args)]
pub(crate) struct RunFlags {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) execution: Execution,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) outputs: Outputs,
    #[command(flatten)]
    pub(crate) baselines: Baselines,
}

impl RunFlags {
    /// True if results are shown to people.
    pub(crate) fn are_for_people(&self) -> bool {
        !self.json && self.outputs.are_for_people()
    }

    /// Refuses two files at one path; nothing is started before.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.outputs.distinct(&[self.execution.events(), self.baselines.saved()])
    }

    /// The baseline to compare with; one that cannot be read is a failure before anything is started.
    pub(crate) fn baseline(&self) -> Result<Option<Baseline>, Failure> {
        self.baselines.read(self.selection.is_partial())
    }

    /// Details of passing cases that the reports need.
    pub(crate) fn shows(&self, stdout: Stdout, gates: Gates) -> Shows {
        shows(stdout, &self.outputs, &self.baselines, gates)
    }

    /// Runs a plan.
    pub(crate) fn run(&self, plan: &Plan, mode: RunMode, context: &Context) -> Result<RunOutcome, Failure> {
        let saved = self.baselines.replaced(self.selection.is_partial());
        let saved = saved.map(|path| ("--save-baseline".to_owned(), path));
        refuse_inputs(self.outputs.paths().chain(saved), plan)?;
        self.execution.run(plan, mode, context)
    }

    /// Judges, shows and writes a run that is over. `known` are the names of all cases there are.
    pub(crate) fn finish(
        &self,
        outcome: RunOutcome,
        ending: Ending<'_>,
        context: &Context,
    ) -> Result<ExitStatus, Failure> {
        let options = FinishOptions {
            stdout: ending.stdout,
            outputs: &self.outputs,
            baselines: &self.baselines,
            baseline: ending.baseline,
            known: ending.known,
            is_partial: self.selection.is_partial(),
            gates: ending.gates,
        };
        finish(outcome, &options, context)
    }
}

/// Options for the end of a run besides the flags.
pub(crate) struct Ending<'a> {
    /// Purpose of standard output.
    pub(crate) stdout: Stdout,
    /// The baseline to compare with.
    pub(crate) baseline: Option<Baseline>,
    /// The names of all cases there are, also of those that were not selected.
    pub(crate) known: BTreeSet<&'a str>,
    /// Gates that can fail the run.
    pub(crate) gates: Gates,
}
