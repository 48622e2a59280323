//! One POST or GET and everything that comes back on it.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};
use mcprove_model::{Direction, Part, escape_line, shorten};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::http_client::{HttpAsk, HttpClient, NoResponse, deepest, header, read_body, shown_headers};
use super::{Arrival, Refused};
use crate::message::{Message, classify};
use crate::sse_parser::{SseEvent, SseParser};

/// How much of an answer that is no message is kept as evidence.
const EVIDENCE: usize = 4 << 10;
/// How long to wait before a stream is taken up again when the server does not say.
const RETRY: Duration = Duration::from_secs(1);
/// How often one stream is taken up again.
const RESUMPTIONS: usize = 64;

/// What a task of the transport tells it.
#[derive(Debug)]
pub(super) enum Told {
    /// Something for the session.
    Arrival(Arrival),
    /// The server named the session.
    SessionId(String),
    /// The server named the address for messages (HTTP+SSE).
    Endpoint(String),
}

/// Where and how an exchange is made.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) client: HttpClient,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) number: u64,
    pub(super) limit: usize,
    pub(super) has_session: bool,
    pub(super) tell: mpsc::Sender<Told>,
}

/// Why a stream or response is over.
enum End {
    /// Everything that was awaited has come.
    Done,
    /// The stream ended early; it may be taken up after this event, after this time.
    Broken { last_id: Option<String>, retry: Duration, how: String },
    /// Something else came.
    Refused(Refused),
}

impl Line {
    /// Posts a message and tells what comes back. `request` is the id whose reply is awaited.
    pub(super) async fn post(self, body: Bytes, request: Option<u64>, after: Option<watch::Receiver<()>>) {
        if let Some(mut earlier) = after {
            // Notifications must arrive before what follows them: wait until the earlier one was taken.
            let _ = earlier.changed().await;
        }
        let mut headers = self.headers.clone();
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        headers.push(("accept".to_owned(), "application/json, text/event-stream".to_owned()));
        let ended = match self.ask(Method::POST, headers, body).await {
            Ok(response) => self.take_response(response, request).await,
            Err(none) => End::Refused(none.into()),
        };
        self.follow(ended, request).await;
    }

    /// Opens the stream that the server may use at any time; a server without one says so.
    pub(super) async fn listen(self) {
        let mut headers = self.headers.clone();
        headers.push(("accept".to_owned(), "text/event-stream".to_owned()));
        let Ok(response) = self.ask(Method::GET, headers, Bytes::new()).await else { return };
        if response.status() == StatusCode::METHOD_NOT_ALLOWED || !is_event_stream(&response) {
            return;
        }
        let ended = self.take_stream(response.into_body(), None).await;
        self.follow(ended, None).await;
    }

    /// Opens the one stream of the HTTP+SSE transport and stays on it.
    pub(super) async fn subscribe(self) {
        let mut headers = self.headers.clone();
        headers.push(("accept".to_owned(), "text/event-stream".to_owned()));
        let what = match self.ask(Method::GET, headers, Bytes::new()).await {
            Ok(response) if is_event_stream(&response) => match self.take_stream(response.into_body(), None).await {
                End::Done => "the server ended its event stream".to_owned(),
                End::Broken { how, .. } => format!("the event stream {how}"),
                End::Refused(refused) => refused.what,
            },
            Ok(response) => self.refusal(response).await.what,
            Err(none) => format!("{} ({})", none.what, none.help),
        };
        self.tell(Told::Arrival(Arrival::Closed { what, end: None })).await;
    }

    /// Posts a message whose reply comes on another stream (HTTP+SSE).
    pub(super) async fn post_only(self, body: Bytes, request: Option<u64>) {
        let mut headers = self.headers.clone();
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        headers.push(("accept".to_owned(), "application/json, text/event-stream".to_owned()));
        let refused = match self.ask(Method::POST, headers, body).await {
            Ok(response) if response.status().is_success() => {
                // Read to the end, so that the connection can be used again.
                let _ = read_body(response.into_body(), self.limit).await;
                return;
            }
            Ok(response) => self.refusal(response).await,
            Err(none) => none.into(),
        };
        self.tell(Told::Arrival(Arrival::Refused { request, refused })).await;
    }

    /// Takes a broken stream up again for as long as that leads on (2025-11-25, "Resumability and Redelivery").
    async fn follow(&self, mut ended: End, request: Option<u64>) {
        for _ in 0..RESUMPTIONS {
            let End::Broken { last_id: Some(id), retry, .. } = &ended else { break };
            tokio::time::sleep(*retry).await;
            let mut headers = self.headers.clone();
            headers.push(("accept".to_owned(), "text/event-stream".to_owned()));
            headers.push(("last-event-id".to_owned(), id.clone()));
            ended = match self.ask(Method::GET, headers, Bytes::new()).await {
                Ok(response) if is_event_stream(&response) => self.take_stream(response.into_body(), request).await,
                Ok(response) => End::Refused(self.refusal(response).await),
                Err(none) => End::Refused(none.into()),
            };
        }
        let refused = match ended {
            End::Broken { how, .. } if request.is_some() => Refused {
                what: format!("the event stream {how} before the reply came"),
                help: Some("look into the server's log".to_owned()),
                evidence: Bytes::new(),
                status: None,
            },
            End::Done | End::Broken { .. } => return,
            End::Refused(refused) => refused,
        };
        self.tell(Told::Arrival(Arrival::Refused { request, refused })).await;
    }

    pub(super) async fn ask(
        &self,
        method: Method,
        headers: Vec<(String, String)>,
        body: Bytes,
    ) -> Result<Response<Incoming>, NoResponse> {
        let part = Part::HttpRequest {
            exchange: self.number,
            method: method.to_string(),
            url: self.url.clone(),
            headers: headers.clone(),
        };
        self.log(Direction::Sent, part, Bytes::new()).await;
        let response = self.client.ask(HttpAsk { method, url: self.url.clone(), headers, body }).await?;
        let status = response.status().as_u16();
        let part = Part::HttpResponse { exchange: self.number, status, headers: shown_headers(&response) };
        self.log(Direction::Received, part, Bytes::new()).await;
        Ok(response)
    }

    async fn take_response(&self, response: Response<Incoming>, request: Option<u64>) -> End {
        if let Some(id) = header(&response, "mcp-session-id") {
            self.tell(Told::SessionId(id)).await;
        }
        let status = response.status();
        if let Some(encoding) = header(&response, "content-encoding").filter(|e| e != "identity") {
            return End::Refused(Refused {
                what: format!("the server answered with `Content-Encoding: {encoding}`, which was not asked for"),
                help: Some("send plain bodies to clients that do not send `Accept-Encoding`".to_owned()),
                evidence: Bytes::new(),
                status: Some(status.as_u16()),
            });
        }
        if status.is_success() && is_event_stream(&response) {
            return self.take_stream(response.into_body(), request).await;
        }
        if status.is_success() && request.is_none() {
            return End::Done;
        }
        if status.is_success() && is_json(&response) {
            return match read_body(response.into_body(), self.limit).await {
                Ok(body) => {
                    self.tell(Told::Arrival(Arrival::Message(body))).await;
                    End::Done
                }
                Err((read, how)) => End::Refused(Refused {
                    what: format!("the body of the answer {how}"),
                    help: None,
                    evidence: read.slice(..read.len().min(EVIDENCE)),
                    status: Some(status.as_u16()),
                }),
            };
        }
        let refused = self.refusal(response).await;
        // An error status may well carry a proper JSON-RPC error; then that is the answer. A lost session is the
        // transport's to tell.
        let lost = status == StatusCode::NOT_FOUND && self.has_session;
        if !lost && matches!(classify(&refused.evidence), Message::Reply(_)) {
            self.tell(Told::Arrival(Arrival::Message(refused.evidence))).await;
            return End::Done;
        }
        End::Refused(refused)
    }

    async fn take_stream(&self, mut body: Incoming, request: Option<u64>) -> End {
        let mut parser = SseParser::new(self.limit);
        let mut last_id = None;
        let mut retry = RETRY;
        loop {
            let how = match body.frame().await {
                None if parser.is_inside() => "ended in the middle of an event".to_owned(),
                None => "ended".to_owned(),
                Some(Err(error)) => format!("broke off ({})", deepest(&error)),
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    let Ok(events) = parser.push(&data) else {
                        return End::Refused(Refused {
                            what: format!("an event is longer than {} MiB", self.limit >> 20),
                            help: None,
                            evidence: Bytes::new(),
                            status: None,
                        });
                    };
                    let mut answered = false;
                    for event in events {
                        if let Some(ms) = event.retry {
                            retry = Duration::from_millis(ms);
                        }
                        last_id = event.id.clone().or(last_id);
                        answered |= self.take_event(event, request).await;
                    }
                    if answered {
                        return End::Done;
                    }
                    continue;
                }
            };
            return End::Broken { last_id, retry, how };
        }
    }

    /// Tells an event; whether it was the awaited reply.
    async fn take_event(&self, event: SseEvent, request: Option<u64>) -> bool {
        let kind = event.event.as_deref().unwrap_or("message");
        let data = event.data.unwrap_or_default();
        if kind == "endpoint" {
            let text = String::from_utf8_lossy(&data).into_owned();
            self.log_event("endpoint", data).await;
            self.tell(Told::Endpoint(text)).await;
            return false;
        }
        if data.is_empty() {
            // Comments and priming events are part of the record, not of the conversation.
            let text = if event.comments.is_empty() { "priming".to_owned() } else { event.comments.join("\n") };
            self.log_event(kind, Bytes::from(text)).await;
            return false;
        }
        let answers = request.is_some_and(|id| is_reply_to(&data, id));
        self.tell(Told::Arrival(Arrival::Message(data))).await;
        answers
    }

    /// Says what an answer that is no message means.
    async fn refusal(&self, response: Response<Incoming>) -> Refused {
        let status = response.status();
        let location = header(&response, "location");
        let kind = header(&response, "content-type").unwrap_or_else(|| "no content type".to_owned());
        let metadata = header(&response, "www-authenticate");
        let wait = header(&response, "retry-after");
        let body = match read_body(response.into_body(), self.limit.min(1 << 20)).await {
            Ok(body) | Err((body, _)) => body,
        };
        let reason = status.canonical_reason().unwrap_or("unknown status");
        let (what, help) = match status.as_u16() {
            200..=299 => (
                format!("the server answered with `{}` instead of JSON or an event stream", escape_line(&kind)),
                "is this the address of the MCP endpoint? it often ends in `/mcp`".to_owned(),
            ),
            301..=308 => (
                format!("the server redirects to {}", escape_line(location.as_deref().unwrap_or("nowhere"))),
                "use that address: redirects are not followed".to_owned(),
            ),
            401 => (
                "the server wants a login (HTTP 401)".to_owned(),
                match metadata {
                    Some(text) => {
                        format!("it says `{}`; give a token in `headers:`", shorten(&escape_line(&text), 200))
                    }
                    None => "give a token in `headers:`, e.g. `Authorization: \"Bearer ${TOKEN}\"`".to_owned(),
                },
            ),
            403 => (
                "the server refuses access (HTTP 403)".to_owned(),
                "check the token's rights, and whether the server accepts this host and origin".to_owned(),
            ),
            404 if self.has_session => (
                "the server no longer knows the session (HTTP 404)".to_owned(),
                "the server ended the session or was restarted".to_owned(),
            ),
            404 => (
                "there is nothing at this address (HTTP 404)".to_owned(),
                "mend the path; it often ends in `/mcp`".to_owned(),
            ),
            405 => (
                "the server does not take POST here (HTTP 405)".to_owned(),
                "an older server may speak HTTP+SSE: try `transport: sse`".to_owned(),
            ),
            429 => (
                "the server limits the rate (HTTP 429)".to_owned(),
                match wait {
                    Some(text) => format!("it asks to wait {} s", shorten(&escape_line(&text), 40)),
                    None => "run fewer cases at once".to_owned(),
                },
            ),
            500..=599 => (
                format!("the server failed (HTTP {} {reason})", status.as_u16()),
                "look into the server's log".to_owned(),
            ),
            code => (format!("the server answered with HTTP {code} {reason}"), "look into the server's log".to_owned()),
        };
        let evidence = body.slice(..body.len().min(EVIDENCE.max(if is_message(&body) { body.len() } else { 0 })));
        Refused { what, help: Some(help), evidence, status: Some(status.as_u16()) }
    }

    async fn log(&self, direction: Direction, part: Part, body: Bytes) {
        self.tell(Told::Arrival(Arrival::Part { direction, part, body })).await;
    }

    async fn log_event(&self, event: &str, body: Bytes) {
        let part = Part::StreamEvent { exchange: self.number, event: event.to_owned() };
        self.log(Direction::Received, part, body).await;
    }

    async fn tell(&self, told: Told) {
        // Nobody listens once the session is closed.
        let _ = self.tell.send(told).await;
    }
}

impl From<NoResponse> for Refused {
    fn from(none: NoResponse) -> Self {
        Self { what: none.what, help: Some(none.help), evidence: Bytes::new(), status: None }
    }
}

fn is_message(body: &Bytes) -> bool {
    matches!(classify(body), Message::Reply(_))
}

fn media_type(response: &Response<Incoming>) -> String {
    let kind = header(response, "content-type").unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_event_stream(response: &Response<Incoming>) -> bool {
    media_type(response) == "text/event-stream"
}

fn is_json(response: &Response<Incoming>) -> bool {
    media_type(response) == "application/json"
}

/// Whether a message is the reply with this id, without building its tree.
fn is_reply_to(data: &[u8], id: u64) -> bool {
    #[derive(Deserialize)]
    struct Peek {
        id: Option<Value>,
        method: Option<IgnoredAny>,
    }
    serde_json::from_slice::<Peek>(data)
        .is_ok_and(|peek| peek.method.is_none() && peek.id.as_ref().and_then(Value::as_u64) == Some(id))
}
