//! A peer in this process: the same framing as stdio, without a process.

use bytes::Bytes;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

use super::{Arrival, Ended};
use crate::Limits;
use crate::line_pipe::{LinePipe, PipeLine};

/// Capacity of each direction.
const BUFFER: usize = 64 << 10;

/// Our side of an in-memory connection.
#[derive(Debug)]
pub struct Memory {
    pipe: LinePipe<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>,
}

/// The server's side of an in-memory connection: a byte stream, as a process has it.
#[derive(Debug)]
pub struct Peer {
    /// Messages of the client can be read here; messages written here reach the client.
    pub stream: DuplexStream,
}

impl Memory {
    pub(super) fn pair(limits: &Limits) -> (Self, Peer) {
        let (near, far) = tokio::io::duplex(BUFFER);
        let (reader, writer) = tokio::io::split(near);
        (Self { pipe: LinePipe::new(reader, writer, limits.message_bytes) }, Peer { stream: far })
    }

    pub(super) fn send(&mut self, message: &Bytes) {
        self.pipe.send(message);
    }

    pub(super) fn send_raw(&mut self, bytes: &[u8]) {
        self.pipe.send_raw(bytes);
    }

    pub(super) fn unfinished(&self) -> Option<Bytes> {
        self.pipe.unfinished()
    }

    pub(super) fn is_flushed(&self) -> bool {
        self.pipe.is_flushed()
    }

    pub(super) async fn receive(&mut self) -> Arrival {
        match self.pipe.receive().await {
            PipeLine::Complete(line) => Arrival::Message(line),
            PipeLine::Oversized(head) => Arrival::Oversized(head),
            PipeLine::Unfinished(rest) => Arrival::Torn(rest),
            PipeLine::End => Arrival::Closed { what: "the peer closed the connection".to_owned(), end: None },
        }
    }

    #[expect(clippy::unused_async, reason = "every transport closes the same way")]
    pub(super) async fn close(self) -> Ended {
        Ended::default()
    }
}
