//! The ways to reach a server. Each turns what arrives into [`Arrival`]s and knows nothing of the protocol above.

mod memory;
mod stdio;

use bytes::Bytes;
use mcprove_model::ProcessEnd;

pub use memory::Peer;

use crate::{Limits, Program, SpawnError};

/// An open way to a server.
#[derive(Debug)]
pub enum Transport {
    /// A process and its pipes.
    Stdio(Box<stdio::Stdio>),
    /// A peer in this process.
    Memory(memory::Memory),
}

/// What arrived.
#[derive(Debug)]
pub enum Arrival {
    /// A message, or what stands in its place.
    Message(Bytes),
    /// A message longer than the limit: its beginning.
    Oversized(Bytes),
    /// The stream ended in the middle of this message.
    Torn(Bytes),
    /// The server is gone.
    Closed {
        /// What went away and how.
        what: String,
        /// How the process ended, when there is one and it has.
        end: Option<ProcessEnd>,
    },
}

/// How a transport ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// Messages that still arrived while it was closing.
    pub late: Vec<Bytes>,
    /// How the process ended, when there was one.
    pub end: Option<ProcessEnd>,
    /// The end of its standard error.
    pub stderr: String,
}

impl Transport {
    /// Starts a process and speaks over its standard input and output.
    pub fn stdio(program: &Program, limits: &Limits) -> Result<Self, SpawnError> {
        Ok(Self::Stdio(Box::new(stdio::Stdio::start(program, limits)?)))
    }

    /// A transport to a peer in this process, and the peer's side.
    pub fn memory(limits: &Limits) -> (Self, Peer) {
        let (near, far) = memory::Memory::pair(limits);
        (Self::Memory(near), far)
    }

    /// Its name in the file format.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Memory(_) => "memory",
        }
    }

    /// Queues a message; it goes out while arrivals are awaited.
    pub fn send(&mut self, message: &Bytes) {
        match self {
            Self::Stdio(stdio) => stdio.send(message),
            Self::Memory(memory) => memory.send(message),
        }
    }

    /// Queues bytes exactly as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        match self {
            Self::Stdio(stdio) => stdio.send_raw(bytes),
            Self::Memory(memory) => memory.send_raw(bytes),
        }
    }

    /// Whether everything queued has gone out.
    pub fn is_flushed(&self) -> bool {
        match self {
            Self::Stdio(stdio) => stdio.is_flushed(),
            Self::Memory(memory) => memory.is_flushed(),
        }
    }

    /// The next arrival. Safe to cancel.
    pub async fn receive(&mut self) -> Arrival {
        match self {
            Self::Stdio(stdio) => stdio.receive().await,
            Self::Memory(memory) => memory.receive().await,
        }
    }

    /// What the server wrote to its standard error so far.
    pub fn stderr(&self) -> String {
        match self {
            Self::Stdio(stdio) => stdio.stderr(),
            Self::Memory(_) => String::new(),
        }
    }

    /// Ends the connection and, with it, the process.
    pub async fn close(self, limits: &Limits) -> Ended {
        match self {
            Self::Stdio(stdio) => stdio.close(limits).await,
            Self::Memory(memory) => memory.close().await,
        }
    }
}
