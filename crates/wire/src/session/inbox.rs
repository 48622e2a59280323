//! Incoming messages and their effect on open requests.

use bytes::Bytes;
use mcprove_model::{
    Direction, Finding, FrameKind, Malformed, Notification, Outcome, Refused, Revision, WirePart, escape_line, shorten,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::time::Instant;

use super::{Answer, Session, Suspect};
use crate::memory_reservation::Room;
use crate::message::{Measured, Message, NonProtocol, Reply, ReplyBody, measure};
use crate::transport::Arrival;

/// The size from which on messages of a flood are not read any more.
const LARGE: usize = 64 << 10;
/// Maximum number of oddities kept per session; more of the same add nothing.
const ODDITIES: usize = 20;

impl Session {
    /// Takes in whatever arrived.
    pub(super) fn take_in(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Message(bytes) => self.take_message(&bytes),
            Arrival::Oversized(head) => {
                self.received(FrameKind::Stray, head.clone());
                let limit = match self.limits.message_bytes {
                    bytes if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
                    bytes => format!("{bytes} bytes"),
                };
                self.suspect(&format!("is longer than {limit} (what is over the limit was not read)"), &head);
            }
            Arrival::Part { direction, part, body } => self.log.add(direction, FrameKind::Transport, part, body),
            Arrival::Answer { request, message, status, last } => {
                self.status = Some(status);
                self.origin = Some(request);
                self.take_message(&message);
                self.origin = None;
                if last {
                    self.end_of_exchange(request, message, status);
                }
            }
            Arrival::Refusing { request, refused } => {
                if let Some(at) = self.unanswered(request) {
                    self.pending[at].refusal = Some(Box::new(refused));
                }
            }
            Arrival::Refused { request, refused } => self.take_refusal(request, refused),
            Arrival::Odd { rule, what, evidence } => self.odd(rule, what, &evidence),
            Arrival::Taken => {}
            Arrival::Lost => self.lost = true,
            Arrival::Torn(rest) => {
                self.received(FrameKind::Stray, rest);
                self.torn = true;
            }
            Arrival::Closed { what, end } => {
                let what = if self.torn { format!("{what} in the middle of a message") } else { what };
                self.closed = Some((what, end));
            }
        }
    }

    /// Processes one message, or the bytes in place of one.
    pub(super) fn take_message(&mut self, bytes: &Bytes) {
        if self.flood.messages > 0 && bytes.len() > LARGE && is_unasked(bytes) {
            // A server that floods its client does not get its messages read.
            self.received(FrameKind::Notification, bytes.clone());
            return self.flood.add(bytes.len());
        }
        let Measured { message, size, duplicate, inexact } = measure(bytes);
        self.received(message.kind(), bytes.clone());
        if let Some(key) = duplicate
            && !matches!(message, Message::NonProtocol(_))
        {
            let key = shorten(&escape_line(&key), 80).into_owned();
            let text = format!("a message has the key `{key}` twice; clients read it differently");
            self.odd("duplicate-keys", text, bytes);
        }
        if let Some(number) = inexact
            && !matches!(message, Message::NonProtocol(_))
        {
            let number = shorten(&number, 80);
            let text = format!("a message has the integer {number}, which is read, and compared, as a rounded number");
            self.odd("inexact-number", text, bytes);
        }
        let is_kept = match &message {
            Message::Notification { .. } => self.notifications.len() < self.limits.notifications,
            Message::Request { .. } => self.server_requests.len() < self.limits.notifications,
            Message::Reply(_) | Message::Batch(_) | Message::NonProtocol(_) => false,
        };
        if is_kept {
            match self.kept.add(size + bytes.len(), self.limits.kept_bytes, self.limits.run_bytes) {
                Room::Enough => {}
                Room::UsedUp => return self.flood.add(bytes.len()),
                Room::UsedByOthers => return self.flood.notifications += 1,
            }
        }
        if let Message::NonProtocol(output) = message {
            self.take_non_protocol(output, bytes);
        } else {
            self.non_protocol.interrupted();
            self.dispatch(message, bytes);
        }
    }

    fn take_refusal(&mut self, request: u64, refused: Refused) {
        if !refused.evidence.is_empty() {
            self.received(FrameKind::Stray, refused.evidence.clone());
        }
        self.end_with(request, refused);
    }

    /// Everything has come on the exchange of a request. If the reply was not in it, it will not come at all.
    fn end_of_exchange(&mut self, request: u64, message: Bytes, status: u16) {
        if self.unanswered(request).is_none() {
            return;
        }
        self.end_with(
            request,
            Refused {
                what: format!("the server's answer holds no reply to the request (HTTP {status})"),
                help: Some("a request wants a JSON-RPC reply with its id".to_owned()),
                evidence: message,
                status: Some(status),
                may_have_result: false,
            },
        );
    }

    /// Ends a request that has no answer yet: with what was probably meant as one, or with the refusal.
    fn end_with(&mut self, request: u64, refused: Refused) {
        let Some(at) = self.unanswered(request) else { return };
        if let Some(Suspect { outcome, bytes, .. }) = self.pending[at].suspect.take() {
            return self.answer_with(at, outcome, &bytes);
        }
        let evidence = refused.evidence.clone();
        self.answer_with(at, Outcome::Refused(refused), &evidence);
    }

    /// The position of a request that has no answer yet.
    fn unanswered(&self, request: u64) -> Option<usize> {
        self.pending.iter().position(|p| p.id == request && p.answer.is_none())
    }

    fn take_non_protocol(&mut self, output: NonProtocol, bytes: &Bytes) {
        if output == NonProtocol::Blank {
            return;
        }
        if !self.transport.has_lines() {
            // On HTTP, nothing but messages comes this way.
            let why = match output {
                NonProtocol::Unreadable(why) => why,
                NonProtocol::Blank | NonProtocol::Text => "is not a JSON-RPC message".to_owned(),
            };
            return self.suspect(&why, bytes);
        }
        if let Some((message, whole)) = self.non_protocol.add(bytes, self.limits.message_bytes) {
            let fault = "spans several lines (on stdio, a message is one line)";
            match message {
                Message::Reply(reply) => {
                    self.take_reply(Reply { id: reply.id, body: ReplyBody::Broken(fault.to_owned()) }, &whole);
                }
                other => {
                    self.odd("malformed-message", format!("a message from the server {fault}"), &whole);
                    self.dispatch(other, &whole);
                }
            }
        } else if let NonProtocol::Unreadable(why) = output {
            self.suspect(&why, bytes);
        }
    }

    fn dispatch(&mut self, message: Message, bytes: &Bytes) {
        match message {
            Message::Reply(reply) => self.take_reply(reply, bytes),
            Message::Notification { method, params } => self.take_notification(method, params),
            Message::Request { id, method, params } => {
                if self.is_modern() {
                    let text =
                        format!("the server sent the request `{method}`, which {} forbids", self.negotiated.revision);
                    self.odd("forbidden-request", text, bytes);
                }
                self.respond(&id, method, params);
            }
            Message::Batch(messages) => self.take_batch(messages, bytes),
            Message::NonProtocol(_) => {}
        }
    }

    fn take_batch(&mut self, messages: Vec<Message>, bytes: &Bytes) {
        // Batches exist in 2025-03-26 alone (basic, "Batching"): receivers must take them there.
        let allowed = self.negotiated.revision == Revision::V2025_03_26;
        let fault = format!("came in a batch, which revision {} does not have", self.negotiated.revision);
        for message in messages {
            match message {
                Message::Reply(reply) if !allowed => {
                    self.take_reply(Reply { id: reply.id, body: ReplyBody::Broken(fault.clone()) }, bytes);
                }
                other => {
                    if !allowed {
                        self.odd("malformed-message", format!("a message from the server {fault}"), bytes);
                    }
                    self.dispatch(other, bytes);
                }
            }
        }
    }

    fn take_notification(&mut self, method: String, params: Value) {
        if self.notifications.len() >= self.limits.notifications {
            self.flood.notifications += 1;
            return;
        }
        if method == "notifications/tools/list_changed" {
            self.schemas = None;
        }
        let at_us = self.log.now_us();
        self.notifications.push(Notification { at_us, method, params });
    }

    fn take_reply(&mut self, reply: Reply, bytes: &Bytes) {
        if let Some(at) = self.raw_open(reply.id.as_ref()) {
            return self.answer(at, reply.body, bytes);
        }
        match &reply.id {
            Some(Value::Number(number)) if number.as_u64().is_some_and(|id| id > 0 && id < self.next_id) => {
                let id = number.as_u64().unwrap_or_default();
                if self.cancelled.contains(&id) {
                    self.late_replies.push(id);
                    let text = format!("a late reply to the cancelled request {id} arrived");
                    return self.add_odd(Finding::note("late-reply", text), bytes);
                }
                match self.pending.iter().position(|p| p.id == id && p.answer.is_none()) {
                    Some(at) => self.answer(at, reply.body, bytes),
                    None => self.odd("duplicate-reply", format!("a second reply to request {id} arrived"), bytes),
                }
            }
            Some(Value::Null) if matches!(reply.body, ReplyBody::Error(_)) => match self.only_open() {
                // An error without an id means that the request could not be read (JSON-RPC 2.0, section 5).
                Some(at) => self.answer(at, reply.body, bytes),
                None => self.odd("unknown-id", "an error without an id arrived while nothing was asked", bytes),
            },
            Some(Value::Number(number)) if number.as_u64() == Some(self.next_id) && self.only_open().is_none() => {
                let text = format!("a reply to request {number} arrived before the request was sent");
                self.odd("early-reply", text, bytes);
            }
            Some(id) => match self.open_with_id_like(id) {
                Some(at) => {
                    let fault = format!("has the id {id}, but the request had {}", self.pending[at].id);
                    self.answer(at, ReplyBody::Broken(fault), bytes);
                }
                None => self.suspect_id(id, bytes),
            },
            None => match self.only_open() {
                Some(at) => self.answer(at, ReplyBody::Broken("has no id".to_owned()), bytes),
                None => self.odd("unknown-id", "a reply without an id arrived", bytes),
            },
        }
    }

    fn answer(&mut self, at: usize, body: ReplyBody, bytes: &Bytes) {
        // The right reply came, so what looked like a broken one was something else.
        if let Some(Suspect { rule, fault, bytes, .. }) = self.pending[at].suspect.take() {
            self.odd(rule, format!("a message from the server {fault}"), &bytes);
        }
        let outcome = match body {
            ReplyBody::Result(result) => Outcome::Result(result),
            ReplyBody::Error(error) => Outcome::Error(error),
            ReplyBody::Broken(fault) => broken(&fault, bytes),
        };
        self.answer_with(at, outcome, bytes);
    }

    fn answer_with(&mut self, at: usize, outcome: Outcome, bytes: &Bytes) {
        let pending = &mut self.pending[at];
        let elapsed_us = u64::try_from(pending.sent_at.elapsed().as_micros()).unwrap_or(u64::MAX);
        pending.answer = Some(Answer { outcome, reply: bytes.clone(), elapsed_us });
        let id = pending.id;
        self.transport.settled(id);
    }

    /// The request sent as raw bytes that a reply must belong to, because nothing else has its id.
    fn raw_open(&self, id: Option<&Value>) -> Option<usize> {
        let at = self.pending.iter().position(|p| p.raw && p.answer.is_none())?;
        let claimed = id.and_then(Value::as_u64).is_some_and(|id| {
            self.cancelled.contains(&id) || self.pending.iter().any(|p| p.id == id && !p.raw && p.answer.is_none())
        });
        (!claimed).then_some(at)
    }

    /// The request that a message without a proper id must belong to: the one on whose exchange it came, or the one
    /// open request, if there is exactly one.
    fn only_open(&self) -> Option<usize> {
        let waits = |p: &super::Pending| p.answer.is_none() && !p.stands;
        if let Some(origin) = self.origin {
            return self.pending.iter().position(|p| p.id == origin && waits(p));
        }
        let mut open = self.pending.iter().enumerate().filter(|(_, p)| waits(p)).map(|(at, _)| at);
        open.next().filter(|_| open.next().is_none())
    }

    /// An open request whose id has the same value in another JSON type: `"3"` or `3.0` for `3`.
    fn open_with_id_like(&self, id: &Value) -> Option<usize> {
        let text = match id {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.as_f64()?.to_string(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        self.pending.iter().position(|p| p.answer.is_none() && p.id.to_string() == text)
    }

    fn suspect_id(&mut self, id: &Value, bytes: &Bytes) {
        let Some(at) = self.only_open() else {
            return self.odd("unknown-id", format!("a reply with the unknown id {id} arrived"), bytes);
        };
        let ours = self.pending[at].id;
        self.suspect_of("unknown-id", &format!("has the id {id}, but the request had {ours}"), bytes);
    }

    /// Something came that is probably a broken reply to the one open request. The right one may still come, so
    /// the request ends with this only when a moment has passed.
    fn suspect(&mut self, fault: &str, bytes: &Bytes) {
        self.suspect_of("malformed-message", fault, bytes);
    }

    fn suspect_of(&mut self, rule: &'static str, fault: &str, bytes: &Bytes) {
        let Some(at) = self.only_open() else {
            return self.odd(rule, format!("a message from the server {fault}"), bytes);
        };
        let until = Instant::now() + self.limits.settle;
        let pending = &mut self.pending[at];
        if pending.suspect.is_none() {
            let (fault, outcome) = (fault.to_owned(), broken(fault, bytes));
            pending.suspect = Some(Suspect { until, rule, fault, outcome, bytes: bytes.clone() });
        }
    }

    pub(super) fn odd(&mut self, rule: &'static str, message: impl Into<String>, bytes: &Bytes) {
        self.add_odd(Finding::warning(rule, message), bytes);
    }

    fn add_odd(&mut self, mut finding: Finding, bytes: &Bytes) {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]);
        finding.actual = Some(shorten(&escape_line(&text), 300).into_owned());
        self.keep_odd(finding);
    }

    pub(super) fn keep_odd(&mut self, finding: Finding) {
        if self.oddities.len() < ODDITIES {
            self.oddities.push(finding);
        }
    }

    fn received(&mut self, kind: FrameKind, bytes: Bytes) {
        self.log.add(Direction::Received, kind, WirePart::Message, bytes);
    }
}

/// True for a notification or request, without reading all of it.
fn is_unasked(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Peek {
        method: Option<IgnoredAny>,
    }
    serde_json::from_slice::<Peek>(bytes).is_ok_and(|peek| peek.method.is_some())
}

fn broken(fault: &str, bytes: &Bytes) -> Outcome {
    Outcome::Malformed(Malformed { fault: format!("the reply {fault}"), evidence: bytes.clone() })
}
