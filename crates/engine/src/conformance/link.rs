//! One conversation of a probe: what is sent is exactly what the probe says, and everything is recorded.

mod ending;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcprove_judge::conformance::{Channel, Entry, Payload, Recording, ReplyMemory, What, is_same_id};
use mcprove_mock::Mock;
use mcprove_model::{Era, Revision};
use mcprove_wire::{HttpRoute, Limits, Program, RawLine, RawPipe, RawReply, RawRequest, send_raw};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use super::client::{Policy, answer_to, mirrored, with_meta};

/// Where the server is.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// A process to start.
    Process(Program),
    /// A mock in this process, over pipes.
    Memory(Mock),
    /// A URL.
    Http {
        /// The way to it.
        route: HttpRoute,
        /// The URL.
        url: String,
        /// Headers of the user.
        headers: Vec<(String, String)>,
    },
}

impl Endpoint {
    /// Its transport.
    pub fn channel(&self) -> Channel {
        match self {
            Self::Process(_) | Self::Memory(_) => Channel::Stdio,
            Self::Http { .. } => Channel::Http,
        }
    }
}

/// Timeouts of a conformance run.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The first reply of a server.
    pub start: Duration,
    /// A reply.
    pub timeout: Duration,
    /// Time to wait for messages that must not arrive.
    pub quiet: Duration,
    /// Time a server may take to exit.
    pub grace: Duration,
}

/// Parts of HTTP responses that wait to be taken in; beyond that, the server waits.
pub(super) const REPLIES: usize = 8;
/// The most messages that are read after a deadline.
const MOST_LATE: usize = 1_000;

/// A conversation.
pub(super) struct Link {
    wire: Wire,
    pub(super) recording: Recording,
    began: Instant,
    next_id: i64,
    pub(super) revision: Revision,
    pub(super) pace: Pace,
    pub(super) policy: Policy,
    /// Schemas of tools, for the headers that mirror arguments.
    pub(super) schemas: HashMap<String, Value>,
    pub(super) session: Option<String>,
    is_agreed: bool,
    is_closed: bool,
    memory: Arc<ReplyMemory>,
}

enum Wire {
    Pipe(Box<RawPipe>),
    Http(Box<Web>),
}

struct Web {
    route: HttpRoute,
    url: String,
    headers: Vec<(String, String)>,
    exchanges: u64,
    open: HashMap<u64, AbortHandle>,
    sender: mpsc::Sender<(u64, RawReply)>,
    receiver: mpsc::Receiver<(u64, RawReply)>,
}

/// A header that differs from the usual: another value, or none.
pub(super) type Header<'h> = (&'h str, Option<&'h [u8]>);

/// Something to send.
pub(super) struct Send<'s> {
    pub(super) label: String,
    pub(super) body: Bytes,
    pub(super) headers: &'s [Header<'s>],
    /// The id of the reply that is awaited.
    pub(super) id: Option<Value>,
}

impl Link {
    pub(super) fn open(
        endpoint: &Endpoint,
        probe: &'static str,
        revision: Revision,
        pace: Pace,
        memory: &Arc<ReplyMemory>,
    ) -> Result<Self, String> {
        // Several conversations go on at a time, each with a message that is being read.
        let limits = Limits { message_bytes: 32 << 20, ..Limits::default() };
        let wire = match endpoint {
            Endpoint::Process(program) => {
                Wire::Pipe(Box::new(RawPipe::start(program, &limits).map_err(|error| error.to_string())?))
            }
            Endpoint::Memory(mock) => {
                let (pipe, reader, writer) = RawPipe::memory(&limits);
                let mock = mock.clone();
                tokio::spawn(async move {
                    let _ = mock.serve(reader, writer).await;
                });
                Wire::Pipe(Box::new(pipe))
            }
            Endpoint::Http { route, url, headers } => {
                let (sender, receiver) = mpsc::channel(REPLIES);
                let (route, url, headers) = (route.clone(), url.clone(), headers.clone());
                Wire::Http(Box::new(Web { route, url, headers, exchanges: 0, open: HashMap::new(), sender, receiver }))
            }
        };
        Ok(Self {
            wire,
            recording: Recording::new(probe, json!({})),
            began: Instant::now(),
            next_id: 0,
            revision,
            pace,
            policy: Policy::Refuse,
            schemas: HashMap::new(),
            session: None,
            is_agreed: false,
            is_closed: false,
            memory: Arc::clone(memory),
        })
    }

    pub(super) fn is_http(&self) -> bool {
        matches!(self.wire, Wire::Http(_))
    }

    pub(super) fn is_modern(&self) -> bool {
        self.revision.era() == Era::Modern
    }

    pub(super) fn is_gone(&self) -> bool {
        self.is_closed
    }

    pub(super) fn fresh_id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id
    }

    fn note(&mut self, exchange: u64, step: &str, what: What) {
        let at_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.recording.push(Entry { at_us, exchange, step: step.to_owned(), what });
    }

    /// A request with the usual id, `_meta` and headers, and its reply.
    pub(super) async fn request(&mut self, label: impl Into<String>, method: &str, params: Value) -> Option<Value> {
        let id = json!(self.fresh_id());
        self.request_as(label, id, method, params).await
    }

    /// A request with an id of the caller's.
    pub(super) async fn request_as(
        &mut self,
        label: impl Into<String>,
        id: Value,
        method: &str,
        params: Value,
    ) -> Option<Value> {
        let message = self.message(&id, method, params);
        self.exchange(label, &message, &[]).await
    }

    /// A message with its reply; headers are those of the message, with differences.
    pub(super) async fn exchange(
        &mut self,
        label: impl Into<String>,
        message: &Value,
        headers: &[Header<'_>],
    ) -> Option<Value> {
        let id = message.get("id").cloned();
        let send = Send { label: label.into(), body: Bytes::from(message.to_string()), headers, id };
        self.send_and_wait(send).await
    }

    /// A message as this revision writes it; null params are left out.
    pub(super) fn message(&self, id: &Value, method: &str, params: Value) -> Value {
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if self.is_modern() && method != "initialize" {
            message["params"] = with_meta(params, self.revision, &self.recording.client);
        } else if !params.is_null() {
            message["params"] = params;
        }
        message
    }

    /// Sends a notification and waits a moment for what should not come.
    pub(super) async fn notify(&mut self, label: &str, method: &str, params: Value) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        let send = Send { label: label.to_owned(), body: Bytes::from(message.to_string()), headers: &[], id: None };
        self.send_and_wait(send).await;
    }

    /// Sends, and waits for the reply or, without an id, for a moment.
    pub(super) async fn send_and_wait(&mut self, send: Send<'_>) -> Option<Value> {
        let id = send.id.clone();
        let exchange = self.send(&send)?;
        match id {
            Some(id) => self.reply(&id, exchange, self.patience()).await,
            None if exchange > 0 => {
                self.until(self.pace.timeout, |entry| ends(entry, exchange)).await;
                None
            }
            None => {
                self.pause(self.pace.quiet).await;
                None
            }
        }
    }

    /// The time a reply may take. The first one includes the start of the process.
    fn patience(&self) -> Duration {
        let has_heard = self.recording.entries.iter().any(|entry| matches!(entry.what, What::Received(_)));
        if self.is_http() || has_heard { self.pace.timeout } else { self.pace.start.max(self.pace.timeout) }
    }

    /// Sends and returns the exchange; nothing is sent to a server that has gone.
    pub(super) fn send(&mut self, send: &Send<'_>) -> Option<u64> {
        if self.is_closed {
            return None;
        }
        let payload = Payload::new(send.body.clone());
        let usual = self.usual_headers(payload.json.as_ref().unwrap_or(&Value::Null));
        match &mut self.wire {
            Wire::Pipe(pipe) => {
                pipe.send(&send.body);
                pipe.send(b"\n");
                self.note(0, &send.label, What::Sent(payload));
                Some(0)
            }
            Wire::Http(_) => Some(self.post("POST", &send.label, usual, send.headers, Some(payload), None)),
        }
    }

    /// Makes an HTTP request without a message, and waits for its head.
    pub(super) async fn ask(
        &mut self,
        method: &str,
        label: &str,
        url: Option<&str>,
        headers: &[Header<'_>],
    ) -> Option<u64> {
        if !self.is_http() {
            return None;
        }
        let mut usual = self.session_headers();
        if method == "GET" && url.is_none() {
            usual.push(("accept".to_owned(), b"text/event-stream".to_vec()));
        }
        let exchange = self.post(method, label, usual, headers, None, url);
        self.until(self.pace.timeout, |entry| {
            let is_stream = matches!(&entry.what, What::ResponseHead { headers, .. }
                if headers.iter().any(|(name, value)| name == "content-type" && value.contains("event-stream")));
            ends(entry, exchange) || entry.exchange == exchange && is_stream
        })
        .await;
        Some(exchange)
    }

    /// Ends an exchange from our side.
    pub(super) fn abandon(&mut self, exchange: u64) {
        if let Wire::Http(web) = &mut self.wire
            && let Some(handle) = web.open.remove(&exchange)
        {
            handle.abort();
        }
    }

    pub(super) fn post(
        &mut self,
        method: &str,
        label: &str,
        usual: Vec<(String, Vec<u8>)>,
        other: &[Header<'_>],
        payload: Option<Payload>,
        url: Option<&str>,
    ) -> u64 {
        let Wire::Http(web) = &mut self.wire else { return 0 };
        web.exchanges += 1;
        let exchange = web.exchanges;
        let mut headers = usual;
        headers.extend(web.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone().into_bytes())));
        for (name, value) in other {
            headers.retain(|(given, _)| !given.eq_ignore_ascii_case(name));
            headers.extend(value.map(|value| ((*name).to_owned(), value.to_vec())));
        }
        let url = url.unwrap_or(&web.url).to_owned();
        let shown = headers.iter().map(|(name, value)| {
            let is_secret = name == "authorization";
            (name.clone(), if is_secret { "(hidden)".to_owned() } else { String::from_utf8_lossy(value).into_owned() })
        });
        let head = What::RequestHead { method: method.to_owned(), url: url.clone(), headers: shown.collect() };
        let body = payload.as_ref().map(|payload| payload.bytes.clone()).unwrap_or_default();
        let request = RawRequest { method: method.to_owned(), url, headers, body };
        let handle = send_raw(web.route.clone(), request, exchange, 8 << 20, web.sender.clone());
        web.open.insert(exchange, handle);
        self.note(exchange, if payload.is_some() { "" } else { label }, head);
        if let Some(payload) = payload {
            self.note(exchange, label, What::Sent(payload));
        }
        exchange
    }

    fn session_headers(&self) -> Vec<(String, Vec<u8>)> {
        let mut headers = Vec::new();
        if let Some(session) = &self.session {
            headers.push(("mcp-session-id".to_owned(), session.clone().into_bytes()));
        }
        let names_version = self.is_modern() || self.is_agreed && self.revision >= Revision::V2025_06_18;
        if names_version {
            headers.push(("mcp-protocol-version".to_owned(), self.revision.as_str().into()));
        }
        headers
    }

    pub(super) fn usual_headers(&self, message: &Value) -> Vec<(String, Vec<u8>)> {
        let mut headers = vec![
            ("content-type".to_owned(), b"application/json".to_vec()),
            ("accept".to_owned(), b"application/json, text/event-stream".to_vec()),
        ];
        headers.extend(self.session_headers());
        if self.is_modern() && message["method"] != "initialize" {
            headers.extend(mirrored(message, &self.schemas));
        }
        headers
    }

    /// Waits for the reply to a request.
    pub(super) async fn reply(&mut self, id: &Value, exchange: u64, within: Duration) -> Option<Value> {
        self.until(within, |entry| reply_in(entry, id, exchange).is_some() || exchange > 0 && ends(entry, exchange))
            .await;
        let found = self.recording.entries.iter().rev().find_map(|entry| reply_in(entry, id, exchange)).cloned();
        if found.is_none() && !self.is_closed {
            self.note(exchange, "", What::TimedOut);
        }
        found
    }

    /// Receives messages until one is as wanted or the time is over. What lies there by then is read, but a server that goes on
    /// sending gets no more time.
    async fn until(&mut self, within: Duration, is_wanted: impl Fn(&Entry) -> bool) {
        let deadline = Instant::now() + within;
        let (mut seen, mut late) = (0, 0);
        loop {
            if self.is_closed || self.recording.entries[seen..].iter().any(&is_wanted) {
                return;
            }
            seen = self.recording.entries.len();
            late += usize::from(Instant::now() > deadline);
            if late > MOST_LATE || !self.take(deadline).await {
                return;
            }
        }
    }

    /// Receives messages for a while.
    pub(super) async fn pause(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while !self.is_closed && Instant::now() < deadline && self.take(deadline).await {}
        if self.is_closed {
            return;
        }
        tokio::time::sleep_until(deadline).await;
    }

    /// Takes in one thing; false when the time is over.
    async fn take(&mut self, deadline: Instant) -> bool {
        match &mut self.wire {
            Wire::Pipe(pipe) => {
                let Ok(line) = timeout_at(deadline, pipe.receive()).await else { return false };
                match line {
                    RawLine::Line(line) => self.received(0, line),
                    RawLine::Closed => {
                        self.note(0, "", What::OutputClosed);
                        self.is_closed = true;
                    }
                }
            }
            Wire::Http(web) => {
                let Ok(Some((exchange, reply))) = timeout_at(deadline, web.receiver.recv()).await else { return false };
                self.replied(exchange, reply);
            }
        }
        true
    }

    fn replied(&mut self, exchange: u64, reply: RawReply) {
        match reply {
            RawReply::Head { status, headers } => {
                let begins = self.recording.entries.iter().any(|entry| {
                    entry.exchange == exchange && matches!(&entry.what, What::Sent(sent) if sent.json.as_ref().is_some_and(|json| json["method"] == "initialize"))
                });
                if begins {
                    let id = headers.iter().find(|(name, _)| name == "mcp-session-id").map(|(_, id)| id.clone());
                    self.session = id.or_else(|| self.session.take());
                }
                self.note(exchange, "", What::ResponseHead { status, headers });
            }
            RawReply::Body(bytes) => self.received(exchange, bytes),
            RawReply::Event(event) => {
                let is_empty = event.data.as_ref().is_none_or(Bytes::is_empty);
                if event.id.is_some() || is_empty {
                    self.note(exchange, "", What::StreamEvent { id: event.id.clone(), is_empty });
                }
                if let Some(data) = event.data.filter(|data| !data.is_empty()) {
                    self.received(exchange, data);
                }
            }
            RawReply::Ended => self.note(exchange, "", What::ExchangeEnded),
            RawReply::Failed(why) => self.note(exchange, "", What::ExchangeFailed(why)),
        }
    }

    fn received(&mut self, exchange: u64, bytes: Bytes) {
        let payload = self.memory.read(bytes);
        if self.memory.is_used_up() {
            // A server that floods its client is not listened to.
            self.is_closed = true;
        }
        let answer = payload.json.as_ref().and_then(|json| answer_to(json, &self.recording.client, self.policy));
        self.note(exchange, "", What::Received(payload));
        if let Some(answer) = answer.filter(|_| !self.is_modern()) {
            let body = Bytes::from(answer.to_string());
            self.send(&Send { label: "answer".to_owned(), body, headers: &[], id: None });
        }
    }

    /// Opens the conversation as the revision does; the result, if there is one.
    pub(super) async fn begin(&mut self, client: Value) -> Option<Value> {
        let result = self.handshake(client).await;
        if result.is_some() && !self.is_modern() {
            self.notify("notify:initialized", "notifications/initialized", Value::Null).await;
        }
        result
    }

    /// The first request of a conversation.
    pub(super) async fn handshake(&mut self, client: Value) -> Option<Value> {
        self.recording.client = client.clone();
        let (label, method, params) = if self.is_modern() {
            ("discover", "server/discover", json!({}))
        } else {
            let info = json!({"name": "mcprove", "version": env!("CARGO_PKG_VERSION")});
            let params = json!({"protocolVersion": self.revision.as_str(), "capabilities": client, "clientInfo": info});
            ("initialize", "initialize", params)
        };
        let id = json!(self.fresh_id());
        let message = self.message(&id, method, params);
        let body = Bytes::from(message.to_string());
        let exchange = self.send(&Send { label: label.to_owned(), body, headers: &[], id: None })?;
        let reply = self.reply(&id, exchange, self.pace.start).await?;
        self.is_agreed = true;
        reply.get("result").cloned()
    }
}

/// The reply to a request, if an entry is that.
fn reply_in<'e>(entry: &'e Entry, id: &Value, exchange: u64) -> Option<&'e Value> {
    let What::Received(Payload { json: Some(json), .. }) = &entry.what else { return None };
    let is_reply = json.is_object() && json.get("method").is_none();
    let is_own =
        if exchange > 0 { entry.exchange == exchange } else { json.get("id").is_some_and(|got| is_same_id(id, got)) };
    (is_reply && is_own).then_some(json)
}

/// True if an entry is the end of an exchange.
fn ends(entry: &Entry, exchange: u64) -> bool {
    entry.exchange == exchange && matches!(entry.what, What::ExchangeEnded | What::ExchangeFailed(_))
}
