//! A connection whose request is already out: hyper reads the response from it, beginning with the bytes that were read
//! before, and what it writes is the request again, which is dropped.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::{Buf as _, Bytes};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWrite as _;
use tokio::net::TcpStream;

/// A connection whose request is already out.
#[derive(Debug)]
pub(super) struct Replay {
    stream: TokioIo<TcpStream>,
    /// Bytes of the response that were read before.
    read: Bytes,
    /// The rest of the request.
    unwritten: Bytes,
    /// The error that came after them.
    error: Option<io::Error>,
    /// True once hyper has written the request: a response before it would be an error.
    is_asked: bool,
    reader: Option<Waker>,
}

impl Replay {
    pub(super) fn new(stream: TcpStream, read: Bytes, unwritten: Bytes, error: Option<io::Error>) -> Self {
        Self { stream: TokioIo::new(stream), read, unwritten, error, is_asked: false, reader: None }
    }

    /// Writes the rest of the request, as far as that is possible.
    fn poll_unwritten(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.unwritten.is_empty() {
            match Pin::new(self.stream.inner_mut()).poll_write(cx, &self.unwritten) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(written)) if written > 0 => self.unwritten.advance(written),
                Poll::Ready(_) => self.unwritten.clear(),
            }
        }
        Poll::Ready(())
    }
}

impl Read for Replay {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let replay = self.get_mut();
        if !replay.is_asked {
            replay.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if !replay.read.is_empty() {
            let count = replay.read.len().min(buffer.remaining());
            buffer.put_slice(&replay.read.split_to(count));
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = replay.error.take() {
            return Poll::Ready(Err(error));
        }
        Pin::new(&mut replay.stream).poll_read(cx, buffer)
    }
}

impl Write for Replay {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let replay = self.get_mut();
        replay.is_asked = true;
        if let Some(reader) = replay.reader.take() {
            reader.wake();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_unwritten(cx).map(Ok)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
