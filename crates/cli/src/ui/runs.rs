//! Runs that the page starts: this program is run again, and its event log is what the page shows.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use clap::CommandFactory as _;
use mcprove_model::ServerSpec;
use mcprove_wire::{TemporaryFolder, command_output};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use super::history::Past;
use super::subject_words::subject_words;
use super::written_paths::refuse_outside;
use crate::Arguments;
use crate::logs::{self, Frames};

/// The longest time of a run.
const LONGEST: Duration = Duration::from_hours(1);

/// The commands that the page may start, each with an event log.
const COMMANDS: &[&str] = &["run", "audit", "negative", "conformance", "fuzz", "bench"];

/// Those of them that this program has.
pub(super) fn commands() -> Vec<&'static str> {
    let program = Arguments::command();
    COMMANDS.iter().copied().filter(|name| program.find_subcommand(name).is_some()).collect()
}

/// Size of the longest log whose frames are shown.
const LONGEST_WITH_FRAMES: u64 = 48 << 20;

/// The runs of this page.
#[derive(Default)]
pub(super) struct Runs {
    folder: RefCell<Option<TemporaryFolder>>,
    known: Rc<RefCell<BTreeMap<u64, Run>>>,
    last: Cell<u64>,
}

/// One run.
struct Run {
    words: Vec<String>,
    log: PathBuf,
    /// The command line as a person would type it.
    shown: String,
    is_over: bool,
    is_stopped: bool,
    /// True once its log is a file of the folder, which the history reads.
    is_kept: bool,
    complaint: Option<String>,
    task: AbortHandle,
}

/// A run to start.
pub(super) struct RunOrder {
    /// The command line, without the name of the program.
    pub(super) words: Vec<String>,
    /// An earlier run; only its failures are run again.
    pub(super) failed_of: Option<u64>,
    /// The server under test; where it is absent, the command line or the suites name it.
    pub(super) server: Option<ServerSpec>,
}

impl Runs {
    /// Starts a run, which may write into these folders; the error says why not.
    pub(super) fn start(&self, program: &Path, order: RunOrder, folders: &[PathBuf]) -> Result<u64, String> {
        let RunOrder { words, failed_of, server } = order;
        let command = words.first().map(String::as_str).unwrap_or_default();
        let known = commands();
        if !known.contains(&command) {
            return Err(format!("`{command}` cannot be started here; known: {}", known.join(", ")));
        }
        if words.iter().any(|word| word == "--events" || word.starts_with("--events=")) {
            return Err("the page writes the event log itself".to_owned());
        }
        let number = self.last.get() + 1;
        self.last.set(number);
        let mut folder = self.folder.borrow_mut();
        if folder.is_none() {
            *folder = Some(TemporaryFolder::new("ui").map_err(|error| format!("no temporary folder: {error}"))?);
        }
        let Some(folder) = folder.as_ref() else { return Err("no temporary folder".to_owned()) };
        let log = folder.path().join(format!("run-{number}.ndjson"));
        let mut line = vec![program.to_string_lossy().into_owned()];
        line.extend(words.iter().cloned());
        line.extend(["--events".to_owned(), log.to_string_lossy().into_owned()]);
        let mut shown = words.clone();
        if let Some(server) = server {
            let subject = subject_words(&server, &folder.path().join(format!("run-{number}")))?;
            shown.extend(subject.iter().cloned());
            line.extend(subject);
        }
        refuse_outside(&shown, folders)?;
        let shown = format!("mcprove {}", shell_words::join(&shown));
        if let Some(earlier) = failed_of {
            let path = self.log(earlier).ok_or("the earlier run has no event log")?;
            line.extend(["--last-failed".to_owned(), path.to_string_lossy().into_owned()]);
        }
        let known = Rc::clone(&self.known);
        let task = tokio::task::spawn_local(async move {
            let ended = command_output(&line, LONGEST).await;
            if let Some(run) = known.borrow_mut().get_mut(&number) {
                run.is_over = true;
                // A run with failures ends with 1; its log says it better.
                let complaint = ended.err().filter(|_| !run.log.exists());
                run.complaint = complaint.map(|text| text.replace(&line.join(" "), &run.shown));
            }
        });
        let run = Run {
            words,
            log,
            shown,
            is_over: false,
            is_stopped: false,
            is_kept: false,
            complaint: None,
            task: task.abort_handle(),
        };
        self.known.borrow_mut().insert(number, run);
        Ok(number)
    }

    /// The log of a run, once something is in it.
    pub(super) fn log(&self, number: u64) -> Option<PathBuf> {
        self.known.borrow().get(&number).map(|run| run.log.clone()).filter(|log| log.exists())
    }

    /// Ends a run; the servers that it started end with it.
    pub(super) fn stop(&self, number: u64) -> bool {
        let mut known = self.known.borrow_mut();
        let Some(run) = known.get_mut(&number) else { return false };
        run.task.abort();
        run.is_stopped = !run.is_over;
        run.is_over = true;
        true
    }

    /// The logs of all runs, newest first.
    pub(super) fn past(&self) -> Vec<Past> {
        let known = self.known.borrow();
        let over = known.iter().rev().filter(|(_, run)| run.is_over && !run.is_kept && run.log.exists());
        over.map(|(number, run)| Past { id: format!("run/{number}"), path: run.log.clone() }).collect()
    }

    /// Copies the log of a run to a new file of a folder.
    pub(super) fn keep(&self, number: u64, folder: &Path, name: &str) -> Result<(), String> {
        let log = self.log(number).ok_or("the run has no event log")?;
        if !is_log_name(name) {
            return Err(format!("`{name}` is not the name of an event log (`*.ndjson`)"));
        }
        let path = folder.join(name);
        if path.exists() {
            return Err(format!("`{name}` exists already, and was not changed"));
        }
        std::fs::copy(&log, &path).map_err(|error| format!("`{name}` could not be written: {error}"))?;
        if let Some(run) = self.known.borrow_mut().get_mut(&number) {
            run.is_kept = true;
        }
        Ok(())
    }

    /// The runs, newest first; those whose log was saved are among the logs.
    pub(super) fn list(&self) -> Value {
        let known = self.known.borrow();
        known
            .iter()
            .rev()
            .filter(|(_, run)| !run.is_kept)
            .map(|(number, run)| json!({"run": number, "shown": run.shown, "over": run.is_over}))
            .collect()
    }

    /// A run as the page shows it; the report is that of the log as far as it is written.
    pub(super) fn show(&self, number: u64) -> Option<Value> {
        let known = self.known.borrow();
        let Run { words, log, shown, is_over: over, is_stopped: stopped, complaint, .. } = known.get(&number)?;
        // Frames are most of a log, and they are shown when the run is over.
        let frames = if *over { Frames::Keep } else { Frames::Drop };
        let report = if log.exists() { report_of(log, frames) } else { Value::Null };
        Some(json!({"run": number, "words": words, "shown": shown, "over": over, "stopped": stopped,
                    "complaint": complaint, "report": report}))
    }
}

/// The report of an event log, as the page of a report embeds it.
///
/// Of a log that is too long to be held several times, frames are left out; `mcprove report --html` has them.
pub(super) fn report_of(log: &Path, frames: Frames) -> Value {
    let is_long = log.metadata().is_ok_and(|about| about.len() > LONGEST_WITH_FRAMES);
    let frames = if is_long { Frames::Drop } else { frames };
    match logs::read(&[log.to_owned()], frames) {
        Ok(read) => serde_json::from_str(&mcprove_report::page_data(&read.report)).unwrap_or_default(),
        Err(_) => Value::Null,
    }
}

/// True for the plain name of an event log.
pub(super) fn is_log_name(name: &str) -> bool {
    !name.contains(['/', '\\']) && !name.starts_with('.') && name.ends_with(".ndjson")
}

/// The event logs of a folder, newest first.
pub(super) fn logs_in(folder: &Path) -> Vec<Value> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<(std::time::SystemTime, String, u64)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let about = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            name.ends_with(".ndjson").then_some((about.modified().ok()?, name, about.len()))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, name, bytes)| json!({"name": name, "bytes": bytes})).collect()
}
