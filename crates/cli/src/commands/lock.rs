//! `mcprove lock`: a file with what a server offers, and a check that it still does.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcprove_engine::Catalog;
use mcprove_judge::catalog_change::{CatalogChange, Class, catalog_changes, catalog_document};
use mcprove_judge::catalog_lock::{catalog_lock, lock_problem, locked_tokens};
use mcprove_model::{ExitStatus, bounded_json, shorten};
use mcprove_report::{escape_terminal_line, to_safe_json, to_stored_json};
use mcprove_suite::duration;
use mcprove_suite::load::bounded_read;
use serde_json::{Value, json};

use crate::atomic_write;
use crate::context::Context;
use crate::failure::Failure;
use crate::logins;
use crate::server_offer::offer_of;
use crate::stdout::print;
use crate::subject::Subject;

/// Changes that are shown; the rest is counted.
const SHOWN: usize = 1_000;
/// Length of the longest name or text of a change, in characters.
const LONGEST: usize = 400;

/// Store what a server offers in a lockfile, or check that nothing changed.
///
/// The file has the tools, resources, templates and prompts with their schemas, the tokens that they cost a model, and
/// hashes of their descriptions. `--check` says which changes break callers, and is made for CI.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mcprove lock --server 'npx -y my-server'\n  \
                        mcprove lock --check --breaking-only --server 'npx -y my-server'")]
pub(crate) struct Args {
    /// Compare with the lockfile instead of writing it.
    #[arg(long)]
    check: bool,
    /// With `--check`: exit with 1 only when a change breaks callers.
    #[arg(long, requires = "check")]
    breaking_only: bool,
    /// The lockfile.
    #[arg(long, value_name = "FILE", default_value = "mcprove.lock")]
    file: PathBuf,
    /// Time limit for the server.
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    timeout: Duration,
    /// Print the result as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    subject: Subject,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let server = args.subject.spec()?;
    let Catalog { tools, resources, templates, prompts, findings, .. } =
        offer_of(&server, None, args.timeout, context)?;
    if let Some(finding) = findings.iter().find(|finding| finding.severity.fails()) {
        return Err(Failure::of(finding));
    }
    let mut now = catalog_lock(&catalog_document(&tools, &resources, &templates, &prompts));
    // The file is committed.
    logins::redactor(server.secrets.iter().map(String::as_str)).json(&mut now);
    let stored = read(&args.file)?;
    if !args.check {
        let changes = stored.as_ref().map(|stored| changes(stored, &now)).unwrap_or_default();
        write(&args.file, &now)?;
        show(args, &changes, stored.as_ref(), &now, "stored")?;
        return Ok(ExitStatus::Good);
    }
    let Some(stored) = stored else {
        let message = format!("the lockfile `{}` does not exist", args.file.display());
        return Err(Failure::new(message, "write it with `mcprove lock`, without `--check`"));
    };
    let changes = changes(&stored, &now);
    let fails = changes.iter().any(|change| !args.breaking_only || change.class == Class::Breaking);
    show(args, &changes, Some(&stored), &now, if changes.is_empty() { "unchanged" } else { "changed" })?;
    Ok(if fails { ExitStatus::Wrong } else { ExitStatus::Good })
}

fn changes(stored: &Value, now: &Value) -> Vec<CatalogChange> {
    catalog_changes(&stored["catalog"], &now["catalog"])
}

fn show(
    args: &Args,
    changes: &[CatalogChange],
    stored: Option<&Value>,
    now: &Value,
    word: &str,
) -> Result<(), Failure> {
    let tokens = (stored.map(locked_tokens), locked_tokens(now));
    let left_out = changes.len().saturating_sub(SHOWN);
    let changes = &changes[..changes.len() - left_out];
    if args.json {
        let rows = changes.iter().map(|change| {
            let (subject, what) = (shorten(&change.subject, LONGEST), shorten(&change.what, LONGEST));
            json!({"class": change.class.word(), "subject": subject, "what": what})
        });
        let mut shown = json!({
            "file": args.file.display().to_string(),
            "status": word,
            "tokens": {"before": tokens.0, "now": tokens.1},
            "changes": rows.collect::<Vec<_>>(),
        });
        if left_out > 0 {
            shown["changes_left_out"] = left_out.into();
        }
        return print(&to_safe_json(&shown));
    }
    let mut text = format!("{word:<9}  {}", args.file.display());
    let _ = match tokens {
        (Some(before), now) if before != now => writeln!(text, "  ({now} tokens, {before} before)"),
        (_, now) => writeln!(text, "  ({now} tokens)"),
    };
    for change in changes {
        let (subject, what) = (shorten(&change.subject, LONGEST), shorten(&change.what, LONGEST));
        let subject = escape_terminal_line(&subject);
        let _ = writeln!(text, "           {:<16}  {subject}: {}", change.class.word(), escape_terminal_line(&what));
    }
    if left_out > 0 {
        let _ = writeln!(text, "           … {left_out} more changes are left out …");
    }
    if args.check && !changes.is_empty() {
        text.push_str("`mcprove lock` without `--check` stores what the server offers now\n");
    }
    print(&text)
}

fn read(path: &Path) -> Result<Option<Value>, Failure> {
    let wrong = |problem: &str| {
        let message = format!("`{}` is not a lockfile: {problem}", path.display());
        Failure::new(message, "remove it, and write it again with `mcprove lock`")
    };
    match bounded_read::read_to_string(path) {
        Ok(text) => {
            let lock = bounded_json::value(&text).map_err(|error| wrong(&error.to_string()))?;
            match lock_problem(&lock) {
                Some(problem) => Err(wrong(&problem)),
                None => Ok(Some(lock)),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Failure::new(format!("`{}` could not be read: {error}", path.display()), "look at its permissions"))
        }
    }
}

fn write(path: &Path, lock: &Value) -> Result<(), Failure> {
    let written = atomic_write::write(path, to_stored_json(lock).as_bytes());
    written.map_err(|error| {
        Failure::new(format!("`{}` could not be written: {error}", path.display()), "look at its permissions")
    })
}
