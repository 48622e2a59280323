//! Requests and notifications of the client, and waiting for replies.

use std::time::Duration;

use bytes::Bytes;
use mcprove_model::{Direction, Exchange, FrameKind, Outcome, Refused, WirePart};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::modern::parameter_headers;
use super::window::{AROUND, write_call};
use super::{Pending, Session};
use crate::transport::Outgoing;

/// Time for a cancellation to go out to a server that does not read.
const FLUSH: Duration = Duration::from_millis(50);

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

/// One of several tool calls that are made at once.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
    /// Capabilities that its request claims in the stateless revision; `None` for the real ones.
    pub claims: Option<Value>,
}

impl Session {
    /// Sends a request and waits for its end: a reply, a broken reply, the server's end, or the deadline.
    pub async fn request(&mut self, method: &str, params: Value, deadline: Instant) -> Exchange {
        let id = self.start(method, &params);
        let exchange = self.finish(id, deadline).await;
        if self.is_modern() { self.answer_input_requests(exchange, &params, deadline).await } else { exchange }
    }

    /// Calls a tool, asking for progress.
    pub async fn call_tool(&mut self, name: &str, arguments: &Value, deadline: Instant) -> Exchange {
        self.learn_schemas(deadline).await;
        if let Some(refused) = self.unusable(name) {
            return not_sent(refused);
        }
        if !self.is_modern() {
            let id = self.start_call(name, arguments);
            return self.finish(id, deadline).await;
        }
        let params = self.tool_params(name, arguments);
        self.request("tools/call", params, deadline).await
    }

    /// Waits for the end of a tool call that was started; input that its results ask for is given.
    pub async fn finish_call(&mut self, id: u64, name: &str, arguments: &Value, deadline: Instant) -> Exchange {
        let exchange = self.finish(id, deadline).await;
        if !self.is_modern() {
            return exchange;
        }
        let params = tool_params(name, arguments, id);
        Box::pin(self.answer_input_requests(exchange, &params, deadline)).await
    }

    /// Calls several tools at once and waits for all of them; the exchanges come in the order of the calls.
    pub async fn call_tools(&mut self, calls: &[ToolCall], deadline: Instant) -> Vec<Exchange> {
        if let [ToolCall { name, arguments, claims }] = calls {
            self.claim(claims.clone());
            let exchange = self.call_tool(name, arguments, deadline).await;
            self.claim(None);
            return vec![exchange];
        }
        self.learn_schemas(deadline).await;
        let mut started = Vec::with_capacity(calls.len());
        for ToolCall { name, arguments, claims } in calls {
            self.claim(claims.clone());
            started.push(if let Some(refused) = self.unusable(name) {
                Err(refused)
            } else {
                let params = self.tool_params(name, arguments);
                Ok((self.start("tools/call", &params), params))
            });
        }
        let mut exchanges = Vec::with_capacity(calls.len());
        for (call, ToolCall { claims, .. }) in started.into_iter().zip(calls) {
            // What is asked for on the way is given in requests that claim the same.
            self.claim(claims.clone());
            exchanges.push(match call {
                Ok((id, params)) => {
                    let exchange = self.finish(id, deadline).await;
                    if self.is_modern() {
                        self.answer_input_requests(exchange, &params, deadline).await
                    } else {
                        exchange
                    }
                }
                Err(refused) => not_sent(refused),
            });
        }
        self.claim(None);
        exchanges
    }

    /// The params of a tool call. The request's id is its progress token.
    pub fn tool_params(&self, name: &str, arguments: &Value) -> Value {
        tool_params(name, arguments, self.next_id)
    }

    /// Authored params with a progress token; the rest of them stays.
    pub fn with_progress_token(&self, mut params: Value) -> Value {
        let map = params.as_object_mut();
        let meta = map.map(|map| map.entry("_meta").or_insert_with(|| json!({}))).and_then(Value::as_object_mut);
        if let Some(meta) = meta {
            meta.entry("progressToken").or_insert_with(|| json!(self.next_id));
        }
        params
    }

    /// On HTTP in the modern era a call mirrors annotated arguments, so the schemas must be known, as a host knows
    /// them. [`Session::call_tool`] does this by itself; callers that start calls by hand do it first.
    pub async fn learn_schemas(&mut self, deadline: Instant) {
        if self.has_schemas() {
            return;
        }
        let listing = Box::pin(self.list("tools/list", "tools", deadline)).await;
        let named = |tool: &Value| {
            let name = tool.get("name").and_then(Value::as_str)?;
            Some((name.to_owned(), tool.get("inputSchema")?.clone()))
        };
        self.schemas = Some(listing.items.iter().filter_map(named).collect());
    }

    /// True if the schemas are known where a call needs them.
    pub(super) fn has_schemas(&self) -> bool {
        !self.is_modern() || self.transport.name() != "http" || self.schemas.is_some()
    }

    /// Reason why a tool may not be called over this transport: clients must leave out a tool whose `x-mcp-header` is
    /// invalid (2026-07-28, "Custom Headers").
    pub(super) fn unusable(&self, name: &str) -> Option<Refused> {
        let schema = self.schemas.as_ref()?.get(name)?;
        let reason = parameter_headers(schema, &Value::Null).err()?;
        Some(Refused {
            what: format!("the tool `{name}` cannot be called over HTTP: its `x-mcp-header` is invalid: {reason}"),
            help: Some("clients must leave such a tool out; fix the annotation in its `inputSchema`".to_owned()),
            evidence: Bytes::from(schema.to_string()),
            status: None,
            may_have_result: false,
        })
    }

    /// Sends a request without waiting; several may be open at once.
    pub fn start(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.begin_request();
        let dressed = if self.is_modern() { Some(self.with_meta(params)) } else { None };
        let params = dressed.as_ref().unwrap_or(params);
        let headers = if dressed.is_some() { self.mirrored_headers(method, params) } else { Vec::new() };
        let params = Some(params).filter(|params| !params.is_null());
        self.send_request(id, method, encode(&Request { jsonrpc: "2.0", id: Some(id), method, params }), headers);
        id
    }

    /// Sends a tool call without waiting. [`Session::learn_schemas`] comes first, once per session.
    pub fn start_call(&mut self, tool: &str, arguments: &Value) -> u64 {
        if self.is_modern() {
            let params = self.tool_params(tool, arguments);
            return self.start("tools/call", &params);
        }
        let id = self.begin_request();
        let (name, arguments) = (json_text(tool), json_text(arguments));
        let mut request = Vec::with_capacity(AROUND + name.len() + arguments.len());
        write_call(&mut request, id, &name, &arguments);
        self.send_request(id, "tools/call", request.into(), Vec::new());
        id
    }

    /// The id of the next request.
    fn begin_request(&mut self) -> u64 {
        // What is there already cannot be the answer to what is sent only now.
        self.transport.hold(true);
        self.look_at_some();
        self.transport.hold(false);
        let id = self.next_id;
        self.next_id += 1;
        self.status = None;
        id
    }

    fn send_request(&mut self, id: u64, method: &str, request: Bytes, headers: Vec<(String, String)>) {
        self.log.add(Direction::Sent, FrameKind::Request, WirePart::Message, request.clone());
        let sent_at = Instant::now();
        self.transport.send(Outgoing { body: request.clone(), request: Some(id), headers });
        self.pending.push(Pending {
            id,
            method: method.to_owned(),
            request,
            sent_at,
            stands: false,
            raw: false,
            suspect: None,
            refusal: None,
            answer: None,
        });
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &Value) {
        let sent = Some(params).filter(|params| !params.is_null());
        let message = encode(&Request { jsonrpc: "2.0", id: None, method, params: sent });
        let headers = if self.is_modern() { self.mirrored_headers(method, params) } else { Vec::new() };
        self.log.add(Direction::Sent, FrameKind::Notification, WirePart::Message, message.clone());
        self.transport.send(Outgoing { body: message, request: None, headers });
    }

    /// Sends bytes exactly as they are, for tests of how a server takes what is wrong; [`Session::finish`] waits
    /// for whatever comes back.
    pub fn start_raw(&mut self, bytes: Bytes) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.transport.send_raw(&bytes, Some(id));
        self.log.add(Direction::Sent, FrameKind::Stray, WirePart::Message, bytes.clone());
        self.pending.push(Pending {
            id,
            method: "raw".to_owned(),
            request: bytes,
            sent_at: Instant::now(),
            stands: false,
            raw: true,
            suspect: None,
            refusal: None,
            answer: None,
        });
        id
    }

    pub(super) fn send_reply(&mut self, reply: &Value) {
        let message = encode(reply);
        self.log.add(Direction::Sent, FrameKind::Reply, WirePart::Message, message.clone());
        self.transport.send(Outgoing { body: message, request: None, headers: Vec::new() });
    }

    /// Waits for the end of a request that was started.
    pub async fn finish(&mut self, id: u64, deadline: Instant) -> Exchange {
        let deadline = self.request_timeout.map_or(deadline, |time| deadline.min(Instant::now() + time));
        loop {
            let Some(at) = self.pending.iter().position(|p| p.id == id) else {
                unreachable!("a request is finished once");
            };
            if self.pending[at].answer.is_some() {
                return self.take_exchange(at, None);
            }
            let suspect_until = self.pending[at].suspect.as_ref().map(|suspect| suspect.until);
            if let Some((what, end)) = self.closed.clone() {
                if let Some(suspect) = self.pending[at].suspect.take() {
                    return self.take_exchange(at, Some(suspect.into_reply()));
                }
                return self.take_exchange(at, Some((Outcome::Closed { what, end }, None)));
            }
            let until = suspect_until.map_or(deadline, |until| until.min(deadline));
            if self.take_next(until).await {
                continue;
            }
            if let Some(suspect) = self.pending[at].suspect.take() {
                return self.take_exchange(at, Some(suspect.into_reply()));
            }
            // The reply may have arrived in time while this process was stopped (SIGSTOP, a sleeping machine).
            tokio::task::yield_now().await;
            self.look_at_some();
            if self.is_answered(id) {
                continue;
            }
            if let Some(refused) = self.pending[at].refusal.take() {
                // The status is the answer, though its body did not come.
                self.transport.settled(id);
                return self.take_exchange(at, Some((Outcome::Refused(*refused), None)));
            }
            let after_ms = u64::try_from(self.pending[at].sent_at.elapsed().as_millis()).unwrap_or(u64::MAX);
            // Half a reply is not a reply, but it is evidence for the cause.
            let begun = self.transport.unfinished();
            if let Some(begun) = &begun {
                self.odd("unfinished-message", "the server began a message and did not end it in time", begun);
            }
            self.cancel(id, "timed out").await;
            return self.take_exchange(at, Some((Outcome::TimedOut { after_ms }, begun)));
        }
    }

    /// Notifies the server that a request is cancelled; a late reply is recognised by its id.
    pub async fn cancel(&mut self, id: u64, reason: &str) {
        if self.start_cancel(id, reason) {
            self.flush(Instant::now() + FLUSH).await;
        }
    }

    /// Cancels a request without waiting until the notification is sent: that happens while the next message is waited for.
    /// True if a message is to be sent.
    pub fn start_cancel(&mut self, id: u64, reason: &str) -> bool {
        self.cancelled.push(id);
        self.transport.settled(id);
        let is_handshake =
            |p: &Pending| p.id == id && matches!(p.method.as_str(), "initialize" | "server/discover" | "raw");
        if self.pending.iter().any(is_handshake) {
            // A client must not cancel `initialize` (2025-11-25, "Cancellation"); a probe is simply forgotten.
            if self.is_modern() {
                self.transport.abandon(id);
            }
            return false;
        }
        if self.is_modern() && self.transport.abandon(id) {
            // On HTTP, closing the stream is the cancellation (2026-07-28).
            return false;
        }
        self.notify("notifications/cancelled", &json!({"requestId": id, "reason": reason}));
        true
    }

    /// Takes in what arrives until `until`, or until the server is gone.
    pub async fn listen(&mut self, until: Instant) {
        while self.closed.is_none() && self.take_next(until).await {}
    }

    async fn flush(&mut self, until: Instant) {
        while !self.transport.is_flushed() && self.closed.is_none() && self.take_next(until).await {}
    }

    /// Processes the next arrival; true if one came in time. A server that never stops talking does not move the end.
    pub(super) async fn take_next(&mut self, until: Instant) -> bool {
        if Instant::now() >= until {
            return false;
        }
        match timeout_at(until, self.transport.receive()).await {
            Ok(arrival) => {
                self.take_in(arrival);
                true
            }
            Err(_) => false,
        }
    }

    pub(super) fn take_exchange(&mut self, at: usize, ended: Option<(Outcome, Option<Bytes>)>) -> Exchange {
        let pending = self.pending.remove(at);
        let elapsed = u64::try_from(pending.sent_at.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (outcome, reply, elapsed_us) = match (ended, pending.answer) {
            (Some((outcome, reply)), _) => (outcome, reply, elapsed),
            (None, Some(answer)) => (answer.outcome, Some(answer.reply), answer.elapsed_us),
            (None, None) => unreachable!("an exchange ends with an answer or a reason"),
        };
        self.is_end_reported |= matches!(outcome, Outcome::Closed { .. });
        Exchange { method: pending.method, request: pending.request, reply, outcome, elapsed_us }
    }
}

fn tool_params(name: &str, arguments: &Value, token: u64) -> Value {
    let mut params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": token}});
    if params["arguments"].is_null() {
        params.as_object_mut().map(|p| p.shift_remove("arguments"));
    }
    params
}

/// A call that was not made.
fn not_sent(refused: Refused) -> Exchange {
    Exchange {
        method: "tools/call".to_owned(),
        request: Bytes::new(),
        reply: None,
        outcome: Outcome::Refused(refused),
        elapsed_us: 0,
    }
}

fn encode(message: &impl Serialize) -> Bytes {
    Bytes::from(serde_json::to_vec(message).unwrap_or_default())
}

fn json_text<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
