//! Bodies of HTTP responses: empty, a string, or events as they come.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::message_sink::{Outbox, OutgoingMessage};
use crate::mutation::Mutant;

/// The content of a response.
pub(super) enum Body {
    /// All of it at once; empty when there is none.
    Whole(Bytes),
    /// Events, each with a message.
    Events(Events),
}

/// A stream of events.
pub(super) struct Events {
    /// A message that came before it was known that there would be a stream.
    pub(super) first: Option<OutgoingMessage>,
    pub(super) messages: Option<Outbox>,
    /// Effect of a disconnection of the client.
    pub(super) leaving: Leaving,
    /// Changes to outgoing messages.
    pub(super) mutant: Mutant,
    /// Messages that are ready to go out.
    pub(super) ready: VecDeque<Value>,
}

/// Effect of a disconnection of the client.
pub(super) enum Leaving {
    /// Its request is cancelled (2026-07-28, "Cancellation").
    Cancel(#[expect(dead_code, reason = "it cancels when it is dropped")] CancelOnDrop),
    /// Nothing: until 2025-11-25 a disconnection does not cancel anything.
    Stay,
    /// The messages wait for the next stream.
    GiveBack(Arc<Mutex<Option<Outbox>>>),
}

/// Task that is aborted when the last owner drops this.
pub(super) struct CancelOnDrop(pub(super) JoinHandle<()>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Leaving::GiveBack(place) = &self.leaving {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = self.messages.take();
        }
    }
}

impl Events {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Poll::Ready(Some(event(&message, self.mutant.event_id())));
            }
            let next = match (self.first.take(), &mut self.messages) {
                (Some(first), _) => Some(first),
                (None, Some(messages)) => match messages.poll_recv(context) {
                    Poll::Ready(next) => next,
                    Poll::Pending => return Poll::Pending,
                },
                (None, None) => None,
            };
            match next {
                Some(out) => self.ready.extend(self.mutant.outward(out.into_message(), 1)),
                None if self.mutant.keeps_streams_open() => return Poll::Pending,
                None => return Poll::Ready(None),
            }
        }
    }
}

/// A message as an event.
pub(super) fn event(message: &Value, id: Option<&str>) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    // JSON has no line breaks of its own, so that one line holds it.
    Bytes::from(format!("event: message\n{id}data: {message}\n\n"))
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Events(events) => events.poll(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
            Self::Events(_) => SizeHint::default(),
        }
    }
}
