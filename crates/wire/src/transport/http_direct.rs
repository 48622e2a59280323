//! The usual exchange of a session: a POST that is answered with one JSON message.
//!
//! The session drives the connections of such exchanges itself, without a task or a channel, and with a head that is made
//! once. Whatever else comes back is handed over to hyper, with the bytes that were read ([`Replay`]), and this way is
//! not taken again in the session.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use hyper::Uri;
use mcprove_model::{Direction, WirePart};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::Arrival;
use super::http_client::HttpClient;
use super::http_direct_head::{DirectHead, ResponseHead, Unusual, read_head, usual_length};
use super::http_replay::Replay;

/// Number of usual responses after which this way is taken: sessions of a few requests use the connections of the pool.
const USUAL: u32 = 3;
/// Maximum number of concurrent exchanges; every one is looked at when something comes.
const CONCURRENT: usize = 64;
/// Maximum size of a request: it fits into the buffers of the system, so that writing does not wait for the server.
const REQUEST: usize = 16 << 10;
/// Size of the buffer of a connection.
const BUFFER: usize = 16 << 10;

/// The direct exchanges of a session.
#[derive(Debug)]
pub(super) struct DirectExchanges {
    uri: Uri,
    /// Usual responses so far; `None` once there was another one.
    usual: Option<u32>,
    limit: usize,
    connecting: Vec<Connecting>,
    active: Vec<DirectExchange>,
    idle: Vec<Connection>,
    arrivals: VecDeque<Arrival>,
    /// The request that is written.
    out: Vec<u8>,
    /// The head of the last response; most are the same.
    known: Option<ResponseHead>,
}

/// A request that is to be sent.
#[derive(Debug)]
pub(super) struct DirectRequest {
    pub(super) id: u64,
    /// Number of the exchange in the session.
    pub(super) number: u64,
    pub(super) body: Bytes,
    /// Headers of this request alone.
    pub(super) headers: Vec<(String, String)>,
}

/// An exchange that needs more than the usual: without a connection it is yet to be sent.
#[derive(Debug)]
pub(super) struct Handover {
    pub(super) request: DirectRequest,
    pub(super) replay: Option<Replay>,
}

/// An exchange that waits for its connection.
#[derive(Debug)]
struct Connecting {
    request: DirectRequest,
    head: DirectHead,
    task: JoinHandle<Option<TcpStream>>,
}

/// An exchange on its connection.
#[derive(Debug)]
struct DirectExchange {
    request: DirectRequest,
    connection: Connection,
    /// The rest of the request that could not be written at once.
    unwritten: Bytes,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Bytes of the buffer that have been read.
    filled: usize,
}

/// Progress of an exchange.
enum Progress {
    Pending,
    /// Its answer is there; true if the connection can be used again.
    Done(bool),
    /// It needs more than the usual; the error that the connection ended with, if it did.
    Unusual(Option<io::Error>),
}

impl DirectExchanges {
    /// No exchanges yet.
    pub(super) fn new(url: &str, client: &HttpClient, limit: usize) -> Self {
        let uri: Uri = url.parse().unwrap_or_default();
        let is_plain = uri.scheme_str() == Some("http") && uri.authority().is_some();
        Self {
            usual: (is_plain && client.is_plain()).then_some(0),
            uri,
            limit,
            connecting: Vec::new(),
            active: Vec::new(),
            idle: Vec::new(),
            arrivals: VecDeque::new(),
            out: Vec::new(),
            known: None,
        }
    }

    /// Learns from a response to another exchange. A stream of the server's own ends this way: its messages must not be
    /// overtaken by replies.
    pub(super) fn observe(&mut self, part: &WirePart) {
        let WirePart::HttpResponse { status: 200, headers, .. } = part else { return };
        let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let is_usual = usual_length(headers).is_some();
        self.usual = self.usual.filter(|_| is_usual).map(|usual| usual.saturating_add(1));
    }

    /// True if a request can be sent this way.
    pub(super) fn takes(&self, body: &Bytes) -> bool {
        self.usual.is_some_and(|usual| usual >= USUAL)
            && self.active.len() + self.connecting.len() < CONCURRENT
            && body.len() <= REQUEST
    }

    /// True if nothing is on its way, and there is a connection.
    pub(super) fn is_ready(&self) -> bool {
        self.usual.is_some_and(|usual| usual >= USUAL)
            && self.active.is_empty()
            && self.connecting.is_empty()
            && !self.idle.is_empty()
    }

    /// Sends a request, as far as that is possible without waiting.
    pub(super) fn begin(&mut self, request: DirectRequest, head: &DirectHead, client: &HttpClient) {
        let unsent = match self.idle_connection() {
            Some(connection) => self.write(request, head, connection),
            None => Err(request),
        };
        if let Err(request) = unsent {
            let task = tokio::spawn(client.connect(self.uri.clone()));
            self.connecting.push(Connecting { request, head: head.clone(), task });
        }
    }

    /// Gives up an exchange.
    pub(super) fn abandon(&mut self, id: u64) {
        self.connecting.retain(|exchange| exchange.request.id != id);
        self.active.retain(|exchange| exchange.request.id != id);
    }

    /// The next arrival that is there.
    pub(super) fn next_arrival(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    /// Moves the exchanges on; ready with an exchange that needs more, or with nothing when there are arrivals.
    pub(super) fn poll(&mut self, session_id: Option<&str>, cx: &mut Context<'_>) -> Poll<Option<Handover>> {
        for at in 0..self.connecting.len() {
            let Poll::Ready(connected) = Pin::new(&mut self.connecting[at].task).poll(cx) else { continue };
            let Connecting { request, head, .. } = self.connecting.swap_remove(at);
            let unsent = match connected {
                Ok(Some(stream)) => {
                    self.write(request, &head, Connection { stream, buffer: vec![0; BUFFER], filled: 0 })
                }
                Ok(None) | Err(_) => Err(request),
            };
            // An exchange of the pool explains why there is no connection.
            return Poll::Ready(unsent.err().map(|request| Handover { request, replay: None }));
        }
        for at in 0..self.active.len() {
            match self.advance(at, session_id, cx) {
                Progress::Pending => {}
                Progress::Done(is_reusable) => {
                    let DirectExchange { mut connection, .. } = self.active.swap_remove(at);
                    if is_reusable {
                        connection.filled = 0;
                        connection.buffer.truncate(BUFFER);
                        connection.buffer.shrink_to(BUFFER);
                        self.idle.push(connection);
                    }
                    return Poll::Ready(None);
                }
                Progress::Unusual(error) => {
                    self.usual = None;
                    return Poll::Ready(Some(self.active.swap_remove(at).into_handover(error)));
                }
            }
        }
        Poll::Pending
    }

    /// All open exchanges, for others to end them.
    pub(super) fn hand_over_all(&mut self) -> Vec<Handover> {
        self.usual = None;
        let unsent = self.connecting.drain(..).map(|exchange| Handover { request: exchange.request, replay: None });
        let sent = self.active.drain(..).map(|exchange| exchange.into_handover(None));
        unsent.chain(sent).collect()
    }

    /// A connection that the server has not closed, as far as is known.
    fn idle_connection(&mut self) -> Option<Connection> {
        while let Some(mut connection) = self.idle.pop() {
            // Data on an idle connection is the end of it, whatever it is.
            if connection.poll_read(&mut Context::from_waker(Waker::noop())).is_pending() {
                return Some(connection);
            }
        }
        None
    }

    /// Writes a request, or as much of it as is possible at once; it comes back where the connection cannot be used.
    fn write(
        &mut self,
        request: DirectRequest,
        head: &DirectHead,
        mut connection: Connection,
    ) -> Result<(), DirectRequest> {
        self.out.clear();
        self.out.extend_from_slice(&head.bytes);
        self.out.extend_from_slice(request.body.len().to_string().as_bytes());
        self.out.extend_from_slice(b"\r\n\r\n");
        self.out.extend_from_slice(&request.body);
        let noop = &mut Context::from_waker(Waker::noop());
        let written = match Pin::new(&mut connection.stream).poll_write(noop, &self.out) {
            Poll::Ready(Ok(written)) => written,
            Poll::Ready(Err(_)) => return Err(request),
            Poll::Pending => 0,
        };
        let part = WirePart::HttpRequest {
            exchange: request.number,
            method: "POST".to_owned(),
            url: head.url.clone(),
            headers: head.shown.clone(),
        };
        self.arrivals.push_back(Arrival::Part { direction: Direction::Sent, part, body: Bytes::new() });
        let unwritten = Bytes::copy_from_slice(&self.out[written..]);
        self.active.push(DirectExchange { request, connection, unwritten });
        Ok(())
    }

    fn advance(&mut self, at: usize, session_id: Option<&str>, cx: &mut Context<'_>) -> Progress {
        let DirectExchange { request, connection, unwritten } = &mut self.active[at];
        while !unwritten.is_empty() {
            match Pin::new(&mut connection.stream).poll_write(cx, unwritten) {
                Poll::Pending => return Progress::Pending,
                Poll::Ready(Ok(written)) if written > 0 => drop(unwritten.split_to(written)),
                // The server may have answered before it closed the connection; reading shows it.
                Poll::Ready(_) => unwritten.clear(),
            }
        }
        loop {
            match connection.poll_read(cx) {
                Poll::Pending => return Progress::Pending,
                Poll::Ready(Err(error)) => return Progress::Unusual(Some(error)),
                Poll::Ready(Ok(0)) => return Progress::Unusual(None),
                Poll::Ready(Ok(_)) => {}
            }
            let read = &connection.buffer[..connection.filled];
            let known = self.known.as_ref().filter(|known| read.starts_with(&known.bytes));
            let head = match known {
                Some(head) => head,
                None => match read_head(read, session_id) {
                    Ok(Some(head)) if head.length <= self.limit => self.known.insert(head),
                    Ok(None) if connection.filled < BUFFER => continue,
                    Ok(_) | Err(Unusual) => return Progress::Unusual(None),
                },
            };
            let end = head.bytes.len() + head.length;
            if read.len() < end {
                let size = connection.buffer.len().max(end);
                connection.buffer.resize(size, 0);
                continue;
            }
            let message = &read[head.bytes.len()..end];
            // A body without a message is explained like every other refusal.
            if message.trim_ascii().is_empty() {
                return Progress::Unusual(None);
            }
            let headers = head.shown.clone();
            let part = WirePart::HttpResponse { exchange: request.number, status: 200, headers };
            self.arrivals.push_back(Arrival::Part { direction: Direction::Received, part, body: Bytes::new() });
            let message = Bytes::copy_from_slice(message);
            self.arrivals.push_back(Arrival::Answer { request: request.id, message, status: 200, last: true });
            // More than the response is the end of the connection.
            return Progress::Done(read.len() == end);
        }
    }
}

impl DirectExchange {
    fn into_handover(self, error: Option<io::Error>) -> Handover {
        let Connection { stream, buffer, filled } = self.connection;
        let replay = Replay::new(stream, Bytes::copy_from_slice(&buffer[..filled]), self.unwritten, error);
        Handover { request: self.request, replay: Some(replay) }
    }
}

impl Connection {
    /// Reads what is there into the rest of the buffer; the number of bytes.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut rest = ReadBuf::new(&mut self.buffer[self.filled..]);
        match Pin::new(&mut self.stream).poll_read(cx, &mut rest) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) => {
                let read = rest.filled().len();
                self.filled += read;
                Poll::Ready(Ok(read))
            }
        }
    }
}
