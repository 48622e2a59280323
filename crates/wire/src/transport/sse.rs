//! HTTP+SSE of the 2024-11-05 revision: one stream for everything the server says, POSTs for what we say.

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::http_client::HttpClient;
use super::http_exchange::{Line, Told};
use super::{Arrival, Ended, Outgoing};
use crate::Limits;

const QUEUE: usize = 256;

/// An endpoint that speaks HTTP+SSE.
#[derive(Debug)]
pub struct Sse {
    client: HttpClient,
    url: String,
    headers: Vec<(String, String)>,
    /// The address for messages, once the server has named it.
    endpoint: Option<String>,
    waiting: Vec<Outgoing>,
    limit: usize,
    exchanges: u64,
    tell: mpsc::Sender<Told>,
    told: mpsc::Receiver<Told>,
    tasks: JoinSet<()>,
    posts: mpsc::UnboundedSender<(Line, Outgoing)>,
}

impl Sse {
    pub(super) fn new(client: HttpClient, url: String, headers: Vec<(String, String)>, limits: &Limits) -> Self {
        let (tell, told) = mpsc::channel(QUEUE);
        let (posts, mut queue) = mpsc::unbounded_channel::<(Line, Outgoing)>();
        let mut tasks = JoinSet::new();
        // One task posts in order: the server answers a POST at once and replies on the stream.
        tasks.spawn(async move {
            while let Some((line, outgoing)) = queue.recv().await {
                line.post_only(outgoing.body, outgoing.request).await;
            }
        });
        let mut sse = Self {
            client,
            url,
            headers,
            endpoint: None,
            waiting: Vec::new(),
            limit: limits.message_bytes,
            exchanges: 0,
            tell,
            told,
            tasks,
            posts,
        };
        let stream = sse.line(sse.url.clone());
        sse.tasks.spawn(stream.subscribe());
        sse
    }

    pub(super) fn send(&mut self, outgoing: Outgoing) {
        match self.endpoint.clone() {
            Some(endpoint) => {
                let line = self.line(endpoint);
                let _ = self.posts.send((line, outgoing));
            }
            None => self.waiting.push(outgoing),
        }
    }

    pub(super) async fn receive(&mut self) -> Arrival {
        loop {
            match self.told.recv().await {
                Some(Told::Arrival(arrival)) => return arrival,
                Some(Told::SessionId(_)) => {}
                Some(Told::Endpoint(path)) => {
                    self.endpoint = Some(resolve(&self.url, path.trim()));
                    for outgoing in std::mem::take(&mut self.waiting) {
                        self.send(outgoing);
                    }
                }
                None => std::future::pending().await,
            }
        }
    }

    #[expect(clippy::unused_async, reason = "every transport closes the same way")]
    pub(super) async fn close(mut self) -> Ended {
        let mut late: Vec<Bytes> = Vec::new();
        while let Ok(told) = self.told.try_recv() {
            if let Told::Arrival(Arrival::Message(message)) = told {
                late.push(message);
            }
        }
        Ended { late, ..Ended::default() }
    }

    fn line(&mut self, url: String) -> Line {
        self.exchanges += 1;
        let mut headers = vec![("user-agent".to_owned(), concat!("mcprove/", env!("CARGO_PKG_VERSION")).to_owned())];
        headers.extend(self.headers.iter().cloned());
        Line {
            client: self.client.clone(),
            url,
            headers,
            number: self.exchanges,
            limit: self.limit,
            has_session: false,
            tell: self.tell.clone(),
        }
    }
}

/// The address an `endpoint` event means, relative to the address of the stream.
fn resolve(base: &str, path: &str) -> String {
    if path.contains("://") {
        return path.to_owned();
    }
    let origin_end = base.find("://").map_or(0, |at| {
        let host = at + 3;
        base[host..].find('/').map_or(base.len(), |slash| host + slash)
    });
    if path.starts_with('/') {
        return format!("{}{path}", &base[..origin_end]);
    }
    let folder = base[origin_end..].rfind('/').map_or("/", |slash| &base[origin_end..=origin_end + slash]);
    format!("{}{folder}{path}", &base[..origin_end])
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn endpoints_are_relative_to_the_stream() {
        assert_eq!(resolve("http://h:1/sse", "/message?s=1"), "http://h:1/message?s=1");
        assert_eq!(resolve("http://h:1/a/sse", "message"), "http://h:1/a/message");
        assert_eq!(resolve("http://h:1", "m"), "http://h:1/m");
        assert_eq!(resolve("http://h:1/sse", "https://x/y"), "https://x/y");
    }
}
