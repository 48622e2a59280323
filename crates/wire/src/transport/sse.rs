//! HTTP+SSE of the 2024-11-05 revision: one stream for everything the server says, POSTs for what we say.

use std::collections::VecDeque;

use hyper::Uri;
use mcprove_model::{Refused, escape_line, shorten};
use tokio::time::Instant;

use super::http_client::HttpClient;
use super::http_exchanges::{EventHandler, ExchangeEvent, Exchanges, Late, receive};
use super::{Arrival, Ended, Outgoing};
use crate::Limits;

/// An endpoint that speaks HTTP+SSE.
#[derive(Debug)]
pub struct Sse {
    url: String,
    exchanges: Exchanges,
    /// The URL for messages, once the server has named it.
    endpoint: Option<String>,
    /// Messages that wait for it.
    waiting: Vec<Outgoing>,
    /// Arrivals that were made here.
    made: VecDeque<Arrival>,
}

impl Sse {
    pub(super) fn new(client: HttpClient, url: String, headers: Vec<(String, String)>, limits: &Limits) -> Self {
        let mut exchanges = Exchanges::new(client, headers, limits);
        let stream = exchanges.line(url.clone(), Vec::new());
        exchanges.begin(stream.subscribe());
        Self { url, exchanges, endpoint: None, waiting: Vec::new(), made: VecDeque::new() }
    }

    pub(super) fn send(&mut self, outgoing: Outgoing) {
        let Some(endpoint) = self.endpoint.clone() else { return self.waiting.push(outgoing) };
        let line = self.exchanges.line(endpoint, Vec::new());
        // The server takes a POST at once and replies on the stream, so messages go out one after the other.
        let turn = self.exchanges.turn_in_order();
        self.exchanges.begin(line.post_only(outgoing.body, outgoing.request, turn));
    }

    /// True if the server has accepted every message.
    pub(super) fn is_flushed(&self) -> bool {
        self.exchanges.is_flushed()
    }

    /// The obstacle that keeps messages from going out, if any.
    pub(super) fn obstacle(&self) -> Option<&'static str> {
        self.endpoint.is_none().then_some("its event stream names no address for messages (no `endpoint` event)")
    }

    /// Waits until the server has named the URL for messages; true if it did in time.
    pub(super) async fn is_ready(&mut self, until: Instant) -> bool {
        while self.endpoint.is_none() {
            let Some(event) = self.exchanges.next_event(until).await else { return false };
            if matches!(event, ExchangeEvent::NoStream(_) | ExchangeEvent::Arrival(Arrival::Closed { .. })) {
                return false;
            }
            let arrival = self.take(event);
            self.made.extend(arrival);
        }
        true
    }

    pub(super) async fn receive(&mut self) -> Arrival {
        receive(self).await
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
                may_have_result: false,
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
        let mut late = Late::default();
        late.flush(&mut self, Instant::now() + limits.exit_grace).await;
        Ended { late: late.all(&mut self), ..Ended::default() }
    }
}

impl EventHandler for Sse {
    fn exchanges(&mut self) -> &mut Exchanges {
        &mut self.exchanges
    }

    fn take(&mut self, event: ExchangeEvent) -> Option<Arrival> {
        match event {
            ExchangeEvent::Arrival(arrival) => {
                self.exchanges.count_taken(&arrival);
                return Some(arrival);
            }
            ExchangeEvent::SessionId(_) => {}
            ExchangeEvent::NoStream(refused) => self.give_up(&refused),
            ExchangeEvent::Endpoint(path) => self.take_endpoint(path.trim()),
        }
        None
    }

    fn made(&mut self) -> Option<Arrival> {
        self.made.pop_front()
    }
}

/// Scheme and authority of a URL, with the default port written out.
pub(super) fn origin(url: &str) -> Option<(String, String, u16)> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_owned();
    let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some((scheme, uri.host()?.to_ascii_lowercase(), port))
}

/// The URL of an `endpoint` event or of a redirect, relative to the URL that it came from.
pub(crate) fn resolve(base: &str, path: &str) -> String {
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
