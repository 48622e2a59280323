//! The HTTP exchanges of a login, each of which is logged without its secrets.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use mcprove_model::oauth::{Document, is_exposed, is_secret_field, masked_form, masked_json, masked_query, secrets_in};
use mcprove_model::{
    Direction, Redactor, WirePart, bounded_json, escape_line, is_unreserved, percent_encoded, without_password,
};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::transport::HttpClient;
use crate::transport::http_client::{HttpRequestParts, prepare, read_body};

/// Time limit for one exchange.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum size of an answer.
const LIMIT: usize = 256 << 10;
/// Maximum number of redirects on the way to a document.
const REDIRECTS: usize = 3;

/// A part of an exchange, for the frame log.
#[derive(Debug)]
pub struct LoginPart {
    /// The sender.
    pub direction: Direction,
    /// Its kind.
    pub part: WirePart,
    /// Its content, without secrets.
    pub body: Bytes,
}

/// Where the exchanges of a login are logged.
#[derive(Clone, Debug, Default)]
pub struct LoginLog {
    sender: Option<UnboundedSender<LoginPart>>,
    /// The number of the exchange that needed the login.
    exchange: u64,
}

impl LoginLog {
    /// A log, and its other end.
    pub fn new(exchange: u64) -> (Self, UnboundedReceiver<LoginPart>) {
        let (sender, parts) = unbounded_channel();
        (Self { sender: Some(sender), exchange }, parts)
    }

    fn add(&self, direction: Direction, part: WirePart, body: String) {
        if let Some(sender) = &self.sender {
            let _ = sender.send(LoginPart { direction, part, body: Bytes::from(body) });
        }
    }
}

/// Makes the exchanges of a login.
#[derive(Debug)]
pub(super) struct Exchanges<'e> {
    client: HttpClient,
    log: &'e LoginLog,
    /// Secrets that were sent and received so far: endpoints repeat them in their errors.
    secrets: Mutex<Vec<String>>,
}

/// A request of a login.
struct Ask<'a> {
    method: Method,
    url: &'a str,
    headers: Vec<(String, String)>,
    body: String,
    /// The body as it is logged.
    shown: String,
}

impl<'e> Exchanges<'e> {
    pub(super) fn new(client: &HttpClient, log: &'e LoginLog) -> Self {
        Self { client: client.anonymous(), log, secrets: Mutex::default() }
    }

    /// A text without the secrets of this login.
    pub(super) fn masked(&self, text: &str) -> String {
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        Redactor::new(secrets.iter().map(String::as_str)).text(text).into_owned()
    }

    /// Keeps secrets out of the log and of messages.
    pub(super) fn hide(&self, secrets: impl IntoIterator<Item = String>) {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).extend(secrets);
    }

    /// Gets a document.
    pub(super) async fn get(&self, url: &str, headers: Vec<(String, String)>) -> Document {
        let mut place = url.to_owned();
        for _ in 0..=REDIRECTS {
            let ask = Ask {
                method: Method::GET,
                url: &place,
                headers: headers.clone(),
                body: String::new(),
                shown: String::new(),
            };
            let document = self.ask(ask).await;
            let is_moved = matches!(document.status, Some(301 | 302 | 303 | 307 | 308));
            let location = document.header("location").next().filter(|_| is_moved).map(str::to_owned);
            match location {
                Some(location) => {
                    let next = crate::transport::resolve_url(&place, &location);
                    if is_exposed(&next, &place) {
                        let error = Some(format!("it redirects to `{}`, which is not encrypted", escape_line(&next)));
                        return Document { url: url.to_owned(), error, ..Document::default() };
                    }
                    place = next;
                }
                None => return Document { url: url.to_owned(), ..document },
            }
        }
        let error = Some(format!("it redirects more than {REDIRECTS} times"));
        Document { url: url.to_owned(), error, ..Document::default() }
    }

    /// Posts a form.
    pub(super) async fn post_form(
        &self,
        url: &str,
        form: &[(&str, String)],
        headers: Vec<(String, String)>,
    ) -> Document {
        let encode = |text: &str| percent_encoded(text, is_unreserved);
        let pairs = form.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let kind = ("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned());
        let headers = [kind].into_iter().chain(headers).collect();
        self.hide(form.iter().filter(|(name, _)| is_secret_field(name)).map(|(_, value)| value.clone()));
        let shown = masked_form(&body);
        self.ask(Ask { method: Method::POST, url, headers, body, shown }).await
    }

    /// Posts JSON.
    pub(super) async fn post_json(&self, url: &str, value: &Value, headers: Vec<(String, String)>) -> Document {
        let kind = ("content-type".to_owned(), "application/json".to_owned());
        let headers = [kind].into_iter().chain(headers).collect();
        let body = value.to_string();
        let shown = masked_json(body.as_bytes());
        self.ask(Ask { method: Method::POST, url, headers, body, shown }).await
    }

    async fn ask(&self, ask: Ask<'_>) -> Document {
        let url = ask.url.to_owned();
        if let Ok(document) = timeout(PATIENCE, self.exchange(ask)).await {
            document
        } else {
            let error = Some(format!("no answer within {} s", PATIENCE.as_secs()));
            Document { url, error, ..Document::default() }
        }
    }

    async fn exchange(&self, ask: Ask<'_>) -> Document {
        let failed = |error: String| Document { url: ask.url.to_owned(), error: Some(error), ..Document::default() };
        let agent = ("user-agent".to_owned(), concat!("mcprove/", env!("CARGO_PKG_VERSION")).to_owned());
        let accept = ("accept".to_owned(), "application/json".to_owned());
        let encoding = ("accept-encoding".to_owned(), "identity".to_owned());
        let headers = [agent, accept, encoding].into_iter().chain(ask.headers.clone()).collect();
        let (method, body) = (ask.method.clone(), Bytes::from(ask.body.clone()));
        let prepared = match prepare(HttpRequestParts { method, url: ask.url, headers, wished: &[], body }) {
            Ok(prepared) => prepared,
            Err(none) => return failed(none.what),
        };
        let exchange = self.log.exchange;
        let part = WirePart::HttpRequest {
            exchange,
            method: ask.method.as_str().to_owned(),
            url: masked_query(&without_password(ask.url)),
            headers: prepared.shown_headers().into(),
        };
        self.log.add(Direction::Sent, part, ask.shown);
        let response = match self.client.send(prepared).await {
            Ok(response) => response,
            Err(none) => return failed(none.what),
        };
        let status = response.status().as_u16();
        let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers: Vec<(String, String)> =
            response.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        let body = match read_body(response.into_body(), LIMIT).await {
            Ok(body) => body,
            Err((_, how)) => return failed(format!("the body of the answer {how}")),
        };
        let shown = headers.iter().map(|(name, value)| match name.as_str() {
            "set-cookie" => (name.clone(), mcprove_model::oauth::HIDDEN_VALUE.to_owned()),
            "location" => (name.clone(), masked_query(value)),
            _ => (name.clone(), value.clone()),
        });
        let part = WirePart::HttpResponse { exchange, status, headers: shown.collect::<Vec<_>>().into() };
        // As hosts do, a mark of the byte order is passed over.
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&body);
        let json = bounded_json::parse(body).filter(Value::is_object);
        self.hide(json.iter().flat_map(secrets_in));
        self.log.add(Direction::Received, part, self.masked(&masked_json(body)));
        Document { url: ask.url.to_owned(), status: Some(status), error: None, headers, json }
    }
}
