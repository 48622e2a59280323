//! Where the events of a run go: the terminal, the event log, and the report at the end.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::time::Instant;

use mcprove_engine::{Progress, ScanResult, Sink};
use mcprove_model::{Event, Redactor, Report, Verdict};
use mcprove_report::{Shows, Terminal, TerminalOptions, write_event};

use crate::context::Context;
use crate::run_context::run_context;

/// Minimum interval between updates of the progress line.
const REFRESH_MS: u128 = 80;

/// The sink of a run.
pub(crate) struct RunSink<'c> {
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
    /// Results of scans besides their events.
    scanned: Vec<(usize, ScanResult)>,
    planned_calls: usize,
    counts: Counts,
    /// True if the terminal shows cases as they end; the log and the report have them in the order of the plan.
    by_completion: bool,
}

/// Counts of a run while it goes on.
#[derive(Clone, Copy, Default)]
struct Counts {
    jobs: usize,
    passed: usize,
    failed: usize,
}

impl Counts {
    fn add(&mut self, event: &Event) {
        match event {
            Event::RunStarted(started) => self.jobs = started.jobs,
            Event::CaseFinished(finished) => match finished.verdict {
                Verdict::Passed => self.passed += 1,
                Verdict::Failed | Verdict::Error => self.failed += 1,
                Verdict::Skipped { .. } => {}
            },
            Event::Finding { .. }
            | Event::CaseStarted(_)
            | Event::Connected(_)
            | Event::Frame { .. }
            | Event::RunFinished(_) => {}
        }
    }
}

/// Options of the sink of a run.
#[derive(Debug)]
pub(crate) struct SinkOptions {
    /// The event log and its path.
    pub(crate) log: Option<(String, File)>,
    /// True if each result is shown as it becomes known.
    pub(crate) shown: bool,
    /// True if no case has several trials or columns.
    pub(crate) each_once: bool,
    /// Details of passing cases that the report keeps.
    pub(crate) shows: Shows,
    /// Removes secrets.
    pub(crate) redactor: Redactor,
    /// Number of calls that scans plan, where calls are counted.
    pub(crate) planned_calls: usize,
    /// True if a case that failed can be run again by itself.
    pub(crate) has_next_step: bool,
}

/// Result of a finished run.
pub(crate) struct SinkResult {
    /// The run, folded.
    pub(crate) report: Report,
    /// Why the event log could not be written, if so.
    pub(crate) log_error: Option<String>,
    /// Why the results could not be shown, if so.
    pub(crate) unshown: Option<String>,
    /// Results of scans besides their events, by the index of their case.
    pub(crate) scanned: Vec<(usize, ScanResult)>,
}

impl<'c> RunSink<'c> {
    pub(crate) fn new(context: &'c Context, options: SinkOptions) -> Self {
        let terminal_options =
            TerminalOptions { color: context.color, verbosity: context.verbosity, width: context.width };
        let out: Box<dyn io::Write> = Box::new(io::stdout().lock());
        let terminal = options.shown.then(|| Terminal::new(out, terminal_options));
        let terminal = if options.has_next_step { terminal } else { terminal.map(Terminal::without_next_step) };
        Self {
            context,
            terminal: if options.each_once { terminal.map(Terminal::each_once) } else { terminal },
            log: options.log.map(|(path, file)| (path, BufWriter::new(file))),
            report: Report::default(),
            shows: options.shows,
            redactor: options.redactor,
            began: Instant::now(),
            progress: None,
            broken: None,
            unshown: None,
            scanned: Vec::new(),
            planned_calls: options.planned_calls,
            counts: Counts::default(),
            by_completion: options.shown && context.live && io::stdout().is_terminal(),
        }
    }

    pub(crate) fn finish(mut self) -> SinkResult {
        self.clear_progress();
        if let Some((path, log)) = &mut self.log
            && let Err(error) = log.flush()
        {
            self.broken.get_or_insert(format!("the event log `{path}` could not be written: {error}"));
        }
        SinkResult { report: self.report, log_error: self.broken, unshown: self.unshown, scanned: self.scanned }
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

    fn show(&mut self, event: &Event) {
        let Some(terminal) = &mut self.terminal else { return };
        let shown = terminal.event(event);
        self.note_unshown(shown);
    }

    fn note_unshown(&mut self, shown: io::Result<()>) {
        // A reader that went away (`| head`) does not end the run: servers must still be cleaned up.
        if let Err(error) = shown
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            self.unshown.get_or_insert(format!("standard output could not be written: {error}"));
        }
    }

    /// Shows an event of a run whose cases are shown in order. The report knows the beginning of the case that has ended.
    fn show_in_order(&mut self, event: &Event) {
        match (event, &mut self.terminal, self.report.cases.last()) {
            (Event::CaseStarted(_) | Event::Connected(_) | Event::Frame { .. }, ..) => {}
            (Event::CaseFinished(finished), Some(terminal), Some(case)) if case.started.index == finished.index => {
                let shown = terminal.case(&case.started, &case.sessions, finished);
                self.note_unshown(shown);
            }
            (_, _, _) => self.show(event),
        }
    }

    fn write_log(&mut self, event: &Event) {
        let Some((path, log)) = &mut self.log else { return };
        // A run that is killed leaves behind what was over by then, and a reader sees that it began.
        let flushed = |log: &mut BufWriter<File>| match event {
            Event::RunStarted(_) | Event::CaseFinished(_) => log.flush(),
            Event::Finding { .. }
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

fn is_of_case(event: &Event) -> bool {
    match event {
        Event::CaseStarted(_) | Event::Connected(_) | Event::Frame { .. } | Event::CaseFinished(_) => true,
        Event::RunStarted(_) | Event::Finding { .. } | Event::RunFinished(_) => false,
    }
}

impl Sink for RunSink<'_> {
    fn event(&mut self, mut event: Event) {
        if let Event::RunStarted(started) = &mut event {
            started.context = Some(Box::new(run_context()));
        }
        self.redactor.event(&mut event);
        if !self.by_completion || !is_of_case(&event) {
            self.counts.add(&event);
            self.clear_progress();
        }
        self.write_log(&event);
        if !self.by_completion {
            self.show_in_order(&event);
        } else if !is_of_case(&event) {
            self.show(&event);
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

    fn wants_ended(&self) -> bool {
        self.by_completion
    }

    fn ended(&mut self, mut event: Event) {
        self.redactor.event(&mut event);
        self.counts.add(&event);
        self.clear_progress();
        self.show(&event);
    }

    fn progress(&mut self, progress: &Progress<'_>) {
        if !self.context.live || self.progress.is_some_and(|last| last.elapsed().as_millis() < REFRESH_MS) {
            return;
        }
        let (name, width) = (progress.next.unwrap_or_default(), self.context.width.unwrap_or(80).saturating_sub(1));
        let elapsed_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let line = if let Some(load) = &progress.load {
            let mcprove_engine::LoadProgress { answered, failed, open, p50_us, p99_us, ref history } = *load;
            mcprove_report::LoadLine { answered, failed, open, p50_us, p99_us, history, elapsed_us }.line(width)
        } else if self.planned_calls > 0 {
            let (done, total) = (progress.calls, self.planned_calls);
            mcprove_report::CallProgress { done, total, tool: name, elapsed_us }.line(width)
        } else {
            let Counts { jobs, passed, failed } = self.counts;
            let Progress { done, total, running, .. } = *progress;
            // A case that has its result may still be cleaning up; it does not count as concurrent with the next one.
            let running = running.min(jobs.max(1));
            mcprove_report::Progress { done, total, name, running, passed, failed, elapsed_us }.line(width)
        };
        self.show_progress(&line);
    }

    fn scanned(&mut self, index: usize, result: ScanResult) {
        self.scanned.push((index, result));
    }
}
