//! The exchanges of one transport over HTTP: who makes them, what they tell, and what the server has not taken yet.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout, timeout_at};

use super::http_client::HttpClient;
use super::http_exchange::Line;
use super::{Arrival, Refused};
use crate::Limits;

/// How many arrivals may wait to be taken; more, and the server feels it.
const QUEUE: usize = 256;
/// How many bytes of arrivals may wait to be taken, in units of [`UNIT`]; one of any size may always wait.
const ROOM: u32 = 32 << 10;
/// The unit of room, in bytes.
const UNIT: usize = 1 << 10;
/// How many arrivals are kept while closing.
const LATE: usize = 1024;
/// How long a message waits for the one before it to be taken. A server that never does must not hold up the rest.
const ORDER: Duration = Duration::from_secs(1);
/// How long the first messages wait for the server's own stream to be there: what the server says on it while they are
/// answered would be lost otherwise. A server may well send nothing on it, not even a head, until it has to.
const OWN_STREAM: Duration = Duration::from_millis(100);

/// What a task of the transport tells it.
#[derive(Debug)]
pub(super) enum Told {
    /// Something for the session.
    Arrival(Arrival),
    /// The server named the session.
    SessionId(String),
    /// The server named the address for messages (HTTP+SSE).
    Endpoint(String),
    /// The one stream of HTTP+SSE could not be opened.
    NoStream(Refused),
}

impl Told {
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

/// The way to the transport. It has room for so many messages and for so many bytes.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    tell: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

/// Something that waits to be taken, with the room it takes.
#[derive(Debug)]
struct Waiting {
    told: Told,
    _room: OwnedSemaphorePermit,
}

impl Queue {
    fn new() -> (Self, mpsc::Receiver<Waiting>) {
        let (tell, told) = mpsc::channel(QUEUE);
        (Self { tell, room: Arc::new(Semaphore::new(ROOM as usize)) }, told)
    }

    /// Waits for room, and sends; nobody listens once the session is closed.
    pub(super) async fn send(&self, told: Told) {
        let Ok(room) = self.room.clone().acquire_many_owned(told.room()).await else { return };
        let _ = self.tell.send(Waiting { told, _room: room }).await;
    }
}

/// Waits for the message before, and tells the one after.
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
    tell: Queue,
    told: mpsc::Receiver<Waiting>,
    tasks: JoinSet<()>,
    /// Ends when the last message that the next one waits for has been taken by the server.
    notice: Option<watch::Receiver<()>>,
    /// How many such messages have not been taken yet.
    untaken: usize,
}

impl Exchanges {
    /// None yet; `headers` are the user's.
    pub(super) fn new(client: HttpClient, headers: Vec<(String, String)>, limits: &Limits) -> Self {
        let (tell, told) = Queue::new();
        Self {
            client,
            headers: headers.into(),
            limit: limits.message_bytes,
            count: 0,
            tell,
            told,
            tasks: JoinSet::new(),
            notice: None,
            untaken: 0,
        }
    }

    /// Where and how the next exchange is made; `headers` are ours.
    pub(super) fn line(&mut self, url: String, headers: Vec<(String, String)>) -> Line {
        self.count += 1;
        let agent = ("user-agent".to_owned(), concat!("mcprove/", env!("CARGO_PKG_VERSION")).to_owned());
        Line {
            client: self.client.clone(),
            url,
            headers: self.client.sends_user_agent().then_some(agent).into_iter().chain(headers).collect(),
            wished: self.headers.clone(),
            number: self.count,
            limit: self.limit,
            has_session: false,
            resumes: false,
            settled: Arc::default(),
            tell: self.tell.clone(),
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

    /// What is told next, by `until`.
    pub(super) async fn told_until(&mut self, until: Instant) -> Option<Told> {
        timeout_at(until, self.told.recv()).await.ok().flatten().map(|waiting| waiting.told)
    }

    /// Counts what the server has taken.
    pub(super) fn count_taken(&mut self, arrival: &Arrival) {
        if matches!(arrival, Arrival::Taken) {
            self.untaken = self.untaken.saturating_sub(1);
        }
    }
}

/// A transport that hears what its exchanges tell.
pub(super) trait Hears {
    /// Its exchanges.
    fn exchanges(&mut self) -> &mut Exchanges;

    /// Takes in what one told; what is for the session is handed on.
    fn take(&mut self, told: Told) -> Option<Arrival>;

    /// An arrival that it made itself, which goes before what is told next.
    fn made(&mut self) -> Option<Arrival> {
        None
    }
}

/// The next arrival.
pub(super) async fn receive(transport: &mut impl Hears) -> Arrival {
    loop {
        if let Some(arrival) = transport.made() {
            return arrival;
        }
        match transport.exchanges().told.recv().await {
            Some(Waiting { told, .. }) => {
                if let Some(arrival) = transport.take(told) {
                    return arrival;
                }
            }
            // We hold a sender ourselves, so the channel never ends.
            None => std::future::pending().await,
        }
    }
}

/// What arrives while a transport closes, as much of it as is kept.
#[derive(Debug, Default)]
pub(super) struct Late(Vec<Arrival>);

impl Late {
    /// Waits until the server has taken every message, but not for ever.
    pub(super) async fn flush(&mut self, transport: &mut impl Hears, until: Instant) {
        while !transport.exchanges().is_flushed() {
            let Some(told) = transport.exchanges().told_until(until).await else { break };
            self.add(transport.take(told));
        }
    }

    /// Listens while something ends, but not for ever.
    pub(super) async fn listen_until(
        &mut self,
        transport: &mut impl Hears,
        ending: impl Future<Output = ()>,
        until: Instant,
    ) {
        tokio::pin!(ending);
        loop {
            tokio::select! {
                biased;
                () = &mut ending => break,
                told = transport.exchanges().told_until(until) => {
                    let Some(told) = told else { break };
                    self.add(transport.take(told));
                }
            }
        }
    }

    /// All of it, with what was told already.
    pub(super) fn all(mut self, transport: &mut impl Hears) -> Vec<Arrival> {
        while let Ok(Waiting { told, .. }) = transport.exchanges().told.try_recv() {
            self.add(transport.take(told));
        }
        self.0
    }

    fn add(&mut self, arrival: Option<Arrival>) {
        self.0.extend(arrival.filter(|_| self.0.len() < LATE));
    }
}
