//! A server process for those who need the bytes and the end of the process themselves: nothing is classified, answered or
//! closed unasked.

use std::time::Duration;

use bytes::Bytes;
use mcprove_model::ProcessEnd;
use tokio::io::DuplexStream;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

use crate::line_pipe::{LinePipe, PipeLine};
use crate::process::Process;
use crate::process_group::Ending;
use crate::{Limits, Program, SpawnError};

/// Capacity of each direction of an in-memory pipe.
const BUFFER: usize = 64 << 10;
/// Time for the children of an exited server to exit.
const CHILDREN: Duration = Duration::from_millis(300);

/// Lines to and from a server, and its process.
#[derive(Debug)]
pub struct RawPipe {
    lines: Lines,
    process: Option<Process>,
}

#[derive(Debug)]
enum Lines {
    Process(LinePipe<ChildStdout, ChildStdin>),
    Memory(LinePipe<DuplexStream, DuplexStream>),
}

/// Item read from a pipe.
#[derive(Debug, PartialEq, Eq)]
pub enum RawLine {
    /// A line without its line break; what is longer than the limit is cut.
    Line(Bytes),
    /// The server closed its output.
    Closed,
}

/// Steps of ending a server.
#[derive(Debug)]
pub enum RawEnding {
    /// It still says something.
    Line(RawLine),
    /// Its process ended.
    Exited(ProcessEnd),
}

impl RawPipe {
    /// Starts a process.
    pub fn start(program: &Program, limits: &Limits) -> Result<Self, SpawnError> {
        let (process, pipes) = Process::start(program, limits.stderr_bytes)?;
        let lines = Lines::Process(LinePipe::new(pipes.stdout, pipes.stdin, limits.message_bytes));
        Ok(Self { lines, process: Some(process) })
    }

    /// A pipe in this process, and the server's reader and writer.
    pub fn memory(limits: &Limits) -> (Self, DuplexStream, DuplexStream) {
        let (to_server, server_reads) = tokio::io::duplex(BUFFER);
        let (server_writes, from_server) = tokio::io::duplex(BUFFER);
        let lines = Lines::Memory(LinePipe::new(from_server, to_server, limits.message_bytes));
        (Self { lines, process: None }, server_reads, server_writes)
    }

    /// True if the server is a process.
    pub fn is_process(&self) -> bool {
        self.process.is_some()
    }

    /// Queues bytes exactly as they are; [`RawPipe::receive`] writes them.
    pub fn send(&mut self, bytes: &[u8]) {
        match &mut self.lines {
            Lines::Process(pipe) => pipe.send_raw(bytes),
            Lines::Memory(pipe) => pipe.send_raw(bytes),
        }
    }

    /// True if everything queued was written.
    pub fn is_flushed(&self) -> bool {
        match &self.lines {
            Lines::Process(pipe) => pipe.is_flushed(),
            Lines::Memory(pipe) => pipe.is_flushed(),
        }
    }

    /// The next line. Safe to cancel.
    pub async fn receive(&mut self) -> RawLine {
        let line = match &mut self.lines {
            Lines::Process(pipe) => pipe.receive().await,
            Lines::Memory(pipe) => pipe.receive().await,
        };
        match line {
            PipeLine::Complete(line) | PipeLine::Unfinished(line) | PipeLine::Oversized(line) => RawLine::Line(line),
            PipeLine::End => RawLine::Closed,
        }
    }

    /// Closes the server's input.
    pub fn close_input(&mut self) {
        match &mut self.lines {
            Lines::Process(pipe) => pipe.close_writer(),
            Lines::Memory(pipe) => pipe.close_writer(),
        }
    }

    /// The next line while the server is ending, or the end of its process. Safe to cancel.
    pub async fn ending(&mut self, is_open: bool) -> RawEnding {
        let lines = &mut self.lines;
        let line = async {
            match lines {
                Lines::Process(pipe) => pipe.receive().await,
                Lines::Memory(pipe) => pipe.receive().await,
            }
        };
        let process = &mut self.process;
        let exited = async {
            match process {
                Some(process) => process.exited().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            line = line, if is_open => RawEnding::Line(match line {
                PipeLine::Complete(line) | PipeLine::Unfinished(line) | PipeLine::Oversized(line) => RawLine::Line(line),
                PipeLine::End => RawLine::Closed,
            }),
            end = exited => RawEnding::Exited(end),
        }
    }

    /// Sends SIGTERM to the process group.
    pub fn terminate(&self) {
        if let Some(process) = &self.process {
            process.end_group(Ending::Asked);
        }
    }

    /// True if processes of the group are still alive a moment after the server has exited.
    pub async fn has_leftovers(&self) -> bool {
        let Some(process) = &self.process else { return false };
        let gone = timeout(CHILDREN, async {
            while process.group_lives() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        gone.await.is_err()
    }

    /// The end of the server's standard error.
    pub fn stderr(&self) -> String {
        self.process.as_ref().map(|process| process.stderr().text()).unwrap_or_default()
    }

    /// Ends what is left of the process and its group.
    pub async fn finish(self, grace: Duration) {
        if let Some(process) = self.process {
            drop(self.lines);
            process.finish(grace).await;
        }
    }
}
