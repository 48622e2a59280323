//! Observation of HTTP connections: heads, bodies and events, assigned to the session they belong to.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use mcprove_model::{Direction, WirePart};

use super::Tap;
use super::gate::{Gate, Refusal};
use super::http_cut::{Head, HttpCutter, Piece, Side};
use super::pump::Observer;
use crate::connections::{Connection, OpenRequest, Room, TakenRoom};
use crate::sse_parser::SseParser;
use crate::transport::secret_field;

/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// Bytes of the bodies of all connections that are kept while they are read.
const BODIES: usize = 256 << 20;
/// Replacement for a secret in the record.
const HIDDEN: &str = "(hidden)";

/// State shared by all connections to a server.
#[derive(Debug)]
pub(super) struct Conversations {
    tap: Tap,
    /// Filter for requests.
    pub(super) gate: Gate,
    limit: usize,
    /// Room for the bodies that are being read.
    room: Room,
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
        let (room, exchanges) = (Room::new(BODIES), AtomicU64::new(0));
        Self { tap, gate, limit, room, exchanges, sessions: Mutex::default() }
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
    /// The connection of the client; none for clients in this program.
    connection: Option<Arc<Connection>>,
    /// Held while a request waits for its answer.
    request: Mutex<Option<OpenRequest>>,
}

/// The two taps of a new connection.
pub(super) fn taps(all: Arc<Conversations>, connection: Option<Arc<Connection>>) -> (RequestTap, ResponseTap) {
    let (asked, answered) = (all.room.nothing(), all.room.nothing());
    let tap = Arc::new(HttpTap { all, open: Mutex::default(), connection, request: Mutex::default() });
    let cutter = HttpCutter::new(Side::Responses);
    let responses = ResponseTap { tap: tap.clone(), cutter, body: Body::None, room: answered, exchange: 0, session: 0 };
    (RequestTap { tap, current: None, room: asked }, responses)
}

impl HttpTap {
    fn open(&self) -> MutexGuard<'_, VecDeque<Exchange>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self) -> MutexGuard<'_, Option<OpenRequest>> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Observes requests.
#[derive(Debug)]
pub(super) struct RequestTap {
    tap: Arc<HttpTap>,
    current: Option<(u64, Head, Vec<u8>)>,
    /// Room for its body.
    room: TakenRoom,
}

impl RequestTap {
    /// Observes pieces of requests; refuses a body for which there is no room, as it could not be observed.
    pub(super) async fn observe(&mut self, pieces: &[Piece]) -> Result<(), Refusal> {
        for piece in pieces {
            match piece {
                Piece::Head(bytes) => {
                    let head = Head::parse(bytes);
                    let number = self.tap.all.exchanges.fetch_add(1, Ordering::Relaxed) + 1;
                    let is_head = head.method() == "HEAD";
                    self.tap.open().push_back(Exchange { number, is_head, session: None });
                    if let Some(connection) = &self.tap.connection {
                        connection.heard();
                    }
                    self.current = Some((number, head, Vec::new()));
                }
                Piece::Data(data) => {
                    if let Some((_, _, body)) = &mut self.current {
                        if !self.room.grow(data.len().min(self.tap.all.limit.saturating_sub(body.len()))) {
                            let why = "too many long requests are being sent at a time".to_owned();
                            return Err(Refusal { status: "503 Service Unavailable", why });
                        }
                        keep(body, data, self.tap.all.limit);
                    }
                }
                Piece::Framing(_) => {}
                Piece::End => {
                    if let Some(connection) = &self.tap.connection {
                        self.tap.request().get_or_insert_with(|| connection.request());
                    }
                    self.finish().await;
                }
            }
        }
        Ok(())
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
        self.room.clear();
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
    /// Room for it.
    room: TakenRoom,
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
            Body::Whole(body) => {
                // Without room it is cut in the record; it was still passed on.
                if self.room.grow(data.len().min(self.tap.all.limit.saturating_sub(body.len()))) {
                    keep(body, data, self.tap.all.limit);
                }
            }
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
        self.room.clear();
        let mut open = self.tap.open();
        open.pop_front();
        if open.is_empty() {
            self.tap.request().take();
        }
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
