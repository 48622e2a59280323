//! Which of the cases are run, how often, and which part of them here.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use mcprove_engine::{Durations, Filter, PlanOptions, Shard, expand_conformance, plan};
use mcprove_model::{Case, ExitStatus, Override, Plan, PlannedCase, Redactor, Verdict};
use mcprove_report::{escape_terminal_line, to_safe_json};

use crate::failure::Failure;
use crate::logs;
use crate::stdout::print;

/// Which of the cases are run, how often, and which part of them here.
#[derive(Debug, clap::Args)]
pub(crate) struct Selection {
    /// Only cases whose name contains the text, or matches a /regex/.
    #[arg(long, value_name = "TEXT|/REGEX/", value_parser = Filter::parse)]
    filter: Option<Filter>,
    /// Only cases with this tag; may be repeated: a case needs one of them.
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    tags: Vec<String>,
    /// No cases with this tag; may be repeated.
    #[arg(long = "skip-tag", value_name = "TAG", value_delimiter = ',')]
    skip_tags: Vec<String>,
    /// Only cases that failed in this event log of an earlier run (`--events`); may be repeated.
    #[arg(long, value_name = "LOG")]
    last_failed: Vec<PathBuf>,
    /// Run each case N times, and report how reliably it passes (pass@k, pass^k).
    #[arg(long, value_name = "N", default_value = "1", value_parser = trials)]
    trials: NonZeroU32,
    /// Run shard K of N, chosen by the names of cases; one without cases is good.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// With `--shard`: divide by the durations in this event log of an earlier run; every shard needs the same log.
    #[arg(long, visible_alias = "durations-from", value_name = "LOG", requires = "shard")]
    balance: Vec<PathBuf>,
    /// Show what would run, and start nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl Selection {
    /// True if some of the cases may be left out, here or by the run being one part of several.
    pub(crate) fn is_partial(&self) -> bool {
        self.filter.is_some()
            || self.shard.is_some()
            || !self.tags.is_empty()
            || !self.skip_tags.is_empty()
            || !self.last_failed.is_empty()
    }
}

/// Maximum number of trials; each takes memory before the first has begun.
const MOST_TRIALS: NonZeroU32 = NonZeroU32::new(10_000).expect("not zero");

fn trials(text: &str) -> Result<NonZeroU32, String> {
    let trials = text.parse().map_err(|_| "each case must run at least once: give a number from 1 on".to_owned())?;
    if trials > MOST_TRIALS {
        return Err(format!("give a number up to {MOST_TRIALS}"));
    }
    Ok(trials)
}

impl Selection {
    /// The plan of these cases on these servers; an empty plan is a failure.
    pub(crate) fn plan(&self, cases: &[Arc<Case>], server: Override) -> Result<Plan, Failure> {
        if cases.is_empty() {
            return Err(Failure::NothingSelected {
                message: "there are no tests in the suite".to_owned(),
                help: "add a test: `tools:` with a list, or a file with `assert:`".to_owned(),
            });
        }
        let cases = &expand_conformance(cases, &server);
        let failed_cases = self.failed_cases(cases)?;
        let cases = failed_cases.as_deref().unwrap_or(cases);
        let mut shard = self.shard.clone();
        if !self.balance.is_empty() {
            let report = logs::read(&self.balance, logs::Frames::Drop)?.report;
            shard = shard.map(|shard| shard.balanced(Durations::of(&report)));
        }
        let (tags, skip_tags) = (self.tags.clone(), self.skip_tags.clone());
        let filter = self.filter.clone();
        let options = PlanOptions { filter, tags, skip_tags, trials: self.trials, shard, server };
        let plan = plan(cases, &options);
        // A part may well be empty; the other parts have the cases.
        let whole = plan.shard.as_ref().map_or(plan.cases.len(), |shard| shard.cases);
        if whole == 0 {
            return Err(Failure::NothingSelected {
                message: match cases.len() {
                    1 => "the only case was not selected".to_owned(),
                    number => format!("none of the {number} cases was selected"),
                },
                help: self.how_to_select(cases),
            });
        }
        Ok(plan)
    }

    /// The cases that failed in earlier runs, where only those are wanted.
    fn failed_cases(&self, cases: &[Arc<Case>]) -> Result<Option<Vec<Arc<Case>>>, Failure> {
        if self.last_failed.is_empty() {
            return Ok(None);
        }
        let report = logs::read(&self.last_failed, logs::Frames::Drop)?.report;
        let failed: BTreeSet<(&str, &str)> = report
            .cases
            .iter()
            .filter(|case| {
                matches!(case.finished.as_ref().map(|end| &end.verdict), Some(Verdict::Failed | Verdict::Error))
            })
            .map(|case| (case.started.file.as_str(), case.started.name.as_str()))
            .collect();
        let is_failed = |case: &&Arc<Case>| failed.contains(&(case.source.path(), case.name.as_str()));
        let kept: Vec<Arc<Case>> = cases.iter().filter(is_failed).cloned().collect();
        if kept.is_empty() {
            let message = match failed.len() {
                0 => "no case failed in the earlier run".to_owned(),
                number => format!("none of the {number} cases that failed in the earlier run is in the suite"),
            };
            let help = "leave out `--last-failed` to run all; cases are known by their file and name".to_owned();
            return Err(Failure::NothingSelected { message, help });
        }
        Ok(Some(kept))
    }

    fn how_to_select(&self, cases: &[Arc<Case>]) -> String {
        let known: BTreeSet<&str> = cases.iter().flat_map(|case| &case.tags).map(String::as_str).collect();
        match (self.tags.is_empty(), known.is_empty()) {
            (true, _) => "`--filter` compares with case names; `--dry-run` lists them".to_owned(),
            (false, true) => "no case has a tag; tests may have `tags:`".to_owned(),
            (false, false) => format!("the tags are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Prints what would run.
pub(crate) fn show(plan: &Plan, redactor: &Redactor, json: bool) -> Result<ExitStatus, Failure> {
    show_plan(plan, redactor, json, "nothing was started")
}

/// Prints which tools a scan would call; the server was asked for its lists.
pub(crate) fn show_scan(plan: &Plan, redactor: &Redactor, json: bool) -> Result<ExitStatus, Failure> {
    show_plan(plan, redactor, json, "no tool was called")
}

fn show_plan(plan: &Plan, redactor: &Redactor, json: bool, done: &str) -> Result<ExitStatus, Failure> {
    if json {
        let listed: Vec<_> = plan.cases.iter().map(listed).collect();
        print(&redactor.text(&to_safe_json(&listed)))?;
        return Ok(ExitStatus::Good);
    }
    let mut text = String::new();
    for planned in &plan.cases {
        let case = &planned.case;
        let server = case.server.as_ref().map_or_else(String::new, |server| server.target.label());
        let mut name = escape_terminal_line(&case.name).into_owned();
        if let Some(variant) = &planned.variant {
            let _ = write!(name, " [{}]", escape_terminal_line(variant));
        }
        if planned.trial > 1 {
            let _ = write!(name, " (trial {})", planned.trial);
        }
        let skip = case
            .skip
            .as_ref()
            .map_or_else(String::new, |skip| format!("  (skipped: {})", escape_terminal_line(&skip.reason)));
        let place = match case.source.path() {
            "" => String::new(),
            path => format!("  {}:{}", escape_terminal_line(path), case.source.position(case.span.start).line),
        };
        let _ = writeln!(text, "{name}{place}  {}{skip}", escape_terminal_line(&server));
    }
    let _ = write!(text, "{} cases would run", plan.cases.len());
    if let Some(shard) = &plan.shard {
        let _ = write!(text, ", of {} in all shards", shard.cases);
    }
    let _ = writeln!(text, "; {done}");
    print(&redactor.text(&text))?;
    Ok(ExitStatus::Good)
}

fn listed(planned: &PlannedCase) -> serde_json::Value {
    let case = &planned.case;
    let line = case.source.position(case.span.start).line;
    serde_json::json!({"name": case.name, "file": case.source.path(), "line": line, "trial": planned.trial})
}
