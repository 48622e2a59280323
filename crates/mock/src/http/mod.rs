//! A mock over Streamable HTTP: sessions for legacy clients, none for modern ones, on the same endpoint.
//!
//! An answer is plain JSON unless something is to be said before it; then it comes at the end of an event stream.
//!
//! Long because one endpoint decides what each request gets.

mod body;
mod headers;
mod listener;
mod origin;

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming as RequestBody;
use hyper::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mcprove_model::{Era, Revision, bounded_json};
use mcprove_wire::{AnswerBody, Connection, Connections, Room, inject_http};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::task::JoinSet;

pub use listener::HttpListener;

use crate::Mock;
use crate::era::named_revision;
use crate::issuer::{Issuer, IssuerReply};
use crate::message_sink::{MessageSink, Outbox, OutgoingMessage};
use crate::mutation::{Inward, Mutant, Web};
use crate::rpc::{INVALID_REQUEST, Incoming, Layer, Refusal, classify, read};
use crate::session::{Kind, Session, Work};
use body::{Body, CancelOnDrop, Events, Leaving};

/// The longest message that is read.
const LONGEST: usize = 64 << 20;
/// Bytes of all messages that are being read at a time.
const BODIES: usize = 128 << 20;
/// Maximum number of connections.
const CONNECTIONS: usize = 2048;
/// Bytes that a connection reads ahead; the head of a request is not longer.
const BUFFER: usize = 64 << 10;
/// Pause when a connection cannot be accepted, most likely because there are too many.
const BUSY: Duration = Duration::from_millis(50);

impl Mock {
    /// Serves clients of a listener until `until` ends; what they still wait for then is dropped.
    pub async fn serve_http(&self, http_listener: HttpListener, until: impl Future<Output = ()>) {
        let endpoint = Arc::new(Endpoint::new(self, http_listener.is_local(), &http_listener.origin()));
        let mut connections = JoinSet::new();
        let open = Connections::new(CONNECTIONS);
        tokio::pin!(until);
        loop {
            let stream = tokio::select! {
                () = &mut until => break,
                accepted = http_listener.accept() => accepted,
            };
            let Ok(stream) = stream else {
                open.make_room();
                tokio::time::sleep(BUSY).await;
                continue;
            };
            // One that is not taken is closed.
            if let Some(connection) = open.admit() {
                let endpoint = Arc::clone(&endpoint);
                connections.spawn(async move {
                    tokio::select! {
                        () = serve_connection(endpoint, stream, Some(Arc::clone(&connection))) => {}
                        () = connection.over() => {}
                    }
                });
            }
            while connections.try_join_next().is_some() {}
        }
        endpoint.close();
    }

    /// Connections to the mock over HTTP without a socket: each call makes one, served on the current runtime.
    pub fn http_connections(&self) -> Arc<dyn Fn() -> DuplexStream + Send + Sync> {
        let endpoint = Arc::new(Endpoint::new(self, true, "http://127.0.0.1"));
        Arc::new(move || {
            let (near, far) = tokio::io::duplex(64 << 10);
            tokio::spawn(serve_connection(Arc::clone(&endpoint), far, None));
            near
        })
    }
}

async fn serve_connection(
    endpoint: Arc<Endpoint>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    connection: Option<Arc<Connection>>,
) {
    let injector = endpoint.mock.shared.injector.clone();
    if !injector.is_needed() {
        return serve_healthy_connection(endpoint, stream, connection).await;
    }
    let (near, far) = tokio::io::duplex(64 << 10);
    tokio::join!(inject_http(&injector, stream, near), serve_healthy_connection(endpoint, far, connection));
}

async fn serve_healthy_connection(
    endpoint: Arc<Endpoint>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    connection: Option<Arc<Connection>>,
) {
    let service = service_fn(|request| {
        let (endpoint, connection) = (Arc::clone(&endpoint), connection.clone());
        async move { Ok::<_, Infallible>(endpoint.answer(request, connection.as_deref()).await) }
    });
    // A connection that breaks is the client's business.
    let _ = http1::Builder::new().max_buf_size(BUFFER).serve_connection(TokioIo::new(stream), service).await;
}

/// A reply as a mutation changes it; several messages become a stream.
fn changed(mut answer: Answer, mutant: &Mutant) -> Answer {
    let is_json = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    let Body::Whole(bytes) = answer.body() else { return answer };
    let Some(message) = bounded_json::parse(bytes).filter(|_| is_json) else { return answer };
    let messages = mutant.outward(message, 1);
    if let [message] = messages.as_slice() {
        *answer.body_mut() = Body::Whole(Bytes::from(message.to_string()));
        return answer;
    }
    let session = answer.headers().get("mcp-session-id").cloned();
    let text: Vec<u8> = messages.iter().flat_map(|message| body::event(message, None)).collect();
    let mut stream = with_type(StatusCode::OK, "text/event-stream", Body::Whole(Bytes::from(text)));
    stream.headers_mut().insert("x-accel-buffering", hyper::header::HeaderValue::from_static("no"));
    if let Some(session) = session {
        stream.headers_mut().insert("mcp-session-id", session);
    }
    stream
}

/// State of one endpoint.
struct Endpoint {
    mock: Mock,
    local_only: bool,
    /// State shared by all modern requests.
    stateless: Arc<Session>,
    sessions: Mutex<HashMap<String, Held>>,
    requests: AtomicU64,
    /// Room for the bodies that are being read.
    bodies: Room,
    /// The authorization server that guards it.
    issuer: Option<Issuer>,
}

/// A session of a legacy client.
#[derive(Clone)]
struct Held {
    session: Arc<Session>,
    /// Messages that belong to no request, until a client listens for them.
    general: Arc<Mutex<Option<Outbox>>>,
    /// Time of its last use, in requests of all sessions.
    used: Arc<AtomicU64>,
}

/// Maximum number of sessions; the least recently used one is dropped.
const SESSIONS: usize = 1_000;

type Answer = Response<Body>;

impl Endpoint {
    fn new(mock: &Mock, local_only: bool, origin: &str) -> Self {
        // Modern clients get messages only as part of their requests.
        let (nowhere, _) = MessageSink::new();
        let stateless = Session::new(Arc::clone(&mock.shared), Kind::Stateless, nowhere);
        let issuer = mock.shared.issuer.as_ref().map(|options| Issuer::new(origin, options));
        let (mock, sessions, requests) = (mock.clone(), Mutex::default(), AtomicU64::new(0));
        Self { mock, local_only, stateless, sessions, requests, bodies: Room::new(BODIES), issuer }
    }

    fn close(&self) {
        self.stateless.close();
        for held in self.sessions().values() {
            held.session.close();
        }
    }

    /// Reads a request and answers it; its connection stays open as long as the answer.
    async fn answer(
        &self,
        request: hyper::Request<RequestBody>,
        connection: Option<&Connection>,
    ) -> Response<AnswerBody<Body>> {
        if let Some(connection) = connection {
            connection.heard();
        }
        let (head, body) = request.into_parts();
        let (answer, open) = match self.whole(body).await {
            Ok(body) => {
                let open = connection.map(Connection::request);
                (self.answer_whole(head, body).await, open)
            }
            Err(refused) => (*refused, None),
        };
        answer.map(|body| AnswerBody::new(body, open))
    }

    /// The whole body of a request. What is read at a time is bounded, for one and for all of them.
    async fn whole(&self, body: RequestBody) -> Result<Bytes, Box<Answer>> {
        let refuse = |status, why| Err(Box::new(plain(status, why)));
        let mut body = Limited::new(body, LONGEST);
        let mut room = self.bodies.nothing();
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                return refuse(StatusCode::PAYLOAD_TOO_LARGE, "the message is too long, or broke off");
            };
            let Ok(data) = frame.into_data() else { continue };
            if !room.grow(data.len()) {
                return refuse(StatusCode::SERVICE_UNAVAILABLE, "too many long messages are being sent at a time");
            }
            whole.extend_from_slice(&data);
        }
        Ok(Bytes::from(whole))
    }

    async fn answer_whole(&self, mut head: Parts, body: Bytes) -> Answer {
        let mutant = &self.mock.shared.mutant;
        if mutant.is_none() {
            return self.respond(&head, body).await;
        }
        match mutant.request_in(&mut head, &body) {
            Web::Pass => {}
            Web::Hang => std::future::pending().await,
            Web::Answer(status, headers, text) => {
                let mut answer = with_type(status, "text/plain", Body::Whole(Bytes::from(text)));
                for (name, value) in headers {
                    let Ok(value) = value.parse() else { continue };
                    // A response may have several challenges.
                    if name == "www-authenticate" {
                        answer.headers_mut().append(name, value);
                    } else {
                        answer.headers_mut().insert(name, value);
                    }
                }
                return answer;
            }
        }
        let sent: Value = bounded_json::parse(&body).unwrap_or(Value::Null);
        let body = match mutant.line_in(&body, 1) {
            Some(Inward::Pass(message)) => Bytes::from(message.to_string()),
            Some(Inward::Answer(replies)) => {
                let Some(reply) = replies.first() else { return plain(StatusCode::ACCEPTED, "") };
                return json_answer(StatusCode::OK, reply);
            }
            Some(Inward::Die) | None => body,
        };
        let mut answer = changed(self.respond(&head, body).await, mutant);
        let (mut status, mut headers) = (answer.status(), std::mem::take(answer.headers_mut()));
        mutant.response_out(&head, &sent, &mut status, &mut headers);
        *answer.status_mut() = status;
        *answer.headers_mut() = headers;
        answer
    }

    async fn respond(&self, head: &Parts, body: Bytes) -> Answer {
        if !origin::is_welcome(&head.uri, &head.headers, self.local_only) {
            return plain(StatusCode::FORBIDDEN, "this origin may not ask");
        }
        if let Some(issuer) = &self.issuer
            && let Some(reply) = issuer.answer(head, &body, listener::PATH).await
        {
            return issued(reply);
        }
        if head.uri.path() != listener::PATH {
            return plain(StatusCode::NOT_FOUND, "the endpoint is /mcp");
        }
        let answer = self.served(head, body).await;
        let session = answer.headers().get("mcp-session-id").and_then(|id| id.to_str().ok());
        if let (Some(issuer), Some(session)) = (&self.issuer, session) {
            issuer.bind_session(head, session);
        }
        answer
    }

    async fn served(&self, head: &Parts, body: Bytes) -> Answer {
        match head.method {
            Method::POST => match refuse_types(&head.headers) {
                Some(refused) => refused,
                None => self.post(&head.headers, body).await,
            },
            Method::GET => self.listen(&head.headers),
            Method::DELETE => self.end(&head.headers),
            _ => not_allowed(),
        }
    }

    async fn post(&self, headers: &HeaderMap, body: Bytes) -> Answer {
        let message = match read(&body) {
            Ok(message) => message,
            Err(refusal) => return refused(&refusal, &Value::Null),
        };
        // It may be long until there is an answer.
        drop(body);
        if is_modern(headers, &message) {
            self.modern(headers, message).await
        } else {
            self.legacy(headers, message).await
        }
    }

    async fn modern(&self, headers: &HeaderMap, message: Value) -> Answer {
        match classify(message.clone()) {
            Incoming::Request(request) => {
                if let Err(refusal) = headers::check(headers, &request, self.schema(&request.params)) {
                    return refused(&refusal, &request.id);
                }
            }
            Incoming::Notification { .. } => {}
            Incoming::Reply { .. } | Incoming::Batch(_) => {
                let refusal = Refusal::new(INVALID_REQUEST, "a request or a notification is wanted, one at a time");
                return refused(&refusal, &Value::Null);
            }
            Incoming::Invalid { id, refusal } => return refused(&refusal, &id),
        }
        let (sink, outbox) = MessageSink::new();
        let work = self.stateless.take(message, &sink);
        drop(sink);
        exchange(work, outbox, Era::Modern, &self.mock.shared.mutant).await
    }

    /// The schema of the tool that is called, if one is.
    fn schema(&self, params: &Value) -> Option<&Value> {
        let name = params.get("name")?.as_str()?;
        let tools = self.stateless.tools(self.stateless.manifest()?);
        tools.iter().find(|tool| tool.name == name).map(|tool| &tool.input_schema)
    }

    async fn legacy(&self, headers: &HeaderMap, message: Value) -> Answer {
        let (sink, outbox) = MessageSink::new();
        let Some(id) = session_id(headers) else {
            if message.get("method").and_then(Value::as_str) == Some("initialize") {
                return self.begin(message, sink, outbox).await;
            }
            let refusal = Refusal::new(INVALID_REQUEST, "`Mcp-Session-Id` is missing: send `initialize` first");
            return refused(&refusal, message.get("id").unwrap_or(&Value::Null));
        };
        let held = match self.held(headers, &id) {
            Ok(held) => held,
            Err(answer) => return *answer,
        };
        let work = held.session.take(message, &sink);
        drop(sink);
        exchange(work, outbox, Era::Legacy, &self.mock.shared.mutant).await
    }

    /// Begins a session with its handshake.
    async fn begin(&self, message: Value, sink: MessageSink, outbox: Outbox) -> Answer {
        let (general, messages) = MessageSink::new();
        let session = Session::new(Arc::clone(&self.mock.shared), Kind::Lasting, general);
        let work = session.take(message, &sink);
        drop(sink);
        let mut answer = exchange(work, outbox, Era::Legacy, &self.mock.shared.mutant).await;
        if session.state().agreed.is_some() {
            let id = self.mock.shared.fresh_id();
            if let Ok(value) = id.parse() {
                answer.headers_mut().insert("mcp-session-id", value);
            }
            let used = Arc::new(AtomicU64::new(self.tick()));
            let mut sessions = self.sessions();
            if sessions.len() >= SESSIONS {
                let oldest = sessions.iter().min_by_key(|(_, held)| held.used.load(Ordering::Relaxed));
                let oldest = oldest.map(|(id, _)| id.clone());
                if let Some(held) = oldest.and_then(|id| sessions.remove(&id)) {
                    held.session.close();
                }
            }
            sessions.insert(id, Held { session, general: Arc::new(Mutex::new(Some(messages))), used });
        }
        answer
    }

    /// The stream for what belongs to no request.
    fn listen(&self, headers: &HeaderMap) -> Answer {
        if is_modern(headers, &Value::Null) {
            // 2026-07-28 has no such stream.
            return not_allowed();
        }
        let Some(id) = session_id(headers) else {
            return plain(StatusCode::BAD_REQUEST, "`Mcp-Session-Id` is missing");
        };
        if !accepts(headers, "text/event-stream") {
            return plain(StatusCode::NOT_ACCEPTABLE, "this is an event stream: accept `text/event-stream`");
        }
        let held = match self.held(headers, &id) {
            Ok(held) => held,
            Err(answer) => return *answer,
        };
        let messages = held.general.lock().unwrap_or_else(PoisonError::into_inner).take();
        match messages {
            Some(messages) => {
                let mutant = self.mock.shared.mutant.clone();
                let ready = mutant.on_get().into_iter().collect();
                let leaving = Leaving::GiveBack(held.general);
                events(Events { first: None, messages: Some(messages), leaving, mutant, ready })
            }
            None => plain(StatusCode::CONFLICT, "this session has a stream already"),
        }
    }

    /// Ends a session.
    fn end(&self, headers: &HeaderMap) -> Answer {
        if is_modern(headers, &Value::Null) {
            return not_allowed();
        }
        let Some(id) = session_id(headers) else {
            return plain(StatusCode::BAD_REQUEST, "`Mcp-Session-Id` is missing");
        };
        match self.sessions().remove(&id) {
            Some(held) => {
                held.session.close();
                plain(StatusCode::NO_CONTENT, "")
            }
            None => plain(StatusCode::NOT_FOUND, "there is no such session"),
        }
    }

    fn held(&self, headers: &HeaderMap, id: &str) -> Result<Held, Box<Answer>> {
        let Some(held) = self.sessions().get(id).cloned() else {
            return Err(Box::new(plain(StatusCode::NOT_FOUND, "there is no such session: send `initialize` again")));
        };
        held.used.store(self.tick(), Ordering::Relaxed);
        // Clients before 2025-06-18 do not say which revision they speak.
        let named = headers.get("mcp-protocol-version").map(|value| value.to_str().unwrap_or_default());
        let agreed = held.session.state().agreed.as_ref().map(|agreed| agreed.revision.as_str());
        if named.is_some() && named != agreed {
            let message = "`MCP-Protocol-Version` is not what was agreed on";
            return Err(Box::new(refused(&Refusal::new(INVALID_REQUEST, message), &Value::Null)));
        }
        Ok(held)
    }

    /// Counts requests of sessions.
    fn tick(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// True if a request is one of the modern era: it names its revision itself, or its header names one that no handshake
/// could have negotiated.
fn is_modern(headers: &HeaderMap, message: &Value) -> bool {
    if message.get("params").and_then(named_revision).is_some() {
        return true;
    }
    let named = headers.get("mcp-protocol-version").map(|value| value.to_str().unwrap_or_default());
    named.is_some_and(|named| Revision::parse(named).is_none_or(|revision| revision.era() == Era::Modern))
}

/// Works on a request until there is something to say, and decides how to say it.
async fn exchange(work: Option<Work>, mut outbox: Outbox, era: Era, mutant: &Mutant) -> Answer {
    let mutant = mutant.clone();
    let ready = VecDeque::new();
    let has_work = work.is_some();
    let leaving = match (work.map(tokio::spawn), era) {
        (Some(task), Era::Modern) => Leaving::Cancel(CancelOnDrop(task)),
        (Some(_) | None, _) => Leaving::Stay,
    };
    match outbox.recv().await {
        Some(OutgoingMessage::Reply { message, wrong }) => json_answer(status(wrong, era), &message),
        Some(first @ OutgoingMessage::Other(_)) => {
            events(Events { first: Some(first), messages: Some(outbox), leaving, mutant, ready })
        }
        // The request was cancelled: its stream ends without an answer.
        None if has_work => events(Events { first: None, messages: None, leaving: Leaving::Stay, mutant, ready }),
        None => plain(StatusCode::ACCEPTED, ""),
    }
}

fn status(wrong: Option<Layer>, era: Era) -> StatusCode {
    match (wrong, era) {
        (Some(Layer::Envelope), _) => StatusCode::BAD_REQUEST,
        (Some(Layer::Method), Era::Modern) => StatusCode::NOT_FOUND,
        (Some(Layer::Method), Era::Legacy) | (Some(Layer::Content) | None, _) => StatusCode::OK,
    }
}

fn session_id(headers: &HeaderMap) -> Option<String> {
    headers.get("mcp-session-id").and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// Refuses bodies that are not JSON, and clients that accept only other types.
fn refuse_types(headers: &HeaderMap) -> Option<Answer> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Some(plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send `Content-Type: application/json`"));
    }
    if !accepts(headers, "application/json") || !accepts(headers, "text/event-stream") {
        let text = "answers are JSON or event streams: accept `application/json, text/event-stream`";
        return Some(plain(StatusCode::NOT_ACCEPTABLE, text));
    }
    None
}

/// True if a client takes a kind of content; one that does not say takes any.
fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let mut fields = headers.get_all(ACCEPT).iter().peekable();
    if fields.peek().is_none() {
        return true;
    }
    let group = kind.split('/').next().unwrap_or(kind);
    fields.filter_map(|field| field.to_str().ok()).flat_map(|field| field.split(',')).any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        range == kind || range == "*/*" || range.strip_suffix("/*") == Some(group)
    })
}

fn refused(refusal: &Refusal, id: &Value) -> Answer {
    json_answer(StatusCode::BAD_REQUEST, &refusal.reply(id))
}

fn json_answer(status: StatusCode, message: &Value) -> Answer {
    with_type(status, "application/json", Body::Whole(Bytes::from(message.to_string())))
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    with_type(status, "text/plain; charset=utf-8", Body::Whole(Bytes::from_static(text.as_bytes())))
}

/// An answer of the authorization server.
fn issued(reply: IssuerReply) -> Answer {
    let mut answer = with_type(reply.status, reply.kind, Body::Whole(Bytes::from(reply.body)));
    for (name, value) in reply.headers {
        if let Ok(value) = value.parse() {
            answer.headers_mut().append(name, value);
        }
    }
    answer
}

fn not_allowed() -> Answer {
    let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "send a POST");
    answer.headers_mut().insert(ALLOW, hyper::header::HeaderValue::from_static("POST"));
    answer
}

fn events(events: Events) -> Answer {
    let mut answer = with_type(StatusCode::OK, "text/event-stream", Body::Events(events));
    answer.headers_mut().insert(CACHE_CONTROL, hyper::header::HeaderValue::from_static("no-cache"));
    // Proxies must not hold events back (2026-07-28, "Receiving Messages").
    answer.headers_mut().insert("x-accel-buffering", hyper::header::HeaderValue::from_static("no"));
    answer
}

fn with_type(status: StatusCode, kind: &'static str, body: Body) -> Answer {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    answer
}
