//! Streamable HTTP: every message is a POST, and answers come as JSON or as an event stream.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use mcprove_model::{Era, Revision, escape_line, shorten};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::http_client::HttpClient;
use super::http_direct::{DirectExchanges, DirectRequest, Handover};
use super::http_direct_head::DirectHead;
use super::http_exchange::HttpExchange;
use super::http_exchanges::{EventHandler, ExchangeEvent, Exchanges, Late, Turn};
use super::{Arrival, Ended, Outgoing};
use crate::Limits;

/// After how many exchanges those that have ended are forgotten.
const SWEEP: usize = 64;

/// An endpoint that speaks Streamable HTTP.
#[derive(Debug)]
pub struct Http {
    url: String,
    session_id: Option<String>,
    revision: Option<Revision>,
    exchanges: Exchanges,
    open: HashMap<u64, Open>,
    /// Ends when the server's own stream is there, or is not to be.
    own_stream: Option<watch::Receiver<()>>,
    direct: DirectExchanges,
    /// The head of direct requests, and the headers of one request that it was made with.
    head: Option<(DirectHead, Vec<(String, String)>)>,
}

/// The exchange of a request.
#[derive(Debug)]
struct Open {
    task: AbortHandle,
    settled: Arc<AtomicBool>,
}

impl Http {
    pub(super) fn new(client: HttpClient, url: String, headers: Vec<(String, String)>, limits: &Limits) -> Self {
        let direct = DirectExchanges::new(&url, &client, limits.message_bytes);
        let exchanges = Exchanges::new(client, headers, limits);
        let open = HashMap::new();
        Self { url, session_id: None, revision: None, exchanges, open, own_stream: None, direct, head: None }
    }

    /// Sets the revision that later messages name.
    pub(super) fn agreed(&mut self, revision: Option<Revision>) {
        self.revision = revision;
        self.head = None;
    }

    /// Opens the stream that the server may use at any time.
    pub(super) fn listen(&mut self) {
        let line = self.line(Vec::new());
        let (before, own_stream) = watch::channel(());
        let mut turn = self.exchanges.turn();
        turn.before = Some(before);
        self.own_stream = Some(own_stream);
        self.exchanges.begin(line.listen(turn));
    }

    /// True if the server has accepted every notification and every reply.
    pub(super) fn is_flushed(&self) -> bool {
        self.exchanges.is_flushed()
    }

    pub(super) fn send(&mut self, outgoing: Outgoing) {
        let Some(outgoing) = self.send_direct(outgoing) else { return };
        let line = self.line(outgoing.headers);
        let own_stream = self.own_stream.clone();
        // Notifications must arrive before what follows them: the next message waits until the earlier was taken.
        if let Some(id) = outgoing.request {
            let settled = line.settled.clone();
            let turn = Turn { own_stream, ..self.exchanges.turn() };
            let task = self.exchanges.begin(line.request(outgoing.body, id, turn));
            self.open.insert(id, Open { task, settled });
        } else if !self.exchanges.is_overrun() {
            let turn = Turn { own_stream, ..self.exchanges.turn_in_order() };
            self.exchanges.begin(line.notify(outgoing.body, turn));
        }
        if self.open.len() > SWEEP {
            self.open.retain(|_, open| !open.task.is_finished());
        }
    }

    /// Sends a request directly; the message comes back where that is not possible.
    fn send_direct(&mut self, outgoing: Outgoing) -> Option<Outgoing> {
        let Some(id) = outgoing.request else { return Some(outgoing) };
        // A request goes out after the notifications before it.
        if !self.direct.takes(&outgoing.body) || !self.is_flushed() {
            return Some(outgoing);
        }
        if self.head.as_ref().is_none_or(|(_, headers)| *headers != outgoing.headers) {
            let line = self.line_with_number(0, outgoing.headers.clone());
            self.head = line.direct_head().map(|head| (head, outgoing.headers.clone()));
        }
        let Some((head, _)) = &self.head else { return Some(outgoing) };
        let Outgoing { body, headers, .. } = outgoing;
        let request = DirectRequest { id, number: self.exchanges.next_number(), body, headers };
        self.direct.begin(request, head, self.exchanges.client());
        None
    }

    /// True if requests are sent directly, on a connection that is there.
    pub(super) fn sends_at_once(&self) -> bool {
        self.is_flushed() && self.direct.is_ready()
    }

    /// Continues a direct exchange as one that may take any course.
    fn take_over(&mut self, Handover { request, replay }: Handover) {
        let DirectRequest { id, number, body, headers } = request;
        let line = self.line_with_number(number, headers);
        let settled = line.settled.clone();
        let task = match replay {
            Some(replay) => self.exchanges.begin(line.take_over(replay, body, id)),
            None => self.exchanges.begin(line.request(body, id, Turn::default())),
        };
        self.open.insert(id, Open { task, settled });
    }

    /// Gives up the exchange of a request; in the modern era this is how a request is cancelled.
    pub(super) fn abandon(&mut self, request: u64) {
        self.direct.abandon(request);
        if let Some(open) = self.open.remove(&request) {
            open.task.abort();
        }
    }

    /// A request needs no more effort: its stream is not taken up again.
    pub(super) fn settled(&mut self, request: u64) {
        if let Some(open) = self.open.get(&request) {
            open.settled.store(true, Ordering::Relaxed);
        }
    }

    pub(super) async fn receive(&mut self) -> Arrival {
        poll_fn(|cx| self.poll_arrival(cx)).await
    }

    fn poll_arrival(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        loop {
            if let Some(arrival) = self.direct.next_arrival() {
                return Poll::Ready(arrival);
            }
            if let Poll::Ready(event) = self.exchanges.poll_event(cx) {
                if let Some(arrival) = self.take(event) {
                    return Poll::Ready(arrival);
                }
                continue;
            }
            match self.direct.poll(self.session_id.as_deref(), cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(handover)) => self.take_over(handover),
                Poll::Ready(None) => {}
            }
        }
    }

    fn take_session_id(&mut self, id: String) -> Option<Arrival> {
        if self.revision.is_some_and(|revision| revision.era() == Era::Modern) {
            // The modern era has no sessions: a client passes the field over (2026-07-28, "Transports").
            return None;
        }
        if !id.is_empty() && id.bytes().all(|b| matches!(b, 0x21..=0x7e)) {
            if self.session_id.as_ref() == Some(&id) {
                return None;
            }
            self.head = None;
            // It is given with the reply to `initialize` (2025-11-25, "Session Management").
            let before = self.session_id.replace(id);
            let what =
                "the server named another session id in the middle of a session; clients keep the first or the last";
            return before.map(|_| Arrival::Odd {
                rule: "bad-session-id",
                what: what.to_owned(),
                evidence: Bytes::new(),
            });
        }
        let shown = shorten(&escape_line(&id), 80).into_owned();
        let what = format!("the session id `{shown}` is not visible ASCII, so it cannot be sent back");
        Some(Arrival::Odd { rule: "bad-session-id", what, evidence: Bytes::from(id) })
    }

    pub(super) async fn close(mut self, limits: &Limits) -> Ended {
        for handover in self.direct.hand_over_all() {
            self.take_over(handover);
        }
        let mut late = Late::default();
        while let Some(arrival) = self.direct.next_arrival() {
            late.add(Some(arrival));
        }
        late.flush(&mut self, Instant::now() + limits.exit_grace).await;
        if self.session_id.is_some() {
            let ending = self.line(Vec::new()).delete();
            Box::pin(late.listen_until(&mut self, ending, Instant::now() + limits.exit_grace)).await;
        }
        Ended { late: late.all(&mut self), ..Ended::default() }
    }

    fn line(&mut self, extra: Vec<(String, String)>) -> HttpExchange {
        let number = self.exchanges.next_number();
        self.line_with_number(number, extra)
    }

    fn line_with_number(&self, number: u64, extra: Vec<(String, String)>) -> HttpExchange {
        let mut headers = Vec::new();
        if let Some(id) = &self.session_id {
            headers.push(("mcp-session-id".to_owned(), id.clone()));
        }
        // The header is new in 2025-06-18; older servers do not know it.
        if let Some(revision) = self.revision.filter(|revision| *revision >= Revision::V2025_06_18) {
            headers.push(("mcp-protocol-version".to_owned(), revision.to_string()));
        }
        headers.extend(extra);
        HttpExchange {
            has_session: self.session_id.is_some(),
            resumes: self.revision.is_none_or(|revision| revision.era() == Era::Legacy),
            ..self.exchanges.line_with_number(number, self.url.clone(), headers)
        }
    }
}

impl EventHandler for Http {
    fn exchanges(&mut self) -> &mut Exchanges {
        &mut self.exchanges
    }

    fn take(&mut self, event: ExchangeEvent) -> Option<Arrival> {
        match event {
            ExchangeEvent::Arrival(arrival) => {
                self.exchanges.count_taken(&arrival);
                if let Arrival::Part { part, .. } = &arrival {
                    self.direct.observe(part);
                }
                Some(arrival)
            }
            ExchangeEvent::SessionId(id) => self.take_session_id(id),
            ExchangeEvent::Endpoint(_) | ExchangeEvent::NoStream(_) => None,
        }
    }
}
