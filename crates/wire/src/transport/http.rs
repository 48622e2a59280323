//! Streamable HTTP: every message is a POST, and answers come as JSON or as an event stream.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use mcprove_model::{Era, Revision, escape_line, shorten};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout_at};

use super::http_client::HttpClient;
use super::http_exchange::{Line, Told, Turn};
use super::{Arrival, Ended, Outgoing};
use crate::Limits;

/// How many arrivals may wait to be taken; more, and the server feels it.
pub(super) const QUEUE: usize = 256;
/// How many arrivals are kept while closing.
pub(super) const LATE: usize = 1024;
/// After how many exchanges those that have ended are forgotten.
const SWEEP: usize = 64;

/// An endpoint that speaks Streamable HTTP.
#[derive(Debug)]
pub struct Http {
    client: HttpClient,
    url: String,
    headers: Arc<[(String, String)]>,
    session_id: Option<String>,
    revision: Option<Revision>,
    limit: usize,
    exchanges: u64,
    tell: mpsc::Sender<Told>,
    told: mpsc::Receiver<Told>,
    tasks: JoinSet<()>,
    open: HashMap<u64, Open>,
    /// Ends when the last notification has been taken by the server.
    notice: Option<watch::Receiver<()>>,
    /// Ends when the server's own stream is there, or is not to be.
    own_stream: Option<watch::Receiver<()>>,
    /// How many notifications have not been taken yet.
    untaken: usize,
}

/// The exchange of a request.
#[derive(Debug)]
struct Open {
    task: AbortHandle,
    settled: Arc<AtomicBool>,
}

impl Http {
    pub(super) fn new(client: HttpClient, url: String, headers: Vec<(String, String)>, limits: &Limits) -> Self {
        let (tell, told) = mpsc::channel(QUEUE);
        Self {
            client,
            url,
            headers: headers.into(),
            session_id: None,
            revision: None,
            limit: limits.message_bytes,
            exchanges: 0,
            tell,
            told,
            tasks: JoinSet::new(),
            open: HashMap::new(),
            notice: None,
            own_stream: None,
            untaken: 0,
        }
    }

    /// What later messages say of the revision.
    pub(super) fn agreed(&mut self, revision: Option<Revision>) {
        self.revision = revision;
    }

    /// Opens the stream that the server may use at any time.
    pub(super) fn listen(&mut self) {
        let line = self.line(Vec::new());
        let (before, own_stream) = watch::channel(());
        let turn = Turn { after: self.notice.clone(), before: Some(before), own_stream: None };
        self.own_stream = Some(own_stream);
        self.tasks.spawn(line.listen(turn));
    }

    /// Whether the server has taken every notification and every answer of ours.
    pub(super) fn is_flushed(&self) -> bool {
        self.untaken == 0
    }

    pub(super) fn send(&mut self, outgoing: Outgoing) {
        let line = self.line(outgoing.headers);
        // Notifications must arrive before what follows them: the next message waits until the earlier was taken.
        let mut turn = Turn { after: self.notice.clone(), before: None, own_stream: self.own_stream.clone() };
        if let Some(id) = outgoing.request {
            let settled = line.settled.clone();
            let task = self.tasks.spawn(line.request(outgoing.body, id, turn));
            self.open.insert(id, Open { task, settled });
        } else {
            let (before, notice) = watch::channel(());
            self.notice = Some(notice);
            self.untaken += 1;
            turn.before = Some(before);
            self.tasks.spawn(line.notify(outgoing.body, turn));
        }
        while self.tasks.try_join_next().is_some() {}
        if self.open.len() > SWEEP {
            self.open.retain(|_, open| !open.task.is_finished());
        }
    }

    /// Gives up the exchange of a request; in the modern era this is how a request is cancelled.
    pub(super) fn abandon(&mut self, request: u64) {
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
        loop {
            match self.told.recv().await {
                Some(told) => {
                    if let Some(arrival) = self.take(told) {
                        return arrival;
                    }
                }
                // We hold a sender ourselves, so the channel never ends.
                None => std::future::pending().await,
            }
        }
    }

    fn take(&mut self, told: Told) -> Option<Arrival> {
        match told {
            Told::Arrival(arrival) => {
                if matches!(arrival, Arrival::Taken) {
                    self.untaken = self.untaken.saturating_sub(1);
                }
                Some(arrival)
            }
            Told::SessionId(id) => self.take_session_id(id),
            Told::Endpoint(_) | Told::NoStream(_) => None,
        }
    }

    fn take_session_id(&mut self, id: String) -> Option<Arrival> {
        if self.revision.is_some_and(|revision| revision.era() == Era::Modern) {
            // The modern era has no sessions: a client passes the field over (2026-07-28, "Transports").
            return None;
        }
        if !id.is_empty() && id.bytes().all(|b| matches!(b, 0x21..=0x7e)) {
            self.session_id = Some(id);
            return None;
        }
        let shown = shorten(&escape_line(&id), 80).into_owned();
        let what = format!("the session id `{shown}` is not visible ASCII, so it cannot be sent back");
        Some(Arrival::Odd { rule: "bad-session-id", what, evidence: Bytes::from(id) })
    }

    pub(super) async fn close(mut self, limits: &Limits) -> Ended {
        let mut late = Vec::new();
        let until = Instant::now() + limits.exit_grace;
        while self.untaken > 0 {
            let Ok(Some(told)) = timeout_at(until, self.told.recv()).await else { break };
            let arrival = self.take(told);
            late.extend(arrival.filter(|_| late.len() < LATE));
        }
        if self.session_id.is_some() {
            let ending = self.line(Vec::new()).delete();
            tokio::pin!(ending);
            let until = Instant::now() + limits.exit_grace;
            loop {
                tokio::select! {
                    biased;
                    () = &mut ending => break,
                    told = timeout_at(until, self.told.recv()) => {
                        let Ok(Some(told)) = told else { break };
                        let arrival = self.take(told);
                        late.extend(arrival.filter(|_| late.len() < LATE));
                    }
                }
            }
        }
        while let Ok(told) = self.told.try_recv() {
            let arrival = self.take(told);
            late.extend(arrival.filter(|_| late.len() < LATE));
        }
        Ended { late, ..Ended::default() }
    }

    fn line(&mut self, extra: Vec<(String, String)>) -> Line {
        self.exchanges += 1;
        let mut headers = vec![user_agent()];
        if let Some(id) = &self.session_id {
            headers.push(("mcp-session-id".to_owned(), id.clone()));
        }
        // 2025-06-18 brought the header field; older servers have never heard of it.
        if let Some(revision) = self.revision.filter(|revision| *revision >= Revision::V2025_06_18) {
            headers.push(("mcp-protocol-version".to_owned(), revision.to_string()));
        }
        headers.extend(extra);
        Line {
            client: self.client.clone(),
            url: self.url.clone(),
            headers,
            wished: self.headers.clone(),
            number: self.exchanges,
            limit: self.limit,
            has_session: self.session_id.is_some(),
            resumes: self.revision.is_none_or(|revision| revision.era() == Era::Legacy),
            settled: Arc::default(),
            tell: self.tell.clone(),
        }
    }
}

/// The header field that says who we are.
pub(super) fn user_agent() -> (String, String) {
    ("user-agent".to_owned(), concat!("mcprove/", env!("CARGO_PKG_VERSION")).to_owned())
}
