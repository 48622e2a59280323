//! HTTP+SSE of the 2024-11-05 revision: one stream for everything the server says, POSTs for what we say.

use std::collections::VecDeque;
use std::sync::Arc;

use hyper::Uri;
use mcprove_model::{Refused, escape_line, shorten};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::http::{LATE, QUEUE, user_agent};
use super::http_client::HttpClient;
use super::http_exchange::{Line, Told, Turn};
use super::{Arrival, Ended, Outgoing};
use crate::Limits;

/// An endpoint that speaks HTTP+SSE.
#[derive(Debug)]
pub struct Sse {
    client: HttpClient,
    url: String,
    headers: Arc<[(String, String)]>,
    /// The address for messages, once the server has named it.
    endpoint: Option<String>,
    /// Messages that wait for it.
    waiting: Vec<Outgoing>,
    /// Arrivals that were made here.
    made: VecDeque<Arrival>,
    limit: usize,
    exchanges: u64,
    tell: mpsc::Sender<Told>,
    told: mpsc::Receiver<Told>,
    tasks: JoinSet<()>,
    /// Ends when the last message has been taken by the server.
    notice: Option<watch::Receiver<()>>,
    untaken: usize,
}

impl Sse {
    pub(super) fn new(client: HttpClient, url: String, headers: Vec<(String, String)>, limits: &Limits) -> Self {
        let (tell, told) = mpsc::channel(QUEUE);
        let mut sse = Self {
            client,
            url,
            headers: headers.into(),
            endpoint: None,
            waiting: Vec::new(),
            made: VecDeque::new(),
            limit: limits.message_bytes,
            exchanges: 0,
            tell,
            told,
            tasks: JoinSet::new(),
            notice: None,
            untaken: 0,
        };
        let stream = sse.line(sse.url.clone());
        sse.tasks.spawn(stream.subscribe());
        sse
    }

    pub(super) fn send(&mut self, outgoing: Outgoing) {
        let Some(endpoint) = self.endpoint.clone() else { return self.waiting.push(outgoing) };
        let line = self.line(endpoint);
        // The server takes a POST at once and replies on the stream, so messages go out one after the other.
        let (before, notice) = watch::channel(());
        let turn = Turn { after: self.notice.replace(notice), before: Some(before), own_stream: None };
        self.untaken += 1;
        self.tasks.spawn(line.post_only(outgoing.body, outgoing.request, turn));
        while self.tasks.try_join_next().is_some() {}
    }

    /// Whether the server has taken every message of ours.
    pub(super) fn is_flushed(&self) -> bool {
        self.untaken == 0
    }

    /// Why nothing goes out, if nothing does.
    pub(super) fn obstacle(&self) -> Option<&'static str> {
        self.endpoint.is_none().then_some("its event stream names no address for messages (no `endpoint` event)")
    }

    /// Waits until the server has named the address for messages; whether it did in time.
    pub(super) async fn is_ready(&mut self, until: Instant) -> bool {
        while self.endpoint.is_none() {
            let Ok(Some(told)) = timeout_at(until, self.told.recv()).await else { return false };
            if matches!(told, Told::NoStream(_) | Told::Arrival(Arrival::Closed { .. })) {
                return false;
            }
            let arrival = self.take(told);
            self.made.extend(arrival);
        }
        true
    }

    pub(super) async fn receive(&mut self) -> Arrival {
        loop {
            if let Some(arrival) = self.made.pop_front() {
                return arrival;
            }
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
                return Some(arrival);
            }
            Told::SessionId(_) => {}
            Told::NoStream(refused) => self.give_up(&refused),
            Told::Endpoint(path) => self.take_endpoint(path.trim()),
        }
        None
    }

    fn take_endpoint(&mut self, path: &str) {
        let endpoint = resolve(&self.url, path);
        if origin(&endpoint) != origin(&self.url) {
            // Header fields may hold a token; it is for the host that was asked, and for no other.
            let shown = shorten(&escape_line(path), 200).into_owned();
            return self.give_up(&Refused {
                what: format!("the server names an address on another host for messages: {shown}"),
                help: Some("the `endpoint` event must name an address on the host of the stream".to_owned()),
                evidence: bytes::Bytes::copy_from_slice(path.as_bytes()),
                status: None,
            });
        }
        self.endpoint = Some(endpoint);
        for outgoing in std::mem::take(&mut self.waiting) {
            self.send(outgoing);
        }
    }

    /// Nothing can be sent, now or later.
    fn give_up(&mut self, refused: &Refused) {
        for outgoing in self.waiting.drain(..) {
            if let Some(request) = outgoing.request {
                self.made.push_back(Arrival::Refused { request, refused: refused.clone() });
            }
        }
        self.made.push_back(Arrival::Closed { what: refused.what.clone(), end: None });
    }

    pub(super) async fn close(mut self, limits: &Limits) -> Ended {
        let mut late = Vec::new();
        let until = Instant::now() + limits.exit_grace;
        while self.untaken > 0 {
            let Ok(Some(told)) = timeout_at(until, self.told.recv()).await else { break };
            let arrival = self.take(told);
            late.extend(arrival.filter(|_| late.len() < LATE));
        }
        while let Ok(told) = self.told.try_recv() {
            let arrival = self.take(told);
            late.extend(arrival.filter(|_| late.len() < LATE));
        }
        Ended { late, ..Ended::default() }
    }

    fn line(&mut self, url: String) -> Line {
        self.exchanges += 1;
        Line {
            client: self.client.clone(),
            url,
            headers: vec![user_agent()],
            wished: self.headers.clone(),
            number: self.exchanges,
            limit: self.limit,
            has_session: false,
            resumes: false,
            settled: Arc::default(),
            tell: self.tell.clone(),
        }
    }
}

/// Scheme and authority of an address, with the default port written out.
fn origin(url: &str) -> Option<(String, String, u16)> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_owned();
    let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some((scheme, uri.host()?.to_ascii_lowercase(), port))
}

/// The address an `endpoint` event means, relative to the address of the stream.
fn resolve(base: &str, path: &str) -> String {
    if path.contains("://") {
        return path.to_owned();
    }
    let host = base.find("://").map_or(0, |at| at + 3);
    let origin_end = base[host..].find(['/', '?']).map_or(base.len(), |end| host + end);
    if let Some(elsewhere) = path.strip_prefix("//") {
        return format!("{}{elsewhere}", &base[..host]);
    }
    if path.starts_with('/') {
        return format!("{}{path}", &base[..origin_end]);
    }
    let base_path = base[origin_end..].split('?').next().unwrap_or_default();
    if path.starts_with('?') {
        return format!("{}{base_path}{path}", &base[..origin_end]);
    }
    let folder = base_path.rfind('/').map_or("/", |slash| &base_path[..=slash]);
    format!("{}{folder}{path}", &base[..origin_end])
}

#[cfg(test)]
mod tests {
    use super::{origin, resolve};

    #[test]
    fn endpoints_are_relative_to_the_stream() {
        assert_eq!(resolve("http://h:1/sse", "/message?s=1"), "http://h:1/message?s=1");
        assert_eq!(resolve("http://h:1/a/sse?x=/y", "message"), "http://h:1/a/message");
        assert_eq!(resolve("http://h:1/a/sse?x=1", "?s=1"), "http://h:1/a/sse?s=1");
        assert_eq!(resolve("http://h:1", "m"), "http://h:1/m");
        assert_eq!(resolve("http://h:1/sse", "//evil/m"), "http://evil/m");
        assert_eq!(resolve("http://h:1/sse", "https://x/y"), "https://x/y");
    }

    #[test]
    fn default_ports_and_capitals_make_no_other_host() {
        assert_eq!(origin("http://H/sse"), origin("http://h:80/m"));
        assert_ne!(origin("http://h/sse"), origin("https://h/m"));
        assert_ne!(origin("http://h:1/sse"), origin("http://h:2/m"));
    }
}
