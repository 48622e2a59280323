//! Requests and notifications of ours, and waiting for what comes back.

use std::time::Duration;

use bytes::Bytes;
use mcprove_model::{Direction, Exchange, FrameKind, Outcome, Part};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::{Pending, Session};

/// How long a cancellation may take to go out to a server that does not read.
const FLUSH: Duration = Duration::from_millis(50);

#[derive(Serialize)]
struct Request<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Value::is_null")]
    params: &'a Value,
}

impl Session {
    /// Sends a request and waits for its end: a reply, a broken reply, the server's end, or the deadline.
    pub async fn request(&mut self, method: &str, params: Value, deadline: Instant) -> Exchange {
        let id = self.start(method, &params);
        self.finish(id, deadline).await
    }

    /// Calls a tool, asking for progress.
    pub async fn call_tool(&mut self, name: &str, arguments: &Value, deadline: Instant) -> Exchange {
        let id = self.start_tool(name, arguments);
        self.finish(id, deadline).await
    }

    /// Sends a tool call without waiting; [`Session::finish`] waits. The request's id is its progress token.
    pub fn start_tool(&mut self, name: &str, arguments: &Value) -> u64 {
        let mut params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": self.next_id}});
        if params["arguments"].is_null() {
            params.as_object_mut().map(|p| p.shift_remove("arguments"));
        }
        self.start("tools/call", &params)
    }

    /// Sends a request without waiting; several may be open at once.
    pub fn start(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let request = self.encode(&Request { jsonrpc: "2.0", id: Some(id), method, params });
        self.log.add(Direction::Sent, FrameKind::Request, Part::Message, request.clone());
        self.transport.send(&request);
        self.pending.push(Pending {
            id,
            method: method.to_owned(),
            request,
            sent_at: Instant::now(),
            first_notification: self.notifications.len(),
            suspect: None,
            answer: None,
        });
        id
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &Value) {
        let message = self.encode(&Request { jsonrpc: "2.0", id: None, method, params });
        self.log.add(Direction::Sent, FrameKind::Notification, Part::Message, message.clone());
        self.transport.send(&message);
    }

    /// Sends bytes exactly as they are, for tests of how a server takes what is wrong.
    pub fn send_raw(&mut self, bytes: Bytes) {
        self.transport.send_raw(&bytes);
        self.log.add(Direction::Sent, FrameKind::Stray, Part::Message, bytes);
    }

    pub(super) fn send_reply(&mut self, reply: &Value) {
        let message = self.encode(reply);
        self.log.add(Direction::Sent, FrameKind::Reply, Part::Message, message.clone());
        self.transport.send(&message);
    }

    #[expect(clippy::unused_self, reason = "the modern era adds to what is sent")]
    fn encode(&self, message: &impl Serialize) -> Bytes {
        Bytes::from(serde_json::to_vec(message).unwrap_or_default())
    }

    /// Waits for the end of a request that was started.
    pub async fn finish(&mut self, id: u64, deadline: Instant) -> Exchange {
        loop {
            let Some(at) = self.pending.iter().position(|p| p.id == id) else {
                unreachable!("a request is finished once");
            };
            if self.pending[at].answer.is_some() {
                return self.take_exchange(at, None);
            }
            let suspect_until = self.pending[at].suspect.as_ref().map(|(until, ..)| *until);
            if let Some((what, end)) = self.closed.clone() {
                if let Some((_, outcome, bytes)) = self.pending[at].suspect.take() {
                    return self.take_exchange(at, Some((outcome, Some(bytes))));
                }
                return self.take_exchange(at, Some((Outcome::Closed { what, end }, None)));
            }
            let until = suspect_until.map_or(deadline, |until| until.min(deadline));
            if let Ok(arrival) = timeout_at(until, self.transport.receive()).await {
                self.take_in(arrival);
            } else if let Some((_, outcome, bytes)) = self.pending[at].suspect.take() {
                return self.take_exchange(at, Some((outcome, Some(bytes))));
            } else {
                let after_ms = u64::try_from(self.pending[at].sent_at.elapsed().as_millis()).unwrap_or(u64::MAX);
                self.cancel(id, "timed out").await;
                return self.take_exchange(at, Some((Outcome::TimedOut { after_ms }, None)));
            }
        }
    }

    /// Tells the server that a request is given up; a late answer is recognised by its id.
    pub async fn cancel(&mut self, id: u64, reason: &str) {
        self.cancelled.push(id);
        let is_handshake = self.pending.iter().any(|p| p.id == id && p.method == "initialize");
        if is_handshake {
            // A client must not cancel `initialize` (2025-11-25, "Cancellation").
            return;
        }
        self.notify("notifications/cancelled", &json!({"requestId": id, "reason": reason}));
        self.flush(Instant::now() + FLUSH).await;
    }

    /// Takes in what arrives until `until`, or until the server is gone.
    pub async fn listen(&mut self, until: Instant) {
        while self.closed.is_none() {
            match timeout_at(until, self.transport.receive()).await {
                Ok(arrival) => self.take_in(arrival),
                Err(_) => return,
            }
        }
    }

    async fn flush(&mut self, until: Instant) {
        while !self.transport.is_flushed() && self.closed.is_none() {
            match timeout_at(until, self.transport.receive()).await {
                Ok(arrival) => self.take_in(arrival),
                Err(_) => return,
            }
        }
    }

    fn take_exchange(&mut self, at: usize, ended: Option<(Outcome, Option<Bytes>)>) -> Exchange {
        let pending = self.pending.remove(at);
        let elapsed = u64::try_from(pending.sent_at.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (outcome, reply, elapsed_us) = match (ended, pending.answer) {
            (Some((outcome, reply)), _) => (outcome, reply, elapsed),
            (None, Some(answer)) => (answer.outcome, Some(answer.reply), answer.elapsed_us),
            (None, None) => unreachable!("an exchange ends with an answer or a reason"),
        };
        Exchange {
            method: pending.method,
            request: pending.request,
            reply,
            outcome,
            elapsed_us,
            notifications: self.notifications[pending.first_notification..].to_vec(),
        }
    }
}
