//! Where the events of a run go: the terminal, the event log, and the report at the end.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::time::Instant;

use mcprove_engine::{CallProgress, Progress, Sink};
use mcprove_judge::tool_effect::ScanPlan;
use mcprove_model::{Event, Redactor, Report};
use mcprove_report::{Shows, Terminal, TerminalOptions, write_event};

use crate::context::Context;

/// How often the progress line is written at most.
const REFRESH_MS: u128 = 80;

/// The listeners of a run.
pub(crate) struct Listeners<'c> {
    context: &'c Context,
    terminal: Option<Terminal<Box<dyn io::Write>>>,
    log: Option<(String, BufWriter<File>)>,
    report: Report,
    shows: Shows,
    redactor: Redactor,
    began: Instant,
    progress: Option<Instant>,
    broken: Option<String>,
    unshown: Option<String>,
    approval: Approval,
    declined: bool,
}

/// How the plan of a scan is approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// By whoever sits at the terminal, where there is something to decide.
    Asked,
    /// In advance.
    Given,
}

/// What the listeners of a run are to do.
#[derive(Debug)]
pub(crate) struct Listening {
    /// The event log and its path.
    pub(crate) log: Option<(String, File)>,
    /// Whether each result is shown as it becomes known.
    pub(crate) shown: bool,
    /// Whether no case has several trials or columns.
    pub(crate) each_once: bool,
    /// How much of passing cases the report keeps.
    pub(crate) shows: Shows,
    /// What must not be heard by anyone.
    pub(crate) redactor: Redactor,
}

/// What is left when a run is over.
pub(crate) struct Heard {
    /// The run, folded.
    pub(crate) report: Report,
    /// Why the event log could not be written, if so.
    pub(crate) log_error: Option<String>,
    /// Why the results could not be shown, if so.
    pub(crate) unshown: Option<String>,
    /// True if the user did not want the calls of a scan.
    pub(crate) declined: bool,
}

impl<'c> Listeners<'c> {
    pub(crate) fn new(context: &'c Context, listening: Listening) -> Self {
        let options = TerminalOptions { color: context.color, verbosity: context.verbosity, width: context.width };
        let out: Box<dyn io::Write> = Box::new(io::stdout().lock());
        let terminal = listening.shown.then(|| Terminal::new(out, options));
        Self {
            context,
            terminal: if listening.each_once { terminal.map(Terminal::each_once) } else { terminal },
            log: listening.log.map(|(path, file)| (path, BufWriter::new(file))),
            report: Report::default(),
            shows: listening.shows,
            redactor: listening.redactor,
            began: Instant::now(),
            progress: None,
            broken: None,
            unshown: None,
            approval: Approval::Given,
            declined: false,
        }
    }

    /// Sets how the plan of a scan is approved.
    pub(crate) fn approved(mut self, approval: Approval) -> Self {
        self.approval = approval;
        self
    }

    pub(crate) fn finish(mut self) -> Heard {
        self.clear_progress();
        if let Some((path, log)) = &mut self.log
            && let Err(error) = log.flush()
        {
            self.broken.get_or_insert(format!("the event log `{path}` could not be written: {error}"));
        }
        Heard { report: self.report, log_error: self.broken, unshown: self.unshown, declined: self.declined }
    }

    fn clear_progress(&mut self) {
        if self.progress.take().is_some() {
            let _ = io::stderr().write_all(b"\r\x1b[2K");
        }
    }

    fn show_progress(&mut self, line: &str) {
        let _ = io::stderr().write_all(format!("\r\x1b[2K{line}").as_bytes());
        self.progress = Some(Instant::now());
    }

    fn write_log(&mut self, event: &Event) {
        let Some((path, log)) = &mut self.log else { return };
        // A run that is killed leaves behind what was over by then.
        let flushed = |log: &mut BufWriter<File>| match event {
            Event::CaseFinished(_) => log.flush(),
            Event::RunStarted(_)
            | Event::Finding { .. }
            | Event::CaseStarted(_)
            | Event::Connected(_)
            | Event::Frame { .. }
            | Event::RunFinished(_) => Ok(()),
        };
        if let Err(error) = write_event(log, event).and_then(|()| flushed(log)) {
            self.broken = Some(format!("the event log `{path}` could not be written: {error}"));
            self.log = None;
        }
    }
}

impl Sink for Listeners<'_> {
    fn event(&mut self, mut event: Event) {
        self.redactor.event(&mut event);
        self.clear_progress();
        self.write_log(&event);
        if let Some(terminal) = &mut self.terminal {
            // A reader that went away (`| head`) does not end the run: servers must still be cleaned up.
            if let Err(error) = terminal.event(&event)
                && error.kind() != io::ErrorKind::BrokenPipe
            {
                self.unshown.get_or_insert(format!("standard output could not be written: {error}"));
            }
        }
        match &mut event {
            Event::Frame { .. } if self.shows < Shows::Frames => return,
            // What this run reports by itself is whole; only where logs are put together, other parts are missed.
            Event::RunStarted(started) => started.shard = None,
            Event::Frame { .. }
            | Event::Finding { .. }
            | Event::CaseStarted(_)
            | Event::Connected(_)
            | Event::CaseFinished(_)
            | Event::RunFinished(_) => {}
        }
        self.report.add(event);
        self.shows.trim(&mut self.report);
    }

    fn progress(&mut self, progress: &Progress<'_>) {
        if !self.context.live || self.progress.is_some_and(|last| last.elapsed().as_millis() < REFRESH_MS) {
            return;
        }
        let line = mcprove_report::Progress {
            done: progress.done,
            total: progress.total,
            name: progress.next.unwrap_or_default(),
            running: progress.running,
            elapsed_us: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
        }
        .line(self.context.width.unwrap_or(80).saturating_sub(1));
        self.show_progress(&line);
    }

    fn approve(&mut self, plan: &ScanPlan) -> bool {
        self.clear_progress();
        self.context.complain(&plan.text());
        if self.approval == Approval::Given || plan.unclear().next().is_none() {
            return true;
        }
        let question = "Call them? The tools that are not marked may write. [y/N] ";
        let answer = Context::ask(question);
        self.declined = answer.is_some_and(|answer| !matches!(answer.to_lowercase().as_str(), "y" | "yes"));
        !self.declined
    }

    fn calls(&mut self, progress: &CallProgress<'_>) {
        if !self.context.live || self.progress.is_some_and(|last| last.elapsed().as_millis() < REFRESH_MS) {
            return;
        }
        let line = mcprove_report::CallProgress {
            done: progress.done,
            total: progress.total,
            tool: progress.tool,
            elapsed_us: u64::try_from(progress.elapsed.as_micros()).unwrap_or(u64::MAX),
        }
        .line(self.context.width.unwrap_or(80).saturating_sub(1));
        self.show_progress(&line);
    }
}
