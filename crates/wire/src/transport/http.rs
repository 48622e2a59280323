//! Streamable HTTP: every message is a POST, and answers come as JSON or as an event stream.

use std::collections::HashMap;

use bytes::Bytes;
use hyper::Method;
use mcprove_model::Revision;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::http_client::HttpClient;
use super::http_exchange::{Line, Told};
use super::{Arrival, Ended, Outgoing};
use crate::Limits;

/// How many arrivals may wait to be taken; more, and the server feels it.
const QUEUE: usize = 256;

/// An endpoint that speaks Streamable HTTP.
#[derive(Debug)]
pub struct Http {
    client: HttpClient,
    url: String,
    headers: Vec<(String, String)>,
    session_id: Option<String>,
    revision: Option<Revision>,
    limit: usize,
    exchanges: u64,
    tell: mpsc::Sender<Told>,
    told: mpsc::Receiver<Told>,
    tasks: JoinSet<()>,
    open: HashMap<u64, AbortHandle>,
    /// Ends when the last notification has been taken by the server.
    notice: Option<watch::Receiver<()>>,
}

impl Http {
    pub(super) fn new(client: HttpClient, url: String, headers: Vec<(String, String)>, limits: &Limits) -> Self {
        let (tell, told) = mpsc::channel(QUEUE);
        Self {
            client,
            url,
            headers,
            session_id: None,
            revision: None,
            limit: limits.message_bytes,
            exchanges: 0,
            tell,
            told,
            tasks: JoinSet::new(),
            open: HashMap::new(),
            notice: None,
        }
    }

    /// What later messages say of the revision.
    pub(super) fn agreed(&mut self, revision: Option<Revision>) {
        self.revision = revision;
    }

    /// Opens the stream that the server may use at any time.
    pub(super) fn listen(&mut self) {
        let line = self.line(Vec::new());
        let after = self.notice.clone();
        self.tasks.spawn(async move {
            if let Some(mut earlier) = after {
                let _ = earlier.changed().await;
            }
            line.listen().await;
        });
    }

    pub(super) fn send(&mut self, outgoing: Outgoing) {
        let line = self.line(outgoing.headers);
        let after = self.notice.clone();
        if let Some(id) = outgoing.request {
            let handle = self.tasks.spawn(line.post(outgoing.body, Some(id), after));
            self.open.insert(id, handle);
        } else {
            let (taken, notice) = watch::channel(());
            self.notice = Some(notice);
            self.tasks.spawn(async move {
                line.post(outgoing.body, None, after).await;
                drop(taken);
            });
        }
        // Tasks that have ended are forgotten as we go.
        while self.tasks.try_join_next().is_some() {}
    }

    /// Gives up the exchange of a request; in the modern era this is how a request is cancelled.
    pub(super) fn abandon(&mut self, request: u64) {
        if let Some(handle) = self.open.remove(&request) {
            handle.abort();
        }
    }

    pub(super) async fn receive(&mut self) -> Arrival {
        loop {
            match self.told.recv().await {
                Some(Told::Arrival(arrival)) => return arrival,
                Some(Told::SessionId(id)) => self.session_id = Some(id),
                Some(Told::Endpoint(_)) => {}
                // We hold a sender ourselves, so the channel never ends.
                None => std::future::pending().await,
            }
        }
    }

    pub(super) async fn close(mut self, limits: &Limits) -> Ended {
        let mut late = Vec::new();
        while let Ok(told) = self.told.try_recv() {
            if let Told::Arrival(Arrival::Message(message)) = told {
                late.push(message);
            }
        }
        if self.session_id.is_some() {
            let line = self.line(Vec::new());
            let headers = line.headers.clone();
            let ending = line.ask(Method::DELETE, headers, Bytes::new());
            // A server may refuse to end sessions (405); ours is over either way.
            let drain = async { while self.told.recv().await.is_some() {} };
            let _ = timeout(limits.exit_grace, async {
                tokio::select! {
                    _ = ending => {}
                    () = drain => {}
                }
            })
            .await;
        }
        Ended { late, ..Ended::default() }
    }

    fn line(&mut self, extra: Vec<(String, String)>) -> Line {
        self.exchanges += 1;
        let mut headers = vec![("user-agent".to_owned(), concat!("mcprove/", env!("CARGO_PKG_VERSION")).to_owned())];
        if let Some(id) = &self.session_id {
            headers.push(("mcp-session-id".to_owned(), id.clone()));
        }
        // 2025-06-18 brought the header field; older servers have never heard of it.
        if let Some(revision) = self.revision.filter(|revision| *revision >= Revision::V2025_06_18) {
            headers.push(("mcp-protocol-version".to_owned(), revision.to_string()));
        }
        headers.extend(extra);
        headers.extend(self.headers.iter().cloned());
        Line {
            client: self.client.clone(),
            url: self.url.clone(),
            headers,
            number: self.exchanges,
            limit: self.limit,
            has_session: self.session_id.is_some(),
            tell: self.tell.clone(),
        }
    }
}
