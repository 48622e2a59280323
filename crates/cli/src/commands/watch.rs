//! `mcprove watch`: suites, again and again.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcprove_engine::Filter;
use mcprove_model::{Case, ExitStatus, Override, Report};
use mcprove_report::{Shows, compat_json};
use mcprove_suite::duration;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use serde_json::Value;

use crate::changes::{Again, Dependencies, cases_of};
use crate::context::Context;
use crate::execution::{Execution, RunMode, redactor_of, runtime};
use crate::failure::Failure;
use crate::selection::Selection;
use crate::status_changes::StatusChanges;
use crate::stdout::{print, print_exactly};
use crate::stop_signals::StopSignals;
use crate::subject::Subject;
use crate::suites::{Suites, usable};
use crate::terminal_mode::SingleKeys;

/// Run suites again whenever something they depend on changes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A changed suite file runs its own cases again; a changed fixture, server program or `--also` path \
                  runs all. On a terminal: `a` all, `f` those that failed, `t` type a filter, `q` quit.\n\nExamples:\n  \
                  mcprove watch evals/\n  mcprove watch evals/ --also src/ --server 'node dist/index.js'"
)]
pub(crate) struct Args {
    #[command(flatten)]
    suites: Suites,
    #[command(flatten)]
    subject: Subject,
    /// Run everything again when this file or folder changes; may be repeated.
    #[arg(long, visible_alias = "watch-path", value_name = "PATH")]
    also: Vec<PathBuf>,
    /// Debounce interval: time without changes before anything runs.
    #[arg(long, value_name = "DURATION", default_value = "200ms", value_parser = duration::parse)]
    debounce: Duration,
    /// Print the results of each run as JSON, one line per run, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    execution: Execution,
}

/// Something that happened outside.
enum Input {
    Changed(BTreeSet<PathBuf>),
    Key(u8),
    Stopped,
}

/// The next action.
enum Next {
    Run(Again),
    Failed,
    Filter(Option<Filter>),
    Quit(ExitStatus),
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let (sender, inputs) = channel();
    let keys = if args.json { None } else { SingleKeys::begin() };
    let running = Arc::new(AtomicBool::new(false));
    listen_to_signals(sender.clone())?;
    if keys.is_some() {
        listen_to_keys(sender.clone(), running.clone());
    }
    let file_watcher = FileWatcher::open(sender)?;
    let mut watch = Watch {
        args,
        context,
        file_watcher,
        inputs,
        running,
        has_keys: keys.is_some(),
        status_changes: StatusChanges::default(),
        filter: None,
        cases: Vec::new(),
        secrets: Vec::new(),
    };
    let status = watch.run();
    drop(keys);
    status
}

struct Watch<'a> {
    args: &'a Args,
    context: &'a Context,
    file_watcher: FileWatcher,
    inputs: Receiver<Input>,
    running: Arc<AtomicBool>,
    has_keys: bool,
    status_changes: StatusChanges,
    /// The filter typed at the terminal, in addition to that of the command line.
    filter: Option<Filter>,
    cases: Vec<Arc<Case>>,
    /// Values of suite files that are not to be shown.
    secrets: Vec<String>,
}

impl Watch<'_> {
    fn run(&mut self) -> Result<ExitStatus, Failure> {
        let mut next = Next::Run(Again::All);
        loop {
            let ran = match next {
                Next::Quit(status) => return Ok(status),
                Next::Run(again) => self.run_again(&again)?,
                Next::Failed => {
                    let failed =
                        self.cases.iter().filter(|case| self.status_changes.failed(case.source.path(), &case.name));
                    let failed: Vec<_> = failed.cloned().collect();
                    self.run_cases(&failed, "no case failed last time")?
                }
                Next::Filter(filter) => {
                    self.filter = filter;
                    let cases = self.cases.clone();
                    self.run_cases(&cases, "there are no cases")?
                }
            };
            if ran == Ran::Interrupted {
                return Ok(ExitStatus::Interrupted);
            }
            self.invite()?;
            next = self.wait()?;
        }
    }

    /// Loads everything and runs the affected cases. Mistakes in the files are shown; the next change may fix them.
    fn run_again(&mut self, again: &Again) -> Result<Ran, Failure> {
        let loaded = self.args.suites.paths().and_then(|paths| {
            let loaded = self.args.suites.load_for(&self.args.subject)?;
            Ok((paths, loaded))
        });
        let (paths, loaded) = match loaded {
            Ok(loaded) => loaded,
            // What was there when this began may come back.
            Err(failure) if !self.cases.is_empty() => {
                failure.print(self.context);
                return Ok(Ran::Nothing);
            }
            Err(failure) => return Err(failure),
        };
        let also = [self.args.also.as_slice(), self.args.suites.env_files()].concat();
        self.file_watcher.watch(Dependencies::of(&paths, &loaded.cases, &also))?;
        if let Err(failure) = usable(&loaded, self.args.execution.strict) {
            failure.print(self.context);
            return Ok(Ran::Nothing);
        }
        self.cases = loaded.cases;
        self.secrets = loaded.secrets;
        let cases = match again {
            Again::Nothing => Vec::new(),
            Again::Files(files) => cases_of(files, &self.cases),
            Again::All => self.cases.clone(),
        };
        self.run_cases(&cases, "the changed files have no cases")
    }

    fn run_cases(&mut self, cases: &[Arc<Case>], none: &str) -> Result<Ran, Failure> {
        let wanted = |case: &&Arc<Case>| self.filter.as_ref().is_none_or(|filter| filter.takes(&case.name));
        let cases: Vec<Arc<Case>> = cases.iter().filter(wanted).cloned().collect();
        if cases.is_empty() {
            self.context.write_stderr(&format!("{none}\n"));
            return Ok(Ran::Nothing);
        }
        let plan = match self.args.selection.plan(&cases, self.args.execution.in_container(Override::default())) {
            Ok(plan) => plan,
            Err(failure @ Failure::NothingSelected { .. }) => {
                failure.print(self.context);
                return Ok(Ran::Nothing);
            }
            Err(failure) => return Err(failure),
        };
        let mode = RunMode {
            shown: !self.args.json,
            // What was answered is compared with what is answered next.
            shows: Shows::Calls,
            again: self.rerun_arguments(),
            ..RunMode::new(Vec::new(), redactor_of(&plan, &self.secrets))
        };
        self.running.store(true, Ordering::Relaxed);
        let over = self.args.execution.run(&plan, mode, self.context);
        self.running.store(false, Ordering::Relaxed);
        let over = over?;
        for complaint in &over.complaints {
            self.context.write_stderr(&format!("error: {complaint}\n"));
        }
        if over.is_interrupted() {
            return Ok(Ran::Interrupted);
        }
        let status_changes = self.status_changes.take(&over.report);
        print(&if self.args.json { one_line(&over.report) } else { status_changes })?;
        Ok(Ran::Cases)
    }

    /// The command that runs such a case by itself.
    fn rerun_arguments(&self) -> Vec<String> {
        std::iter::once("run".to_owned()).chain(self.args.suites.words()).chain(self.args.subject.words()).collect()
    }

    fn invite(&self) -> Result<(), Failure> {
        let keys = if self.has_keys { "; a: all, f: failed, t: filter, q: quit" } else { "" };
        let count = self.cases.len();
        let cases = if count == 1 { "1 case".to_owned() } else { format!("{count} cases") };
        let text = format!("\nwatching {cases}{keys}\n");
        if self.args.json {
            self.context.write_stderr(&text);
            return Ok(());
        }
        print(&text)
    }

    /// Waits for something to do. Files that change one after the other are taken together.
    fn wait(&mut self) -> Result<Next, Failure> {
        let mut changed = BTreeSet::new();
        loop {
            let input = if changed.is_empty() {
                self.inputs.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                self.inputs.recv_timeout(self.args.debounce)
            };
            match input {
                Ok(Input::Changed(paths)) => changed.extend(paths),
                Ok(Input::Stopped) | Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Next::Quit(ExitStatus::Interrupted));
                }
                Ok(Input::Key(b'a')) => return Ok(Next::Run(Again::All)),
                Ok(Input::Key(b'f')) => return Ok(Next::Failed),
                Ok(Input::Key(b't' | b'/')) => match self.ask_for_filter()? {
                    Typed::Nothing => {}
                    Typed::Stopped => return Ok(Next::Quit(ExitStatus::Interrupted)),
                    Typed::All => return Ok(Next::Filter(None)),
                    Typed::Filter(filter) => return Ok(Next::Filter(Some(filter))),
                },
                Ok(Input::Key(b'q' | 4)) => return Ok(Next::Quit(ExitStatus::Good)),
                Ok(Input::Key(_)) => {}
                Err(RecvTimeoutError::Timeout) => match self.file_watcher.meaning(&changed) {
                    Again::Nothing => changed.clear(),
                    again => return Ok(Next::Run(again)),
                },
            }
        }
    }

    /// Lets a filter be typed.
    fn ask_for_filter(&mut self) -> Result<Typed, Failure> {
        let mut typed = String::new();
        let ended = loop {
            print_exactly(&format!("\r\x1b[2Kfilter (a text or a /regex/; empty for all): {typed}"))?;
            flush();
            match self.inputs.recv() {
                Ok(Input::Key(b'\n' | b'\r')) => break None,
                Ok(Input::Key(0x1b)) => break Some(Typed::Nothing),
                Ok(Input::Key(0x7f | 8)) => drop(typed.pop()),
                Ok(Input::Key(key)) if key.is_ascii_graphic() || key == b' ' => typed.push(char::from(key)),
                Ok(Input::Key(_) | Input::Changed(_)) => {}
                Ok(Input::Stopped) | Err(_) => break Some(Typed::Stopped),
            }
        };
        print("\n")?;
        Ok(match (ended, Filter::parse(&typed)) {
            (Some(ended), _) => ended,
            (None, _) if typed.is_empty() => Typed::All,
            (None, Ok(filter)) => Typed::Filter(filter),
            (None, Err(error)) => {
                print(&format!("{error}\n"))?;
                Typed::Nothing
            }
        })
    }
}

/// The list that `run --json` prints, on one line.
fn one_line(report: &Report) -> String {
    let list: Value = serde_json::from_str(&compat_json(report)).unwrap_or_default();
    format!("{list}\n")
}

/// Result of the filter prompt.
enum Typed {
    /// It was given up.
    Nothing,
    /// The program must end.
    Stopped,
    /// None at all.
    All,
    Filter(Filter),
}

/// Result of a request to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ran {
    Cases,
    Nothing,
    Interrupted,
}

/// Listens to the kernel about files.
struct FileWatcher {
    watcher: RecommendedWatcher,
    folders: BTreeSet<(PathBuf, bool, Identity)>,
    known: Arc<Mutex<Dependencies>>,
}

impl FileWatcher {
    fn open(sender: Sender<Input>) -> Result<Self, Failure> {
        let tell = move |event: notify::Result<notify::Event>| {
            // Ignore reads; running the suites reads every file.
            if let Ok(event) = event
                && !event.kind.is_access()
            {
                // The receiver is gone when the program ends.
                let _ = sender.send(Input::Changed(event.paths.into_iter().collect()));
            }
        };
        let watcher = notify::recommended_watcher(tell).map_err(|error| unwatchable(&error))?;
        Ok(Self { watcher, folders: BTreeSet::new(), known: Arc::default() })
    }

    /// Watches what matters now, and nothing else.
    fn watch(&mut self, known: Dependencies) -> Result<(), Failure> {
        let folders = known.folders().into_iter();
        let wanted: BTreeSet<_> = folders.map(|(folder, deep)| (folder.clone(), deep, identity(&folder))).collect();
        for (gone, _, _) in self.folders.difference(&wanted) {
            // It may have been removed, which ends the watch by itself.
            let _ = self.watcher.unwatch(gone);
        }
        for (folder, deep, _) in wanted.difference(&self.folders) {
            let mode = if *deep { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
            match self.watcher.watch(folder, mode) {
                Ok(()) => {}
                // It went away just now; the folder above it says when it is back.
                Err(_) if !folder.exists() => {}
                Err(error) => return Err(unwatchable(&error)),
            }
        }
        self.folders = wanted;
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(())
    }

    fn meaning(&self, changed: &BTreeSet<PathBuf>) -> Again {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).again(changed)
    }
}

/// Identity of a folder, to detect a replacement: the kernel watches folders, not their names.
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(folder: &Path) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(folder).map_or((0, 0), |metadata| (metadata.dev(), metadata.ino()))
}

/// Elsewhere a folder is known by when it was made.
#[cfg(not(unix))]
fn identity(folder: &Path) -> Identity {
    let made = std::fs::metadata(folder).and_then(|metadata| metadata.created()).ok();
    let since = made.and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    (since.as_secs(), u64::from(since.subsec_nanos()))
}

fn unwatchable(error: &notify::Error) -> Failure {
    let help = match error.kind {
        notify::ErrorKind::MaxFilesWatch => "raise fs.inotify.max_user_watches, or watch fewer folders",
        notify::ErrorKind::PathNotFound => "give paths that exist",
        _ => "check that the folders can be read",
    };
    Failure::new(format!("files cannot be watched: {error}"), help)
}

/// Reports signals that end the program. The listeners exist for the whole life of the program, so that a signal
/// between two runs does not end it with the terminal in raw mode.
fn listen_to_signals(sender: Sender<Input>) -> Result<(), Failure> {
    let runtime = runtime(1)?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            let mut signals = StopSignals::listen();
            loop {
                signals.next().await;
                if sender.send(Input::Stopped).is_err() {
                    return;
                }
            }
        });
    });
    Ok(())
}

fn listen_to_keys(sender: Sender<Input>, running: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut key = [0];
        while stdin.read_exact(&mut key).is_ok() {
            let [key] = key;
            if key == b'q' && running.load(Ordering::Relaxed) {
                // A user who quits does not want to wait for the end of the run.
                interrupt_ourselves();
            } else if sender.send(Input::Key(key)).is_err() {
                return;
            }
        }
    });
}

#[cfg(unix)]
fn interrupt_ourselves() {
    // The process cannot be missing.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT);
}

/// Single keys come from terminals that have signals.
#[cfg(not(unix))]
fn interrupt_ourselves() {}

fn flush() {
    // A terminal that is gone shows nothing, and the next write says so.
    let _ = io::stdout().flush();
}
