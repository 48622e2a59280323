//! Outputs of an intercepted conversation: the log, the report, and the terminal.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;

use mcprove_engine::{Answer, CallNews, Progress, Sink};
use mcprove_model::{Event, Redactor, Report, escape_line, shorten};
use mcprove_report::{Terminal, TerminalOptions, escape_terminal_line, write_event};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::atomic_write;
use crate::context::Context;
use crate::failure::Failure;

/// Maximum length of a call's arguments in the live output.
const SHOWN: usize = 120;
/// Maximum number of lines waiting to be shown. A client that does not read standard error must not block its server.
const BACKLOG: usize = 1_000;
/// Time limit for the last lines.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The listeners of an interception.
pub(crate) struct InterceptionLog {
    log: Option<(String, BufWriter<File>)>,
    redactor: Redactor,
    pub(crate) report: Report,
    /// Events of the judgement for the terminal; the conversation itself has been shown already.
    judged: Vec<Event>,
    options: TerminalOptions,
    /// Messages about files that could not be written.
    pub(crate) complaints: Vec<String>,
}

impl InterceptionLog {
    pub(crate) fn new(events: Option<&Path>, redactor: Redactor, context: &Context) -> Result<Self, Failure> {
        let log = match events {
            None => None,
            Some(path) => {
                let shown = path.display().to_string();
                let file = atomic_write::create_log(path).map_err(|error| {
                    Failure::new(format!("the event log `{shown}` could not be created: {error}"), "give another path")
                })?;
                Some((shown, BufWriter::new(file)))
            }
        };
        let options = TerminalOptions { color: context.color, verbosity: context.verbosity, width: context.width };
        Ok(Self { log, redactor, report: Report::default(), judged: Vec::new(), options, complaints: Vec::new() })
    }

    /// The judgement as text.
    pub(crate) fn verdicts(self) -> String {
        let mut text = Vec::new();
        if self.judged.iter().any(|event| matches!(event, Event::CaseFinished(_))) {
            let mut terminal = Terminal::new(&mut text, self.options).without_next_step();
            for event in &self.judged {
                // Memory takes everything.
                let _ = terminal.event(event);
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    fn write(&mut self, event: &Event) {
        let Some((path, log)) = &mut self.log else { return };
        // Flushed, so that the log is complete even if the process is killed.
        if let Err(error) = write_event(log, event).and_then(|()| log.flush()) {
            self.complaints.push(format!("the event log `{path}` could not be written: {error}"));
            self.log = None;
        }
    }

    fn judge(&mut self, event: &Event) {
        let about_the_conversation = match event {
            Event::CaseStarted(started) => started.index == 0,
            Event::CaseFinished(finished) => finished.index == 0,
            Event::Connected(_) | Event::Frame { .. } => true,
            Event::RunStarted(_) | Event::Finding { .. } | Event::RunFinished(_) => false,
        };
        if about_the_conversation {
            return;
        }
        let mut event = event.clone();
        if let Event::RunStarted(started) = &mut event {
            started.total -= 1;
        }
        self.judged.push(event);
    }
}

impl Sink for InterceptionLog {
    fn event(&mut self, mut event: Event) {
        self.redactor.event(&mut event);
        self.write(&event);
        self.judge(&event);
        if !matches!(event, Event::Frame { .. }) {
            self.report.add(event);
        }
    }

    fn progress(&mut self, _: &Progress<'_>) {}
}

/// Shows calls on standard error as they happen.
pub(crate) struct LiveCalls {
    lines: mpsc::Sender<String>,
    writer: JoinHandle<()>,
}

impl LiveCalls {
    /// Begins; needs a runtime.
    pub(crate) fn begin() -> Self {
        let (lines, mut waiting) = mpsc::channel::<String>(BACKLOG);
        let writer = tokio::spawn(async move {
            let mut stderr = tokio::io::stderr();
            while let Some(line) = waiting.recv().await {
                // Standard error may be closed.
                let _ = stderr.write_all(line.as_bytes()).await;
                let _ = stderr.flush().await;
            }
        });
        Self { lines, writer }
    }

    pub(crate) fn print_call(&self, news: &CallNews, redactor: &Redactor) {
        self.print_line(&redactor.text(&line(news)));
    }

    /// Shows a line; drops it if the reader is too slow.
    pub(crate) fn print_line(&self, text: &str) {
        let _ = self.lines.try_send(format!("mcprove: {}\n", escape_terminal_line(text)));
    }

    /// Lets the last lines out.
    pub(crate) async fn end(self) {
        drop(self.lines);
        let _ = tokio::time::timeout(LAST_LINES, self.writer).await;
    }
}

fn line(news: &CallNews) -> String {
    match news {
        CallNews::Called { number, tool, args } => {
            let args = args.to_string();
            format!("#{number} {} {}", escape_line(tool), shorten(&escape_line(&args), SHOWN))
        }
        CallNews::Unreadable { text } => {
            format!("the client sent something that cannot be read: {}", escape_line(text))
        }
        CallNews::Answered { number, tool, how, after_us } => {
            let how = match how {
                Answer::Result => "answered".to_owned(),
                Answer::IsError => "answered with `isError`".to_owned(),
                Answer::Error(error) => format!("answered with error {}", shorten(&escape_line(error), SHOWN)),
                Answer::Broken(fault) => format!("answered, but {}", escape_line(fault)),
            };
            format!("#{number} {} {how} in {}", escape_line(tool), milliseconds(*after_us))
        }
    }
}

fn milliseconds(us: u64) -> String {
    if us < 10_000 { format!("{}.{} ms", us / 1_000, us % 1_000 / 100) } else { format!("{} ms", us / 1_000) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_a_line_whatever_its_name_says() {
        let called = CallNews::Called { number: 2, tool: "a\nb\u{1b}[31m".to_owned(), args: json!({"x": 1}) };
        let text = line(&called);
        assert!(!text.contains(['\n', '\u{1b}']), "{text:?}");
        let answered = CallNews::Answered { number: 2, tool: "t".to_owned(), how: Answer::IsError, after_us: 1_260 };
        assert_eq!(line(&answered), "#2 t answered with `isError` in 1.2 ms");
    }
}
