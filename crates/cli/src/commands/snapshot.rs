//! `mcprove snapshot`: replies, or the lists of a server, compared with those stored next to the suite.

use std::fmt::Write as _;

use mcprove_engine::{Filter, PlanOptions, plan};
use mcprove_model::{ExitStatus, Override, Redactor};
use mcprove_report::{escape_terminal_line, to_safe_json};
use serde_json::{Value, json};

use crate::catalogs;
use crate::context::Context;
use crate::execution::{Execution, RunMode, redactor_of};
use crate::failure::Failure;
use crate::snapshots::{Judgement, Status, judge};
use crate::stdout::print;
use crate::subject::Subject;
use crate::suites::{Suites, usable};

/// Compare the replies of cases, or a catalog, with stored ones.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(
    after_help = "Replies are stored in `.snapshots` next to the suite; what cases expect is not judged. What changes from run to run is masked: durations, temporary folders, timestamps, UUIDs, days of the week, the \
                  fixture folder, and what a file lists under `mask:`.\n\nExamples:\n  mcprove snapshot evals/ --update\n  \
                  mcprove snapshot evals/\n  mcprove snapshot evals/ --catalog --server 'npx -y my-server'"
)]
pub(crate) struct Args {
    #[command(flatten)]
    suites: Suites,
    /// Store the replies instead of comparing with the stored ones.
    #[arg(long)]
    update: bool,
    /// Compare the lists of tools, resources and prompts, and say which changes break callers.
    #[arg(long)]
    catalog: bool,
    /// With `--catalog`: exit with 1 only when a change breaks callers.
    #[arg(long, requires = "catalog")]
    breaking_only: bool,
    /// Only cases whose name contains the text, or matches a /regex/.
    #[arg(long, value_name = "TEXT|/REGEX/", value_parser = Filter::parse)]
    filter: Option<Filter>,
    /// Also fail on replies without a stored snapshot; the default in CI.
    #[arg(long)]
    ci: bool,
    /// Print the results as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    execution: Execution,
    #[command(flatten)]
    subject: Subject,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let ci = args.ci || Context::in_ci();
    if args.catalog {
        let diff_options = catalogs::CatalogDiffOptions {
            suites: &args.suites,
            subject: &args.subject,
            update: args.update,
            breaking_only: args.breaking_only,
            new_fails: ci,
            json: args.json,
            execution: &args.execution,
        };
        return catalogs::run(&diff_options, context);
    }
    let loaded = args.suites.load_for(&args.subject)?;
    let warnings = usable(&loaded, false)?;
    let server = args.execution.in_container(Override::default());
    let options = PlanOptions { filter: args.filter.clone(), server, ..PlanOptions::default() };
    let plan = plan(&loaded.cases, &options);
    if plan.cases.is_empty() {
        return Err(Failure::NothingSelected {
            message: format!("none of the {} cases was selected", loaded.cases.len()),
            help: "`--filter` compares with case names".to_owned(),
        });
    }
    let mode = RunMode::capturing(&plan, &loaded.secrets, warnings);
    let redactor = redactor_of(&plan, &loaded.secrets);
    let outcome = args.execution.run(&plan, mode, context)?;
    let judgement = judge(&loaded.cases, &outcome.report)?;
    if outcome.report.exit_status() == ExitStatus::Interrupted || outcome.dropped {
        return Ok(ExitStatus::Interrupted);
    }
    if args.update {
        judgement.store()?;
    }
    if args.json {
        print(&redactor.text(&to_safe_json(&as_json(&judgement))))?;
    } else {
        print(&snapshot_summary(&judgement, args.update, &redactor))?;
    }
    Ok(status(&judgement, args.update, ci))
}

fn status(judgement: &Judgement, update: bool, ci: bool) -> ExitStatus {
    let is = |wanted: fn(&Status) -> bool| judgement.judged.iter().any(|judged| wanted(&judged.status));
    if is(|status| matches!(status, Status::Error(_, true))) {
        ExitStatus::NotDone
    } else if is(|status| matches!(status, Status::Error(_, false)))
        || !update && (is(|status| matches!(status, Status::Changed(_))) || ci && is(|status| *status == Status::New))
    {
        ExitStatus::Wrong
    } else {
        ExitStatus::Good
    }
}

fn snapshot_summary(judgement: &Judgement, update: bool, redactor: &Redactor) -> String {
    let mut text = String::new();
    for judged in &judgement.judged {
        let name = escape_terminal_line(&judged.name);
        let file = escape_terminal_line(&judged.file.display().to_string()).into_owned();
        let _ = match &judged.status {
            Status::New | Status::Obsolete => writeln!(text, "{:<8}  {name}  ({file})", judged.status.word()),
            Status::Match => writeln!(text, "{:<8}  {name}", judged.status.word()),
            Status::Skipped(reason) | Status::Error(reason, _) => {
                writeln!(text, "{:<8}  {name}  ({})", judged.status.word(), escape_terminal_line(reason))
            }
            Status::Changed(diff) => {
                let _ = writeln!(text, "{:<8}  {name}  ({file})", judged.status.word());
                for line in diff.lines() {
                    let _ = writeln!(text, "          {}", escape_terminal_line(line));
                }
                Ok(())
            }
        };
    }
    let words = ["NEW", "CHANGED", "MATCH", "OBSOLETE", "SKIP", "ERROR"];
    let counts = words.map(|word| (word, judgement.count(word)));
    let counts: Vec<_> =
        counts.iter().filter(|(_, n)| *n > 0).map(|(word, n)| format!("{n} {}", word.to_lowercase())).collect();
    let _ = writeln!(text, "\nsnapshots: {}", counts.join(", "));
    let open = judgement.count("NEW") + judgement.count("CHANGED") + judgement.count("OBSOLETE");
    if open > 0 {
        text.push_str(if update {
            "what is new or changed was stored, what is obsolete removed; read the files as you read code\n"
        } else {
            "`--update` stores the new replies and removes obsolete ones\n"
        });
    }
    redactor.text(&text).into_owned()
}

fn as_json(judgement: &Judgement) -> Value {
    let rows = judgement.judged.iter().map(|judged| {
        let (diff, reason) = match &judged.status {
            Status::Changed(diff) => (Some(diff), None),
            Status::Skipped(reason) | Status::Error(reason, _) => (None, Some(reason)),
            Status::New | Status::Match | Status::Obsolete => (None, None),
        };
        json!({
            "name": judged.name,
            "file": judged.file.display().to_string(),
            "status": judged.status.word(),
            "diff": diff,
            "reason": reason,
        })
    });
    rows.collect()
}
