//! Runs that the page starts: this program is run again, and its event log is what the page shows.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use mcprove_wire::command_output;
use serde_json::{Value, json};

use crate::logs::{self, Frames};

/// The longest time of a run.
const LONGEST: Duration = Duration::from_hours(1);

/// The commands that the page may start, each with an event log.
const COMMANDS: &[&str] = &["run", "audit", "negative", "fuzz"];

/// The runs of this page.
#[derive(Default)]
pub(super) struct Runs {
    folder: RefCell<Option<tempfile::TempDir>>,
    known: Rc<RefCell<BTreeMap<u64, Run>>>,
    last: Cell<u64>,
}

/// One run.
struct Run {
    words: Vec<String>,
    log: PathBuf,
    is_over: bool,
    complaint: Option<String>,
}

impl Runs {
    /// Starts a run; the error says why not.
    pub(super) fn start(&self, program: &Path, words: &[String]) -> Result<u64, String> {
        let command = words.first().map(String::as_str).unwrap_or_default();
        if !COMMANDS.contains(&command) {
            return Err(format!("`{command}` cannot be started here; known: {}", COMMANDS.join(", ")));
        }
        if words.iter().any(|word| word == "--events" || word.starts_with("--events=")) {
            return Err("the page writes the event log itself".to_owned());
        }
        let number = self.last.get() + 1;
        self.last.set(number);
        let mut folder = self.folder.borrow_mut();
        if folder.is_none() {
            *folder = Some(tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?);
        }
        let Some(folder) = folder.as_ref() else { return Err("no temporary folder".to_owned()) };
        let log = folder.path().join(format!("run-{number}.ndjson"));
        let mut line = vec![program.to_string_lossy().into_owned()];
        line.extend(words.iter().cloned());
        line.extend(["--events".to_owned(), log.to_string_lossy().into_owned()]);
        let run = Run { words: words.to_vec(), log, is_over: false, complaint: None };
        self.known.borrow_mut().insert(number, run);
        let known = Rc::clone(&self.known);
        tokio::task::spawn_local(async move {
            let ended = command_output(&line, LONGEST).await;
            if let Some(run) = known.borrow_mut().get_mut(&number) {
                run.is_over = true;
                // A run with failures ends with 1; its log says it better.
                run.complaint = ended.err().filter(|_| !run.log.exists());
            }
        });
        Ok(number)
    }

    /// The runs, newest first.
    pub(super) fn list(&self) -> Value {
        let known = self.known.borrow();
        known
            .iter()
            .rev()
            .map(|(number, run)| json!({"run": number, "words": run.words, "over": run.is_over}))
            .collect()
    }

    /// A run as the page shows it; the report is that of the log as far as it is written.
    pub(super) fn show(&self, number: u64) -> Option<Value> {
        let (log, over, words, complaint) = {
            let known = self.known.borrow();
            let run = known.get(&number)?;
            (run.log.clone(), run.is_over, run.words.clone(), run.complaint.clone())
        };
        let report = if log.exists() { report_of(&log) } else { Value::Null };
        Some(json!({"run": number, "words": words, "over": over, "complaint": complaint, "report": report}))
    }
}

/// The report of an event log, as the page of a report embeds it.
pub(super) fn report_of(log: &Path) -> Value {
    match logs::read(&[log.to_owned()], Frames::Keep) {
        Ok(read) => serde_json::from_str(&mcprove_report::page_data(&read.report)).unwrap_or_default(),
        Err(_) => Value::Null,
    }
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
