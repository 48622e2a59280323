//! Observation of HTTP connections: heads, bodies and events, assigned to the session they belong to.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mcprove_model::{Direction, WirePart};

use super::Tap;
use super::gate::Gate;
use super::http_cut::{Head, HttpCutter, Piece, Side};
use super::pump::Observer;
use crate::sse_parser::SseParser;
use crate::transport::secret_field;

/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// Replacement for a secret in the record.
const HIDDEN: &str = "(hidden)";

/// State shared by all connections to a server.
#[derive(Debug)]
pub(super) struct Conversations {
    tap: Tap,
    /// Filter for requests.
    pub(super) gate: Gate,
    limit: usize,
    exchanges: AtomicU64,
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    by_id: HashMap<String, u32>,
    /// Number of sessions begun.
    count: u32,
}

impl Conversations {
    pub(super) fn new(tap: Tap, gate: Gate, limit: usize) -> Self {
        Self { tap, gate, limit, exchanges: AtomicU64::new(0), sessions: Mutex::default() }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of a request: the one it names, a new one if it asks for that, else the latest.
    fn session_of(&self, named: Option<&str>, body: &[u8]) -> u32 {
        let mut sessions = self.sessions();
        if let Some(known) = named.and_then(|id| sessions.by_id.get(id)) {
            return *known;
        }
        if memchr::memmem::find(body, b"\"initialize\"").is_some() {
            sessions.count += 1;
        }
        sessions.count.saturating_sub(1)
    }
}

/// A request whose response is not over.
#[derive(Debug)]
struct Exchange {
    number: u64,
    is_head: bool,
    session: Option<u32>,
}

/// Observer of one connection.
#[derive(Debug)]
struct HttpTap {
    all: Arc<Conversations>,
    open: Mutex<VecDeque<Exchange>>,
}

/// The two taps of a new connection.
pub(super) fn taps(all: Arc<Conversations>) -> (RequestTap, ResponseTap) {
    let tap = Arc::new(HttpTap { all, open: Mutex::default() });
    let cutter = HttpCutter::new(Side::Responses);
    let responses = ResponseTap { tap: tap.clone(), cutter, body: Body::None, exchange: 0, session: 0 };
    (RequestTap { tap, current: None }, responses)
}

impl HttpTap {
    fn open(&self) -> MutexGuard<'_, VecDeque<Exchange>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Observes requests.
#[derive(Debug)]
pub(super) struct RequestTap {
    tap: Arc<HttpTap>,
    current: Option<(u64, Head, Vec<u8>)>,
}

impl RequestTap {
    pub(super) async fn observe(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Head(bytes) => {
                    let head = Head::parse(bytes);
                    let number = self.tap.all.exchanges.fetch_add(1, Ordering::Relaxed) + 1;
                    let is_head = head.method() == "HEAD";
                    self.tap.open().push_back(Exchange { number, is_head, session: None });
                    self.current = Some((number, head, Vec::new()));
                }
                Piece::Data(data) => {
                    if let Some((_, _, body)) = &mut self.current {
                        keep(body, data, self.tap.all.limit);
                    }
                }
                Piece::Framing(_) => {}
                Piece::End => self.finish().await,
            }
        }
    }

    /// The client has closed the connection; it is observed if a request waits for its response.
    pub(super) async fn left(&mut self) {
        let waiting = self.tap.open().front().map(|open| open.session);
        if let Some(session) = waiting {
            let session = session.unwrap_or_else(|| self.tap.all.session_of(None, b""));
            self.tap.all.tap.observe(session, Direction::Sent, WirePart::Closed, Bytes::new()).await;
        }
    }

    /// True if no request waits for its response.
    pub(super) fn is_idle(&self) -> bool {
        self.current.is_none() && self.tap.open().is_empty()
    }

    /// The request is over, or the connection is.
    pub(super) async fn finish(&mut self) {
        let Some((number, head, body)) = self.current.take() else { return };
        let session = self.tap.all.session_of(head.get(SESSION), &body);
        if let Some(open) = self.tap.open().iter_mut().find(|open| open.number == number) {
            open.session = Some(session);
        }
        let part = WirePart::HttpRequest {
            exchange: number,
            method: head.method().to_owned(),
            url: head.target().to_owned(),
            headers: shown(&head, self.tap.all.tap.reveals).into(),
        };
        let tap = &self.tap.all.tap;
        if body.is_empty() {
            tap.observe(session, Direction::Sent, part, Bytes::new()).await;
        } else {
            let parts = [(part, Bytes::new()), (WirePart::Message, Bytes::from(body))];
            tap.observe_all(session, Direction::Sent, parts).await;
        }
    }
}

/// The body of a response.
#[derive(Debug)]
enum Body {
    None,
    Whole(Vec<u8>),
    Events(SseParser),
}

/// Observes responses.
#[derive(Debug)]
pub(super) struct ResponseTap {
    tap: Arc<HttpTap>,
    cutter: HttpCutter,
    body: Body,
    exchange: u64,
    session: u32,
}

impl Observer for ResponseTap {
    async fn observe(&mut self, bytes: &[u8]) {
        let tap = self.tap.clone();
        let pieces = self.cutter.push(bytes, || tap.open().front().is_some_and(|open| open.is_head));
        for piece in pieces {
            match piece {
                Piece::Head(bytes) => self.head(&Head::parse(&bytes)).await,
                Piece::Data(data) => self.data(&data).await,
                Piece::Framing(_) => {}
                Piece::End => self.finish().await,
            }
        }
    }
}

impl ResponseTap {
    async fn head(&mut self, head: &Head) {
        let Some(status) = head.status() else { return };
        let front = self.tap.open().front().map(|open| (open.number, open.session));
        if let Some((number, session)) = front {
            self.exchange = number;
            self.session = session.unwrap_or_else(|| self.tap.all.session_of(None, b""));
        }
        if let Some(id) = head.get(SESSION) {
            self.tap.all.sessions().by_id.entry(id.to_owned()).or_insert(self.session);
        }
        let part = WirePart::HttpResponse {
            exchange: self.exchange,
            status,
            headers: shown(head, self.tap.all.tap.reveals).into(),
        };
        self.tap.all.tap.observe(self.session, Direction::Received, part, Bytes::new()).await;
        let is_stream = head.get("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        self.body = if is_stream { Body::Events(SseParser::new(self.tap.all.limit)) } else { Body::Whole(Vec::new()) };
    }

    async fn data(&mut self, data: &[u8]) {
        let tap = &self.tap.all.tap;
        match &mut self.body {
            Body::None => {}
            Body::Whole(body) => keep(body, data, self.tap.all.limit),
            Body::Events(parser) => {
                // An event too long for the record was still passed on.
                for event in parser.push(data).unwrap_or_default() {
                    let kind = event.event.unwrap_or_else(|| "message".to_owned());
                    let body = event.data.unwrap_or_default();
                    if kind == "endpoint" {
                        self.tap.all.gate.open(String::from_utf8_lossy(&body).trim());
                    }
                    let part = if kind == "message" && !body.is_empty() {
                        WirePart::Message
                    } else {
                        WirePart::StreamEvent { exchange: self.exchange, event: kind }
                    };
                    tap.observe(self.session, Direction::Received, part, body).await;
                }
            }
        }
    }

    /// The response is over, or the connection is.
    pub(super) async fn finish(&mut self) {
        let body = std::mem::replace(&mut self.body, Body::None);
        if let Body::Whole(body) = body
            && !body.is_empty()
        {
            let tap = &self.tap.all.tap;
            tap.observe(self.session, Direction::Received, WirePart::Message, Bytes::from(body)).await;
        }
        self.tap.open().pop_front();
    }
}

fn keep(body: &mut Vec<u8>, data: &[u8], limit: usize) {
    let room = limit.saturating_sub(body.len());
    body.extend_from_slice(&data[..data.len().min(room)]);
}

/// Header fields for the record, without what is secret.
fn shown(head: &Head, reveals: bool) -> Vec<(String, String)> {
    let field = |(name, value): &(String, String)| {
        let name = name.to_lowercase();
        let is_secret = !reveals && secret_field(&name);
        (name, if is_secret { HIDDEN.to_owned() } else { value.clone() })
    };
    head.fields.iter().map(field).collect()
}
