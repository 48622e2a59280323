//! Bodies of answers: bytes, or events as they happen.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};

use super::hub::Listener;

/// The body of an answer.
pub(super) enum Reply {
    /// Bytes, once.
    Whole(Option<Bytes>),
    /// Server-sent events, until the client disconnects.
    Events(Listener),
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Events(events) => events.poll_next(context).map(|bytes| Some(Ok(Frame::data(bytes)))),
        }
    }
}
