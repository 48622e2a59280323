//! Destination of a mock's messages: a pipe, or the stream of one HTTP exchange.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use mcprove_model::bounded_json;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use crate::rpc::Layer;

/// A message on its way out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OutgoingMessage {
    /// The answer to the request that opened the way, and what went wrong with it, if anything.
    Reply { message: Value, wrong: Option<Layer> },
    /// A notification, or a request of the server.
    Other(Value),
}

impl OutgoingMessage {
    pub(crate) fn into_message(self) -> Value {
        match self {
            Self::Reply { message, .. } | Self::Other(message) => message,
        }
    }
}

/// Memory of messages that wait to be taken; more requests are read when there are fewer.
const WAITING: usize = 16 << 20;
/// The same, beyond which messages that answer nothing are dropped: there is no listener.
const UNHEARD: usize = 64 << 20;

/// A way out. It ends when every clone is gone.
#[derive(Clone, Debug)]
pub(crate) struct MessageSink {
    sender: mpsc::UnboundedSender<(OutgoingMessage, usize)>,
    waiting: Arc<Waiting>,
}

/// The other end of a way out.
#[derive(Debug)]
pub(crate) struct Outbox {
    receiver: mpsc::UnboundedReceiver<(OutgoingMessage, usize)>,
    waiting: Arc<Waiting>,
}

/// Memory of the messages that were not taken yet.
#[derive(Debug, Default)]
struct Waiting {
    memory: AtomicUsize,
    taken: Notify,
}

impl MessageSink {
    pub(crate) fn new() -> (Self, Outbox) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let waiting = Arc::<Waiting>::default();
        (Self { sender, waiting: Arc::clone(&waiting) }, Outbox { receiver, waiting })
    }

    /// Sends a message; it is dropped if the receiver is gone.
    pub(crate) fn send(&self, out: OutgoingMessage) {
        let (OutgoingMessage::Reply { message, .. } | OutgoingMessage::Other(message)) = &out;
        let memory = bounded_json::memory_of(message);
        let before = self.waiting.memory.fetch_add(memory, Ordering::Relaxed);
        let is_unheard = before > UNHEARD && matches!(out, OutgoingMessage::Other(_));
        if is_unheard || self.sender.send((out, memory)).is_err() {
            self.waiting.memory.fetch_sub(memory, Ordering::Relaxed);
        }
    }

    /// Waits until the other side has taken most of what was sent.
    pub(crate) async fn has_room(&self) {
        loop {
            let taken = self.waiting.taken.notified();
            if self.waiting.memory.load(Ordering::Relaxed) <= WAITING || self.sender.is_closed() {
                return;
            }
            taken.await;
        }
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if !params.is_null() {
            message["params"] = params.clone();
        }
        self.send(OutgoingMessage::Other(message));
    }
}

impl Outbox {
    /// The next message; `None` when every sender is gone.
    pub(crate) async fn recv(&mut self) -> Option<OutgoingMessage> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    pub(crate) fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        self.receiver.poll_recv(context).map(|next| {
            let (out, memory) = next?;
            self.waiting.memory.fetch_sub(memory, Ordering::Relaxed);
            self.waiting.taken.notify_one();
            Some(out)
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.receiver.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_nobody_takes_is_bounded() {
        let (sink, mut outbox) = MessageSink::new();
        sink.has_room().await;
        let long = json!("x".repeat(1 << 20));
        (0..200).for_each(|_| sink.notify("x", &long));
        sink.send(OutgoingMessage::Reply { message: long, wrong: None });
        assert!(futures_now(sink.has_room()).is_none());
        let mut others = 0;
        while let Some(Some(out)) = futures_now(outbox.recv()) {
            others += usize::from(matches!(out, OutgoingMessage::Other(_)));
        }
        // Answers are never dropped.
        assert_eq!(others, 64);
        assert!(outbox.is_empty());
        sink.has_room().await;
    }

    /// The value of a future that is ready.
    fn futures_now<T>(future: impl Future<Output = T>) -> Option<T> {
        let mut future = std::pin::pin!(future);
        match future.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())) {
            Poll::Ready(ready) => Some(ready),
            Poll::Pending => None,
        }
    }
}
