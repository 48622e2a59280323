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
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;

pub use http::{HttpRelay, Upstream};
pub use readable::pass_readable;
pub use stdio::{ClientEnds, Order, RelayEnd, Why, relay_lines, relay_stdio};

/// Capacity of the queue of observed messages; when it is full, the conversation waits.
const BACKLOG: usize = 256;
/// KiB of messages in the queue; a longer message waits until it is empty.
const BACKLOG_KIB: u32 = 16 << 10;

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
    /// Room in the queue, in KiB.
    room: Arc<Semaphore>,
    /// Held while messages are queued, so that the parts of a request stay together.
    order: Arc<Mutex<()>>,
    began: Instant,
    /// True if secrets in headers are shown: those of a test are made up.
    reveals: bool,
}

impl Tap {
    /// A tap and the receiver of its messages.
    pub fn pair() -> (Self, TappedMessages) {
        let (listener, messages) = mpsc::channel(BACKLOG);
        let room = Arc::new(Semaphore::new(BACKLOG_KIB as usize));
        let messages = TappedMessages { messages, room: Arc::clone(&room) };
        (Self { listener, room, order: Arc::default(), began: Instant::now(), reveals: false }, messages)
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
        let size = parts.iter().map(|(_, body)| kib(body)).sum::<u32>().min(BACKLOG_KIB);
        let Ok(room) = self.room.acquire_many(size).await else { return };
        room.forget();
        let Ok(places) = self.listener.reserve_many(N).await else { return };
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let at_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        for (place, (part, body)) in places.zip(parts) {
            place.send(TappedMessage { at_us, session, direction, part, body });
        }
    }
}

/// Receiver of observed messages.
#[derive(Debug)]
pub struct TappedMessages {
    messages: mpsc::Receiver<TappedMessage>,
    room: Arc<Semaphore>,
}

impl TappedMessages {
    /// The next message; `None` when the conversation is over.
    pub async fn recv(&mut self) -> Option<TappedMessage> {
        let message = self.messages.recv().await?;
        // Of parts that were too large together, less was taken; there is never more room than in the beginning.
        let room = BACKLOG_KIB as usize - self.room.available_permits().min(BACKLOG_KIB as usize);
        self.room.add_permits(room.min(kib(&message.body) as usize));
        Some(message)
    }
}

impl Drop for TappedMessages {
    fn drop(&mut self) {
        // Senders that wait for room go on.
        self.room.close();
    }
}

/// The size of a message in the queue.
fn kib(body: &Bytes) -> u32 {
    u32::try_from(body.len() >> 10).unwrap_or(u32::MAX).saturating_add(1).min(BACKLOG_KIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn long_messages_wait_for_room_and_none_waits_for_ever() {
        let (tap, mut messages) = Tap::pair();
        let long = Bytes::from(vec![b'x'; 20 << 20]);
        let sending = tokio::spawn(async move {
            for _ in 0..50 {
                let parts = [(WirePart::Closed, Bytes::new()), (WirePart::Message, long.clone())];
                tap.observe_all(0, Direction::Sent, parts).await;
            }
            tap
        });
        tokio::task::yield_now().await;
        assert_eq!(messages.messages.len(), 2, "the others wait");
        for _ in 0..40 {
            messages.recv().await.expect("a message");
            assert!(messages.messages.len() <= 4);
        }
        drop(messages);
        sending.await.expect("it goes on without a receiver");
    }
}
