//! A server process that speaks over its standard input and output, a message a line.

use std::time::Duration;

use bytes::Bytes;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::{Instant, timeout, timeout_at};

use super::{Arrival, Ended};
use crate::line_pipe::{LinePipe, PipeLine};
use crate::process::Process;
use crate::{Limits, Program, SpawnError};

/// Time to wait for output that is already on its way after the process has exited. A grandchild may hold the pipe open
/// forever, so the end of the stream is not reliable.
const AFTER_EXIT: Duration = Duration::from_millis(100);
/// Maximum number of messages kept while closing.
const LATE: usize = 64;

/// A process and its pipes.
#[derive(Debug)]
pub struct Stdio {
    pipe: LinePipe<ChildStdout, ChildStdin>,
    process: Process,
    exited: Option<Instant>,
}

impl Stdio {
    pub(super) fn start(program: &Program, limits: &Limits) -> Result<Self, SpawnError> {
        let (process, pipes) = Process::start(program, limits.stderr_bytes)?;
        Ok(Self { pipe: LinePipe::new(pipes.stdout, pipes.stdin, limits.message_bytes), process, exited: None })
    }

    pub(super) fn send(&mut self, message: &Bytes) {
        self.pipe.send(message);
    }

    pub(super) fn send_raw(&mut self, bytes: &[u8]) {
        self.pipe.send_raw(bytes);
    }

    pub(super) fn hold(&mut self, holds: bool) {
        self.pipe.hold(holds);
    }

    pub(super) fn read_at_once(&mut self) {
        #[cfg(unix)]
        self.pipe.read_at_once();
    }

    pub(super) fn unfinished(&self) -> Option<Bytes> {
        self.pipe.unfinished()
    }

    pub(super) fn is_flushed(&self) -> bool {
        self.pipe.is_flushed()
    }

    pub(super) fn stderr(&self) -> String {
        self.process.stderr().text()
    }

    pub(super) fn process_id(&self) -> Option<u32> {
        self.process.id()
    }

    pub(super) async fn receive(&mut self) -> Arrival {
        loop {
            if let Some(exited) = self.exited {
                return match timeout_at(exited + AFTER_EXIT, self.pipe.receive()).await {
                    Ok(line) => self.arrival(line).await,
                    Err(_) => self.gone().await,
                };
            }
            tokio::select! {
                biased;
                line = self.pipe.receive() => return self.arrival(line).await,
                _ = self.process.exited() => self.exited = Some(Instant::now()),
            }
        }
    }

    async fn arrival(&mut self, line: PipeLine) -> Arrival {
        match line {
            PipeLine::Complete(line) => Arrival::Message(line),
            PipeLine::Oversized(head) => Arrival::Oversized(head),
            PipeLine::Unfinished(rest) => Arrival::Torn(rest),
            PipeLine::End => self.gone().await,
        }
    }

    /// The output has ended: say how, with the exit status if there is one in a moment.
    async fn gone(&mut self) -> Arrival {
        match timeout(AFTER_EXIT, self.process.exited()).await {
            Ok(end) => {
                self.process.stderr_settled().await;
                Arrival::Closed { what: format!("the server {end}"), end: Some(end) }
            }
            Err(_) => Arrival::Closed { what: "the server closed its output but kept running".to_owned(), end: None },
        }
    }

    pub(super) async fn close(mut self, limits: &Limits) -> Ended {
        self.pipe.close_writer();
        let mut late = Vec::new();
        let mut non_protocol = 0;
        // Reading on matters: a server that is blocked on a full pipe would not see that its input is closed.
        let pipe = &mut self.pipe;
        let drain = async {
            loop {
                match pipe.receive().await {
                    PipeLine::Complete(line) if late.len() < LATE => late.push(Arrival::Message(line)),
                    // Many messages must not hide that there is something else on the output.
                    PipeLine::Complete(line) if non_protocol < LATE && !line.trim_ascii_start().starts_with(b"{") => {
                        non_protocol += 1;
                        late.push(Arrival::Message(line));
                    }
                    PipeLine::Complete(_) | PipeLine::Oversized(_) => {}
                    // The end of the output is not yet the end of the process.
                    PipeLine::Unfinished(_) | PipeLine::End => return std::future::pending().await,
                }
            }
        };
        let by_itself = timeout(limits.exit_grace, async {
            tokio::select! {
                biased;
                () = drain => {}
                _ = self.process.exited() => {}
            }
        })
        .await
        .is_ok();
        drop(self.pipe);
        let (end, stderr) = self.process.finish(limits.exit_grace).await;
        Ended { late, end: Some(end), by_itself, stderr }
    }
}
