//! A relay between a client and a server: every byte is forwarded unchanged, and the messages are observed.
//!
//! Messages are queued for the observer before they are forwarded, so that requests are observed before their replies.

mod gate;
mod http;
pub(crate) mod http_cut;
mod http_tap;
mod line_cutter;
mod pump;
mod readable;
mod stdio;

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use mcprove_model::{Direction, WirePart};
use tokio::sync::mpsc;
use tokio::time::Instant;

pub use http::{HttpRelay, Upstream};
pub use readable::pass_readable;
pub use stdio::{ClientEnds, Order, RelayEnd, Why, relay_lines, relay_stdio};

/// Capacity of the queue of observed messages; when it is full, the conversation waits.
const BACKLOG: usize = 256;

/// An observed message.
#[derive(Clone, Debug, PartialEq)]
pub struct TappedMessage {
    /// Microseconds since the relay began.
    pub at_us: u64,
    /// Number of the conversation with the server, from 0.
    pub session: u32,
    /// The direction: messages of the client are sent.
    pub direction: Direction,
    /// Kind of the message.
    pub part: WirePart,
    /// The bytes, without the line break that ended them.
    pub body: Bytes,
}

/// Sender of observed messages.
#[derive(Clone, Debug)]
pub struct Tap {
    listener: mpsc::Sender<TappedMessage>,
    /// Held while messages are queued, so that the parts of a request stay together.
    order: Arc<Mutex<()>>,
    began: Instant,
    /// True if secrets in headers are shown: those of a test are made up.
    reveals: bool,
}

impl Tap {
    /// A tap and the receiver of its messages.
    pub fn pair() -> (Self, mpsc::Receiver<TappedMessage>) {
        let (listener, messages) = mpsc::channel(BACKLOG);
        (Self { listener, order: Arc::default(), began: Instant::now(), reveals: false }, messages)
    }

    /// A tap that began at another time, and shows headers as they are.
    #[must_use]
    pub fn revealing_since(self, began: Instant) -> Self {
        Self { began, reveals: true, ..self }
    }

    async fn observe(&self, session: u32, direction: Direction, part: WirePart, body: Bytes) {
        self.observe_all(session, direction, [(part, body)]).await;
    }

    /// Observes parts that belong together: at the same time, and with nothing in between.
    async fn observe_all<const N: usize>(&self, session: u32, direction: Direction, parts: [(WirePart, Bytes); N]) {
        // The receiver may be gone when enough was observed; the conversation goes on.
        let Ok(places) = self.listener.reserve_many(N).await else { return };
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let at_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        for (place, (part, body)) in places.zip(parts) {
            place.send(TappedMessage { at_us, session, direction, part, body });
        }
    }
}
