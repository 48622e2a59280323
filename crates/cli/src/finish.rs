//! The end of every run: results are judged, shown and written, and become an exit status.

use std::collections::BTreeSet;

use mcprove_engine::ScanResult;
use mcprove_model::{ExitStatus, Report, Severity};
use mcprove_report::{Baseline, Comparison, Format, Share, Shows, Threshold, compat_json, compat_json_of_mistakes};

use crate::baselines::{self, Baselines};
use crate::context::Context;
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::stdout::{print, print_exactly};

/// Options for the end of a run.
#[derive(Debug)]
pub(crate) struct FinishOptions<'a> {
    /// Purpose of standard output.
    pub(crate) stdout: Stdout,
    /// The reports to write.
    pub(crate) outputs: &'a Outputs,
    /// The baseline to save.
    pub(crate) baselines: &'a Baselines,
    /// The baseline to compare with.
    pub(crate) baseline: Option<Baseline>,
    /// The names of all cases there are, also of those that were not selected.
    pub(crate) known: BTreeSet<&'a str>,
    /// True if some of the cases there are may not have been selected.
    pub(crate) is_partial: bool,
    /// Gates that can fail the run.
    pub(crate) gates: Gates,
}

/// Purpose of standard output; everything else goes to standard error, which CI systems read as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stdout {
    /// For people: everything is said there.
    People,
    /// For the known list, and nothing else.
    KnownList,
    /// For a report that was printed already, and nothing else.
    Report,
    /// For a coding agent, which gets the failures in few tokens.
    Agent,
}

impl Stdout {
    /// The purpose by the flag for the known list and the reader.
    pub(crate) fn of(json: bool, outputs: &Outputs) -> Self {
        match (json, outputs.are_for_people()) {
            (true, _) => Self::KnownList,
            (false, true) => Self::People,
            (false, false) => Self::Agent,
        }
    }

    /// The purpose where the command itself prints its JSON.
    pub(crate) fn of_own_json(json: bool, outputs: &Outputs) -> Self {
        if json { Self::Report } else { Self::of(false, outputs) }
    }
}

/// Gates that can fail a run, in addition to a case that could not be run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gates {
    /// The share that must pass; without one, everything.
    pub(crate) threshold: Option<Threshold>,
    /// True if a regression fails it.
    pub(crate) regressions: bool,
}

/// Details of passing cases that are needed at the end of a run; the others are dropped during the run.
pub(crate) fn shows(stdout: Stdout, outputs: &Outputs, baselines: &Baselines, gates: Gates) -> Shows {
    let counts_only = stdout == Stdout::People && baselines.are_unused() && gates.threshold.is_none();
    if counts_only { outputs.shows() } else { outputs.shows().max(Shows::Verdicts) }
}

/// A run that is outcome.
#[derive(Debug)]
pub(crate) struct RunOutcome {
    /// The report of the run.
    pub(crate) report: Report,
    /// Messages about files that could not be written so far.
    pub(crate) complaints: Vec<String>,
    /// Results of scans besides their events, by the index of their case.
    pub(crate) scanned: Vec<(usize, ScanResult)>,
    /// True if this is a shard without cases, which is not a mistake.
    pub(crate) is_empty_shard: bool,
    /// True if the run was abandoned.
    pub(crate) dropped: bool,
}

impl RunOutcome {
    /// True if the user stopped it.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.dropped || self.report.exit_status() == ExitStatus::Interrupted
    }
}

/// Prints and writes a finished run, and returns the exit status.
pub(crate) fn finish(
    mut outcome: RunOutcome,
    options: &FinishOptions<'_>,
    context: &Context,
) -> Result<ExitStatus, Failure> {
    let changed = baselines::compare(options.baseline.as_ref(), &outcome.report, &options.known);
    let severity = if options.gates.regressions { Severity::Error } else { Severity::Warning };
    let share = Share::of(&outcome.report);
    let status = status(&outcome, share, &changed, options.gates);
    let saved = match status {
        // What was not run would be in it as skipped.
        ExitStatus::Interrupted => None,
        ExitStatus::Good | ExitStatus::Wrong | ExitStatus::NotDone | ExitStatus::NothingSelected | ExitStatus::Bug => {
            options.baselines.save(&outcome.report, options.is_partial)
        }
    };
    outcome.report.findings.extend(changed.findings(severity));

    let mut text = changed.text();
    if !text.is_empty() {
        text.insert(0, '\n');
    }
    if let Some(threshold) = options.gates.threshold {
        text.push_str(&threshold_line(share, threshold));
    }
    let annotations = Format::find("github").filter(|_| options.outputs.github);
    let annotations = annotations.map(|format| (format.render)(&outcome.report)).unwrap_or_default();
    match options.stdout {
        Stdout::People => {
            print(&text)?;
            print_exactly(&annotations)?;
        }
        Stdout::KnownList => {
            context.write_stderr(&text);
            context.write_stderr_raw(&annotations);
            print(&compat_json(&outcome.report))?;
        }
        Stdout::Report => {
            context.write_stderr(&text);
            context.write_stderr_raw(&annotations);
        }
        Stdout::Agent => {
            context.write_stderr_raw(&annotations);
            let failures = Format::find("agent").map(|format| (format.render)(&outcome.report)).unwrap_or_default();
            print(&format!("{failures}{}", text.trim_start()))?;
        }
    }

    outcome.complaints.extend(options.outputs.write(&outcome.report, Context::step_summary().as_deref()));
    outcome.complaints.extend(saved);
    for complaint in &outcome.complaints {
        context.write_stderr(&format!("error: {complaint}\n"));
    }
    let is_unwritten = !outcome.complaints.is_empty();
    Ok(if is_unwritten && status != ExitStatus::Interrupted { ExitStatus::NotDone } else { status })
}

impl RunOutcome {
    /// The outcome of a run that was made elsewhere.
    pub(crate) fn of(report: Report) -> Self {
        Self { report, complaints: Vec::new(), scanned: Vec::new(), is_empty_shard: false, dropped: false }
    }
}

/// Passes on a value needed to start a run. If the run cannot start, the known list has the mistakes of the
/// suite, or that nothing was selected.
pub(crate) fn or_list_mistakes<T>(part: Result<T, Failure>, stdout: Stdout, secrets: &[String]) -> Result<T, Failure> {
    let Err(failure) = &part else { return part };
    let list = match failure {
        Failure::Suite(findings) => compat_json_of_mistakes(findings),
        Failure::NothingSelected { .. } => compat_json_of_mistakes(&[]),
        Failure::Config(_) | Failure::Interrupted | Failure::Server { .. } | Failure::Other { .. } => return part,
    };
    match stdout {
        Stdout::KnownList => print(&crate::logins::redactor(secrets.iter().map(String::as_str)).text(&list))?,
        Stdout::People | Stdout::Report | Stdout::Agent => {}
    }
    part
}

fn status(outcome: &RunOutcome, share: Share, changed: &Comparison, gates: Gates) -> ExitStatus {
    if outcome.dropped {
        return ExitStatus::Interrupted;
    }
    let plain = outcome.report.exit_status();
    match plain {
        ExitStatus::Interrupted | ExitStatus::NotDone | ExitStatus::Bug => return plain,
        ExitStatus::NothingSelected if outcome.is_empty_shard => return ExitStatus::Good,
        ExitStatus::Good | ExitStatus::Wrong | ExitStatus::NothingSelected => {}
    }
    if gates.regressions && !changed.regressions.is_empty() {
        return ExitStatus::Wrong;
    }
    // Where every case that fails is known to fail, nothing new is wrong.
    let has_findings = outcome.report.findings.iter().any(|finding| finding.severity.fails());
    let is_known = !changed.known_failures.is_empty() && !changed.has_other_failures && !has_findings;
    match gates.threshold {
        None if is_known => ExitStatus::Good,
        None => plain,
        Some(_) if share.judged == 0 => ExitStatus::NothingSelected,
        Some(threshold) if share.meets(threshold) => ExitStatus::Good,
        Some(_) => ExitStatus::Wrong,
    }
}

fn threshold_line(share: Share, threshold: Threshold) -> String {
    if share.judged == 0 {
        return format!("threshold: every case was skipped, so there is nothing to compare with {threshold}\n");
    }
    let enough = if share.meets(threshold) { "" } else { ": not enough" };
    format!("threshold: {share}, {threshold} needed{enough}\n")
}
