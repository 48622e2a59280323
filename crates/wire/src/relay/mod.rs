//! Standing between a client and a server: every byte goes on as it came, and what it meant is overheard.
//!
//! Whoever listens hears of bytes after they were passed on, so that listening costs the conversation nothing.

mod gate;
mod http;
mod http_cut;
mod http_ear;
mod line_cutter;
mod pump;
mod readable;
mod stdio;

use std::time::Instant;

use bytes::Bytes;
use mcprove_model::{Direction, Part};
use tokio::sync::mpsc;

pub use http::{HttpRelay, Upstream};
pub use readable::pass_readable;
pub use stdio::{ClientEnds, Order, RelayEnd, Why, relay_stdio};

/// How much may wait to be listened to; beyond it, the conversation waits.
const BACKLOG: usize = 256;

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
pub struct Overheard {
    /// Microseconds since the relay began.
    pub at_us: u64,
    /// Which conversation with the server, from 0.
    pub session: u32,
    /// Who said it: the client sends.
    pub direction: Direction,
    /// What part of the conversation it is.
    pub part: Part,
    /// The bytes, without the line break that ended them.
    pub body: Bytes,
}

/// The side that says what passed.
#[derive(Clone, Debug)]
pub struct Ear {
    listener: mpsc::Sender<Overheard>,
    began: Instant,
}

impl Ear {
    /// An ear, and what it hears.
    pub fn pair() -> (Self, mpsc::Receiver<Overheard>) {
        let (listener, heard) = mpsc::channel(BACKLOG);
        (Self { listener, began: Instant::now() }, heard)
    }

    async fn hear(&self, session: u32, direction: Direction, part: Part, body: Bytes) {
        let at_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        // Nobody listens any more when the one who asked has seen enough; the conversation goes on.
        let _ = self.listener.send(Overheard { at_us, session, direction, part, body }).await;
    }
}
