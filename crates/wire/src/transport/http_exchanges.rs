//! The exchanges of one transport over HTTP: their tasks, their events, and the messages not yet accepted by the
//! server.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout, timeout_at};

use super::http_client::HttpClient;
use super::http_exchange::HttpExchange;
use super::{Arrival, Refused};
use crate::Limits;

/// Maximum number of arrivals in the queue; when it is full, the server is slowed down.
const QUEUE: usize = 256;
/// Maximum size of the arrivals in the queue, in units of [`UNIT`]; one of any size always fits.
const ROOM: u32 = 32 << 10;
/// The unit of room, in bytes.
const UNIT: usize = 1 << 10;
/// Maximum number of arrivals kept while closing.
const LATE: usize = 1024;
/// Maximum number of notifications and replies that the server has not taken; each is an exchange of its own.
const UNTAKEN: usize = 1_000;
/// Time for which a message waits until the previous one is accepted. A server that never does must not hold up the
/// rest.
const ORDER: Duration = Duration::from_secs(1);
/// Time for which the first messages wait for the server's own stream: messages sent on it meanwhile would otherwise be
/// lost. A server may well send nothing on it, not even a head, until it has to.
const OWN_STREAM: Duration = Duration::from_millis(100);

/// Event from a task of the transport.
#[derive(Debug)]
pub(super) enum ExchangeEvent {
    /// Something for the session.
    Arrival(Arrival),
    /// The server named the session.
    SessionId(String),
    /// The server named the URL for messages (HTTP+SSE).
    Endpoint(String),
    /// The one stream of HTTP+SSE could not be opened.
    NoStream(Refused),
}

impl ExchangeEvent {
    /// The room that it takes while it waits.
    fn room(&self) -> u32 {
        let bytes = match self {
            Self::Arrival(
                Arrival::Message(body) | Arrival::Answer { message: body, .. } | Arrival::Part { body, .. },
            ) => body.len(),
            Self::Arrival(_) | Self::SessionId(_) | Self::Endpoint(_) | Self::NoStream(_) => 0,
        };
        u32::try_from(bytes / UNIT + 1).unwrap_or(ROOM).min(ROOM)
    }
}

/// The way to the transport. It has room for a limited number of messages and bytes.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    sender: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

/// Something that waits to be taken, with the room it takes.
#[derive(Debug)]
struct Waiting {
    event: ExchangeEvent,
    _room: OwnedSemaphorePermit,
}

impl Queue {
    fn new() -> (Self, mpsc::Receiver<Waiting>) {
        let (sender, events) = mpsc::channel(QUEUE);
        (Self { sender, room: Arc::new(Semaphore::new(ROOM as usize)) }, events)
    }

    /// Waits for room, and sends; the receiver is gone once the session is closed.
    pub(super) async fn send(&self, event: ExchangeEvent) {
        let Ok(room) = self.room.clone().acquire_many_owned(event.room()).await else { return };
        let _ = self.sender.send(Waiting { event, _room: room }).await;
    }
}

/// Waits for the previous message, and releases the next one.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// Ends when the earlier message was taken.
    pub(super) after: Option<watch::Receiver<()>>,
    /// Ends when the server's own stream is there, or is not to be.
    pub(super) own_stream: Option<watch::Receiver<()>>,
    /// Ends the wait of the later ones when dropped.
    pub(super) before: Option<watch::Sender<()>>,
}

impl Turn {
    pub(super) async fn wait(&mut self) {
        if let Some(mut earlier) = self.after.take() {
            let _ = timeout(ORDER, earlier.changed()).await;
        }
        if let Some(mut stream) = self.own_stream.take() {
            let _ = timeout(OWN_STREAM, stream.changed()).await;
        }
    }
}

/// The exchanges of one transport.
#[derive(Debug)]
pub(super) struct Exchanges {
    client: HttpClient,
    headers: Arc<[(String, String)]>,
    limit: usize,
    count: u64,
    queue: Queue,
    events: mpsc::Receiver<Waiting>,
    tasks: JoinSet<()>,
    /// Ends when the last message that the next one waits for has been taken by the server.
    notice: Option<watch::Receiver<()>>,
    /// Number of such messages not yet accepted.
    untaken: usize,
}

impl Exchanges {
    /// None yet; `headers` are the user's.
    pub(super) fn new(client: HttpClient, headers: Vec<(String, String)>, limits: &Limits) -> Self {
        let (queue, events) = Queue::new();
        Self {
            client,
            headers: headers.into(),
            limit: limits.message_bytes,
            count: 0,
            queue,
            events,
            tasks: JoinSet::new(),
            notice: None,
            untaken: 0,
        }
    }

    /// Destination and options of the next exchange; `headers` are those set by mcprove.
    pub(super) fn line(&mut self, url: String, headers: Vec<(String, String)>) -> HttpExchange {
        let number = self.next_number();
        self.line_with_number(number, url, headers)
    }

    /// The number of the next exchange.
    pub(super) fn next_number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Destination and options of the exchange with a number.
    pub(super) fn line_with_number(&self, number: u64, url: String, headers: Vec<(String, String)>) -> HttpExchange {
        let agent = ("user-agent".to_owned(), concat!("mcprove/", env!("CARGO_PKG_VERSION")).to_owned());
        HttpExchange {
            client: self.client.clone(),
            url,
            headers: self.client.sends_user_agent().then_some(agent).into_iter().chain(headers).collect(),
            wished: self.headers.clone(),
            number,
            limit: self.limit,
            has_session: false,
            resumes: false,
            settled: Arc::default(),
            is_own_stream: false,
            queue: self.queue.clone(),
        }
    }

    /// Lets an exchange go on by itself.
    pub(super) fn begin(&mut self, exchange: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        while self.tasks.try_join_next().is_some() {}
        self.tasks.spawn(exchange)
    }

    /// The turn of a message that waits for the ones before it.
    pub(super) fn turn(&self) -> Turn {
        Turn { after: self.notice.clone(), ..Turn::default() }
    }

    /// The turn of a message that the next one waits for, too, until the server has taken it.
    pub(super) fn turn_in_order(&mut self) -> Turn {
        let (before, notice) = watch::channel(());
        self.untaken += 1;
        Turn { after: self.notice.replace(notice), before: Some(before), own_stream: None }
    }

    /// True if the server has taken every message that another one waits for.
    pub(super) fn is_flushed(&self) -> bool {
        self.untaken == 0
    }

    /// True if the server takes nothing while it asks for more and more: its questions get no further replies.
    pub(super) fn is_overrun(&self) -> bool {
        self.untaken >= UNTAKEN
    }

    /// The next event, by `until`.
    pub(super) async fn next_event(&mut self, until: Instant) -> Option<ExchangeEvent> {
        timeout_at(until, self.events.recv()).await.ok().flatten().map(|waiting| waiting.event)
    }

    /// The next event, if there is one.
    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<ExchangeEvent> {
        // Where no task is left that could send something, as in a session of direct exchanges, there is nothing to wait for.
        if self.queue.sender.strong_count() == 1 && self.events.is_empty() {
            return Poll::Pending;
        }
        match self.events.poll_recv(cx) {
            Poll::Ready(Some(Waiting { event, .. })) => Poll::Ready(event),
            // We hold a sender ourselves, so the channel never ends.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    pub(super) fn client(&self) -> &HttpClient {
        &self.client
    }

    /// Counts what the server has taken.
    pub(super) fn count_taken(&mut self, arrival: &Arrival) {
        if matches!(arrival, Arrival::Taken) {
            self.untaken = self.untaken.saturating_sub(1);
        }
    }
}

/// A transport that handles the events of its exchanges.
pub(super) trait EventHandler {
    /// Its exchanges.
    fn exchanges(&mut self) -> &mut Exchanges;

    /// Handles one event; an arrival for the session is returned.
    fn take(&mut self, event: ExchangeEvent) -> Option<Arrival>;

    /// An arrival created by the transport itself, delivered before the next event.
    fn made(&mut self) -> Option<Arrival> {
        None
    }
}

/// The next arrival.
pub(super) async fn receive(transport: &mut impl EventHandler) -> Arrival {
    loop {
        if let Some(arrival) = transport.made() {
            return arrival;
        }
        match transport.exchanges().events.recv().await {
            Some(Waiting { event, .. }) => {
                if let Some(arrival) = transport.take(event) {
                    return arrival;
                }
            }
            // We hold a sender ourselves, so the channel never ends.
            None => std::future::pending().await,
        }
    }
}

/// Arrivals during closing, up to a limit.
#[derive(Debug, Default)]
pub(super) struct Late(Vec<Arrival>);

impl Late {
    /// Waits until the server has accepted every message, with a time limit.
    pub(super) async fn flush(&mut self, transport: &mut impl EventHandler, until: Instant) {
        while !transport.exchanges().is_flushed() {
            let Some(event) = transport.exchanges().next_event(until).await else { break };
            self.add(transport.take(event));
        }
    }

    /// Receives until `ending` is done, with a time limit.
    pub(super) async fn listen_until(
        &mut self,
        transport: &mut impl EventHandler,
        ending: impl Future<Output = ()>,
        until: Instant,
    ) {
        tokio::pin!(ending);
        loop {
            tokio::select! {
                biased;
                () = &mut ending => break,
                event = transport.exchanges().next_event(until) => {
                    let Some(event) = event else { break };
                    self.add(transport.take(event));
                }
            }
        }
    }

    /// All of them, with the events already in the queue.
    pub(super) fn all(mut self, transport: &mut impl EventHandler) -> Vec<Arrival> {
        while let Ok(Waiting { event, .. }) = transport.exchanges().events.try_recv() {
            self.add(transport.take(event));
        }
        self.0
    }

    pub(super) fn add(&mut self, arrival: Option<Arrival>) {
        self.0.extend(arrival.filter(|_| self.0.len() < LATE));
    }
}
