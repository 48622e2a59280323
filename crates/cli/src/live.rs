//! Where the events of a run go: the terminal, the event log, and the report at the end.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::time::Instant;

use mcprove_engine::{Progress, Sink};
use mcprove_model::{Event, Report};
use mcprove_report::{Terminal, TerminalOptions, write_event};

use crate::context::Context;

/// How often the progress line is written at most.
const REFRESH_MS: u128 = 80;

/// The listeners of a run.
pub(crate) struct Listeners<'c> {
    context: &'c Context,
    terminal: Option<Terminal<Box<dyn io::Write>>>,
    log: Option<(String, BufWriter<File>)>,
    report: Report,
    began: Instant,
    progress: Option<Instant>,
    broken: Option<String>,
}

/// What is left when a run is over.
pub(crate) struct Heard {
    /// The run, folded; frames are left out.
    pub(crate) report: Report,
    /// Why the event log could not be written, if so.
    pub(crate) log_error: Option<String>,
}

impl<'c> Listeners<'c> {
    pub(crate) fn new(context: &'c Context, log: Option<(String, File)>, terminal: bool) -> Self {
        let options = TerminalOptions { color: context.color, verbosity: context.verbosity, width: context.width };
        let out: Box<dyn io::Write> = Box::new(io::stdout().lock());
        Self {
            context,
            terminal: terminal.then(|| Terminal::new(out, options)),
            log: log.map(|(path, file)| (path, BufWriter::new(file))),
            report: Report::default(),
            began: Instant::now(),
            progress: None,
            broken: None,
        }
    }

    pub(crate) fn finish(mut self) -> Heard {
        self.clear_progress();
        if let Some((path, log)) = &mut self.log
            && let Err(error) = log.flush()
        {
            self.broken.get_or_insert(format!("the event log `{path}` could not be written: {error}"));
        }
        Heard { report: self.report, log_error: self.broken }
    }

    fn clear_progress(&mut self) {
        if self.progress.take().is_some() {
            let _ = io::stderr().write_all(b"\r\x1b[2K");
        }
    }

    fn write_log(&mut self, event: &Event) {
        let Some((path, log)) = &mut self.log else { return };
        if let Err(error) = write_event(log, event) {
            self.broken = Some(format!("the event log `{path}` could not be written: {error}"));
            self.log = None;
        }
    }
}

impl Sink for Listeners<'_> {
    fn event(&mut self, event: Event) {
        self.clear_progress();
        self.write_log(&event);
        if let Some(terminal) = &mut self.terminal {
            // A reader that went away (`| head`) does not end the run: servers must still be cleaned up.
            let _ = terminal.event(&event);
        }
        if !matches!(event, Event::Frame { .. }) {
            self.report.add(event);
        }
    }

    fn progress(&mut self, progress: &Progress<'_>) {
        if !self.context.live || self.progress.is_some_and(|last| last.elapsed().as_millis() < REFRESH_MS) {
            return;
        }
        let line = mcprove_report::Progress {
            done: progress.done,
            total: progress.total,
            name: progress.running.first().copied().unwrap_or_default(),
            running: progress.running.len(),
            elapsed_us: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
        }
        .line(self.context.width.unwrap_or(80).saturating_sub(1));
        let _ = io::stderr().write_all(format!("\r\x1b[2K{line}").as_bytes());
        self.progress = Some(Instant::now());
    }
}
