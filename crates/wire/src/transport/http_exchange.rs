//! One POST or GET and everything that comes back on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Method, Response, StatusCode};
use mcprove_model::{Direction, WirePart, escape_line, shorten};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::http_client::{HttpClient, NoResponse, deepest, header, read_body, size};
use super::http_exchanges::{ExchangeEvent, Queue, Turn};
use super::http_refusal::{Refusal, broken_body, refusal, refusal_of_request};
use super::http_replay::Replay;
use super::{Arrival, Refused};
use crate::message::{Message, ReplyBody, classify};
use crate::sse_parser::{SseEvent, SseParser};

/// Delay before a stream is resumed, if the server does not state one.
const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of resumptions of a stream.
const RESUMPTIONS: usize = 64;
/// Time for which a stream is read after the reply: a second reply is worth reporting, and a stream read to its end
/// leaves a reusable connection.
const LINGER: Duration = Duration::from_secs(1);
/// Maximum length of the id of an event that a stream is resumed from.
const LONGEST_ID: usize = 4 << 10;
/// Maximum length of a reply to a notification that is read; there should be none.
const RECEIPT: usize = 64 << 10;

/// Destination and options of one exchange.
#[derive(Clone, Debug)]
pub(super) struct HttpExchange {
    pub(super) client: HttpClient,
    pub(super) url: String,
    /// Headers set by mcprove.
    pub(super) headers: Vec<(String, String)>,
    /// Header fields of the user's.
    pub(super) wished: Arc<[(String, String)]>,
    pub(super) number: u64,
    pub(super) limit: usize,
    pub(super) has_session: bool,
    /// True if a broken stream can be taken up again: the legacy era of Streamable HTTP.
    pub(super) resumes: bool,
    /// The request needs no more effort.
    pub(super) settled: Arc<AtomicBool>,
    /// True on the stream that GET opens, on which no reply may come.
    pub(super) is_own_stream: bool,
    pub(super) queue: Queue,
}

/// Position from which a stream can be resumed.
struct Resume {
    last_id: Option<String>,
    retry: Duration,
}

/// Reason for the end of a stream or response.
enum End {
    /// Everything that was awaited has come.
    Done,
    /// The stream ended early.
    Broken(String),
    /// Something else came.
    Refused(Refused),
}

impl HttpExchange {
    /// Posts a request and passes the response to the transport.
    pub(super) async fn request(self, body: Bytes, id: u64, mut turn: Turn) {
        turn.wait().await;
        let posted = self.post(body).await;
        drop(turn);
        self.take_response(posted, id).await;
    }

    /// Passes the response to a direct request to the transport.
    pub(super) async fn take_over(self, replay: Replay, body: Bytes, id: u64) {
        let posted = self.replayed(replay, body).await;
        self.take_response(posted, id).await;
    }

    async fn take_response(self, posted: Result<Response<Incoming>, NoResponse>, id: u64) {
        let mut resume = Resume { last_id: None, retry: RETRY };
        let mut ended = match posted {
            Ok(response) => self.take_answer(response, id, &mut resume).await,
            Err(none) => End::Refused(none.into()),
        };
        let refused = loop {
            match ended {
                End::Done => return,
                End::Refused(refused) => break refused,
                // What is rare is kept aside: every exchange is as large as all that it may await.
                End::Broken(how) => match Box::pin(self.take_up(&mut resume, Some(id))).await {
                    Some(End::Refused(refused)) => {
                        break Refused {
                            what: format!(
                                "the event stream {how} before the reply came, and could not be taken up again: {}",
                                refused.what
                            ),
                            ..refused
                        };
                    }
                    Some(again) => ended = again,
                    None => {
                        break Refused {
                            what: format!("the event stream {how} before the reply came"),
                            help: Some("look into the server's log".to_owned()),
                            evidence: Bytes::new(),
                            status: None,
                            may_have_result: false,
                        };
                    }
                },
            }
        };
        self.arrive(Arrival::Refused { request: id, refused }).await;
    }

    /// Posts a notification or a reply; the server's response cannot fail anything.
    pub(super) async fn notify(self, body: Bytes, mut turn: Turn) {
        turn.wait().await;
        let posted = self.post(body).await;
        drop(turn);
        self.arrive(Arrival::Taken).await;
        match posted {
            Ok(response) => self.take_receipt(response).await,
            Err(none) => self.not_taken(none.into()).await,
        }
    }

    /// Opens the stream that the server may use at any time; a server without one says so.
    pub(super) async fn listen(mut self, mut turn: Turn) {
        self.is_own_stream = true;
        turn.wait().await;
        let mut resume = Resume { last_id: None, retry: RETRY };
        let Ok(response) = self.get(None).await else { return };
        drop(turn);
        if response.status().is_server_error() {
            let Refusal { refused, .. } = refusal(response, &Method::GET, self.limit).await;
            let what = format!("the server's own stream could not be opened: {}", refused.what);
            return self.arrive(Arrival::Odd { rule: "refused-stream", what, evidence: refused.evidence }).await;
        }
        if !is_event_stream(&response) {
            return;
        }
        let mut ended = self.take_stream(response.into_body(), None, &mut resume).await;
        while let End::Broken(_) = ended {
            match self.take_up(&mut resume, None).await {
                Some(again) => ended = again,
                None => return,
            }
        }
    }

    /// Opens the one stream of the HTTP+SSE transport and stays on it.
    pub(super) async fn subscribe(self) {
        let refused = match self.get(None).await {
            Ok(response) if is_event_stream(&response) => {
                let mut resume = Resume { last_id: None, retry: RETRY };
                let what = match self.take_stream(response.into_body(), None, &mut resume).await {
                    End::Done => "the server ended its event stream".to_owned(),
                    End::Broken(how) => format!("the server's event stream {how}"),
                    End::Refused(refused) => refused.what,
                };
                return self.arrive(Arrival::Closed { what, end: None }).await;
            }
            Ok(response) => refusal(response, &Method::GET, self.limit).await.refused,
            Err(none) => none.into(),
        };
        self.emit(ExchangeEvent::NoStream(refused)).await;
    }

    /// Posts a message whose reply comes on another stream (HTTP+SSE).
    pub(super) async fn post_only(self, body: Bytes, request: Option<u64>, mut turn: Turn) {
        turn.wait().await;
        let posted = self.post(body).await;
        drop(turn);
        self.arrive(Arrival::Taken).await;
        let refused = match posted {
            Ok(response) if response.status().is_success() => return self.take_receipt(response).await,
            Ok(response) => refusal(response, &Method::POST, self.limit).await.refused,
            Err(none) => none.into(),
        };
        match request {
            Some(request) => self.arrive(Arrival::Refused { request, refused }).await,
            None => self.not_taken(refused).await,
        }
    }

    /// Ends the session.
    pub(super) async fn delete(self) {
        // A server may refuse to end sessions (405); ours is over either way.
        let _ = self.ask(Method::DELETE, Vec::new(), Bytes::new()).await;
    }

    /// Takes a broken stream up again after its last event, if that can be done (2025-11-25, "Resumability and
    /// Redelivery"). A server may break the stream off again, as it does when it is polled.
    async fn take_up(&self, resume: &mut Resume, request: Option<u64>) -> Option<End> {
        let mut how = None;
        for _ in 0..RESUMPTIONS {
            let id = resume.last_id.clone().filter(|_| self.resumes && !self.settled.load(Ordering::Relaxed))?;
            sleep(resume.retry).await;
            if self.settled.load(Ordering::Relaxed) {
                return Some(End::Done);
            }
            let ended = match self.get(Some(&id)).await {
                Ok(response) if is_event_stream(&response) => {
                    self.take_stream(response.into_body(), request, resume).await
                }
                Ok(response) => End::Refused(refusal(response, &Method::GET, self.limit).await.refused),
                Err(none) => End::Refused(none.into()),
            };
            match ended {
                End::Broken(again) => how = Some(again),
                End::Done | End::Refused(_) => return Some(ended),
            }
        }
        let what = format!("it {} each of {RESUMPTIONS} times", how.unwrap_or_default());
        Some(End::Refused(Refused { what, help: None, evidence: Bytes::new(), status: None, may_have_result: false }))
    }

    async fn take_answer(&self, response: Response<Incoming>, id: u64, resume: &mut Resume) -> End {
        if let Some(session) = header(&response, "mcp-session-id") {
            self.emit(ExchangeEvent::SessionId(session)).await;
        }
        let status = response.status();
        if let Some(encoding) = header(&response, "content-encoding").filter(|e| e != "identity") {
            let Refusal { refused, .. } = Box::pin(refusal(response, &Method::POST, self.limit)).await;
            let encoding = shorten(&escape_line(&encoding), 40).into_owned();
            return End::Refused(Refused {
                what: format!("the server answered with `Content-Encoding: {encoding}`, which was not asked for"),
                help: Some("send plain bodies to clients that do not send `Accept-Encoding`".to_owned()),
                ..refused
            });
        }
        let has = |name: &str| response.headers().contains_key(name);
        if has("transfer-encoding") && has("content-length") {
            let Refusal { refused, .. } = Box::pin(refusal(response, &Method::POST, self.limit)).await;
            return End::Refused(Refused {
                what: "the response has `Transfer-Encoding` and `Content-Length`".to_owned(),
                help: Some("send one of them: proxies and clients differ in which one counts".to_owned()),
                ..refused
            });
        }
        let kinds = response.headers().get_all(hyper::header::CONTENT_TYPE).iter().count();
        if kinds > 1 {
            let what =
                format!("the response has {kinds} `Content-Type` headers; clients read the first, the last or both");
            self.arrive(Arrival::Odd { rule: "repeated-content-type", what, evidence: Bytes::new() }).await;
        }
        if status == StatusCode::ACCEPTED && (is_event_stream(&response) || is_json(&response)) {
            // 202 is the receipt for a notification; the official clients read no body after it.
            let Refusal { refused, .. } = Box::pin(refusal(response, &Method::POST, self.limit)).await;
            return End::Refused(Refused {
                what: "a request was answered with HTTP 202, after which clients read no reply".to_owned(),
                help: Some("answer requests with HTTP 200; 202 is for notifications and replies".to_owned()),
                may_have_result: true,
                ..refused
            });
        }
        if status.is_success() && status != StatusCode::OK && (is_event_stream(&response) || is_json(&response)) {
            let what = format!("a request was answered with HTTP {}, not 200", status.as_u16());
            self.arrive(Arrival::Odd { rule: "odd-status", what, evidence: Bytes::new() }).await;
        }
        if status.is_success() && is_event_stream(&response) {
            return Box::pin(self.take_stream(response.into_body(), Some(id), resume)).await;
        }
        if status.is_success() && is_json(&response) {
            return match read_body(response.into_body(), self.limit).await {
                Ok(message) if !message.trim_ascii().is_empty() => self.last_answer(id, message, status).await,
                Ok(message) => End::Refused(Refused {
                    what: format!("the server answered with an empty body (HTTP {})", status.as_u16()),
                    help: Some("a request wants a JSON-RPC reply".to_owned()),
                    evidence: message,
                    status: Some(status.as_u16()),
                    may_have_result: false,
                }),
                Err((read, how)) => End::Refused(broken_body(&read, &how, status)),
            };
        }
        let (refused, awaited) = refusal_of_request(response, self.limit);
        self.arrive(Arrival::Refusing { request: id, refused }).await;
        let Refusal { refused, reply } = Box::pin(awaited).await;
        let Some((reply, message)) = reply.filter(|_| !status.is_success()) else {
            return self.refused(refused, status).await;
        };
        if let ReplyBody::Result(_) = reply.body {
            // Clients look at the status first, and most look no further.
            return End::Refused(Refused {
                what: format!("{}, with a JSON-RPC result in its body", refused.what),
                help: Some("send results with HTTP 200".to_owned()),
                may_have_result: true,
                ..refused
            });
        }
        // An error status may well carry a proper JSON-RPC error; then that is the answer. But some statuses belong to
        // the transport, unless the id of the reply shows that it belongs to the protocol.
        let is_ours = reply.id.as_ref().and_then(Value::as_u64) == Some(id);
        let of_transport = match status.as_u16() {
            401 | 403 | 405 | 429 => true,
            404 => self.has_session && !is_ours,
            _ => false,
        };
        if of_transport { self.refused(refused, status).await } else { self.last_answer(id, message, status).await }
    }

    async fn last_answer(&self, request: u64, message: Bytes, status: StatusCode) -> End {
        self.arrive(Arrival::Answer { request, message, status: status.as_u16(), last: true }).await;
        End::Done
    }

    async fn refused(&self, mut refused: Refused, status: StatusCode) -> End {
        if status == StatusCode::NOT_FOUND && self.has_session {
            "the server no longer knows the session (HTTP 404)".clone_into(&mut refused.what);
            refused.help = Some("the server ended the session or was restarted".to_owned());
            self.arrive(Arrival::Lost).await;
        }
        End::Refused(refused)
    }

    /// Handles the response to a message that expects no reply.
    async fn take_receipt(&self, response: Response<Incoming>) {
        let status = response.status();
        if !status.is_success() {
            let Refusal { refused, .. } = refusal(response, &Method::POST, self.limit).await;
            if let End::Refused(refused) = self.refused(refused, status).await {
                self.not_taken(refused).await;
            }
            return;
        }
        if is_event_stream(&response) {
            let mut resume = Resume { last_id: None, retry: RETRY };
            self.take_stream(response.into_body(), None, &mut resume).await;
            return;
        }
        // Read to the end, so that the connection can be used again.
        let reading = read_body(response.into_body(), RECEIPT);
        let Ok(Ok(body) | Err((body, _))) = timeout(LINGER, reading).await else { return };
        if let Message::Reply(_) = classify(&body) {
            let what = "the server answered a POST with an unexpected reply".to_owned();
            self.arrive(Arrival::Odd { rule: "unasked-reply", what, evidence: body }).await;
        }
    }

    async fn not_taken(&self, refused: Refused) {
        let what = format!("a message was not taken: {}", refused.what);
        self.arrive(Arrival::Odd { rule: "refused-message", what, evidence: refused.evidence }).await;
    }

    async fn take_stream(&self, mut body: Incoming, request: Option<u64>, resume: &mut Resume) -> End {
        let mut parser = SseParser::new(self.limit);
        let mut answered: Option<Instant> = None;
        loop {
            let frame = match answered {
                Some(until) if Instant::now() >= until => return End::Done,
                Some(until) => match timeout_at(until, body.frame()).await {
                    Ok(frame) => frame,
                    Err(_) => return End::Done,
                },
                None => body.frame().await,
            };
            let how = match frame {
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    let Ok(events) = parser.push(&data) else {
                        return End::Refused(Refused {
                            what: format!("an event of the server is longer than {}", size(self.limit)),
                            help: None,
                            evidence: data.slice(..data.len().min(1 << 10)),
                            status: None,
                            may_have_result: false,
                        });
                    };
                    for event in events {
                        if let Some(ms) = event.retry {
                            resume.retry = Duration::from_millis(ms);
                        }
                        if let Some(id) = &event.id {
                            // An empty id takes back the last one (HTML, "Server-sent events"); a long one fits no header.
                            resume.last_id = Some(id).filter(|id| !id.is_empty() && id.len() <= LONGEST_ID).cloned();
                        }
                        if self.take_event(event, request).await && answered.is_none() {
                            answered = Some(Instant::now() + LINGER);
                        }
                    }
                    continue;
                }
                _ if answered.is_some() => return End::Done,
                None if parser.is_inside() => "ended in the middle of an event".to_owned(),
                None => "ended".to_owned(),
                Some(Err(error)) => format!("broke off ({})", deepest(&error)),
            };
            return End::Broken(how);
        }
    }

    /// Passes an event to the transport; true if it was the awaited reply.
    async fn take_event(&self, event: SseEvent, request: Option<u64>) -> bool {
        let kind = event.event.as_deref().filter(|kind| !kind.is_empty()).unwrap_or("message");
        let data = event.data.unwrap_or_default();
        if data.is_empty() {
            // Comments and priming events are part of the record, not of the conversation.
            let text = if event.comments.is_empty() { "priming".to_owned() } else { event.comments.join("\n") };
            self.log_event(kind, Bytes::from(text)).await;
            return false;
        }
        let answers = request.filter(|id| is_reply_to(&data, *id));
        if kind != "message" {
            self.take_foreign_event(kind, data, answers).await;
            return answers.is_some();
        }
        if self.is_own_stream && is_reply(&data) {
            // Only a stream that resumes that of a request may have its reply (2025-11-25, "Listening for Messages from the Server").
            let what = "a reply came on the stream that GET opens, not on that of its request".to_owned();
            self.arrive(Arrival::Odd { rule: "reply-on-get-stream", what, evidence: data.clone() }).await;
        }
        let arrival = match request {
            Some(request) => Arrival::Answer { request, message: data, status: 200, last: false },
            None => Arrival::Message(data),
        };
        self.arrive(arrival).await;
        answers.is_some()
    }

    /// Handles an event whose type is not that of a message. Clients pass it over, so a reply in it is lost on them.
    async fn take_foreign_event(&self, kind: &str, data: Bytes, answers: Option<u64>) {
        self.log_event(kind, data.clone()).await;
        if kind == "endpoint" {
            self.emit(ExchangeEvent::Endpoint(String::from_utf8_lossy(&data).into_owned())).await;
        } else if let Some(request) = answers {
            let kind = shorten(&escape_line(kind), 40).into_owned();
            let refused = Refused {
                what: format!("the reply came in an event of the type `{kind}`, which clients pass over"),
                help: Some("send messages in events of the type `message`, or of none".to_owned()),
                evidence: data,
                status: None,
                may_have_result: false,
            };
            self.arrive(Arrival::Refused { request, refused }).await;
        }
    }

    pub(super) async fn log(&self, direction: Direction, part: WirePart, body: Bytes) {
        self.arrive(Arrival::Part { direction, part, body }).await;
    }

    async fn log_event(&self, event: &str, body: Bytes) {
        let part = WirePart::StreamEvent { exchange: self.number, event: event.to_owned() };
        self.log(Direction::Received, part, body).await;
    }

    async fn arrive(&self, arrival: Arrival) {
        self.emit(ExchangeEvent::Arrival(arrival)).await;
    }

    async fn emit(&self, event: ExchangeEvent) {
        self.queue.send(event).await;
    }
}

fn is_of_type(response: &Response<Incoming>, media_type: &[u8]) -> bool {
    let kind = response.headers().get(hyper::header::CONTENT_TYPE).map_or(&[][..], HeaderValue::as_bytes);
    kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii().eq_ignore_ascii_case(media_type)
}

fn is_event_stream(response: &Response<Incoming>) -> bool {
    response.status().is_success() && is_of_type(response, b"text/event-stream")
}

fn is_json(response: &Response<Incoming>) -> bool {
    is_of_type(response, b"application/json")
}

/// The id of a reply, without building its tree; none for other messages.
fn reply_id(data: &[u8]) -> Option<Value> {
    #[derive(Deserialize)]
    struct Peek {
        id: Option<Value>,
        method: Option<IgnoredAny>,
    }
    serde_json::from_slice::<Peek>(data).ok().filter(|peek| peek.method.is_none())?.id
}

fn is_reply(data: &[u8]) -> bool {
    reply_id(data).is_some()
}

fn is_reply_to(data: &[u8], id: u64) -> bool {
    reply_id(data).as_ref().and_then(Value::as_u64) == Some(id)
}
