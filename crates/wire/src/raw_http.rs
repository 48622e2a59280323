//! HTTP requests for those who need every header and status themselves: nothing is added, followed or resumed unasked.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use tokio::sync::mpsc::Sender;
use tokio::task::AbortHandle;

use crate::sse_parser::{SseEvent, SseParser};
use crate::transport::HttpClient;
use crate::transport::http_client::Prepared;

/// The way to a server.
#[derive(Clone)]
pub enum HttpRoute {
    /// Over the network.
    Network(HttpClient),
    /// To a server in this process: each call makes a connection.
    Memory(Arc<dyn Fn() -> DuplexStream + Send + Sync>),
}

impl fmt::Debug for HttpRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Network(_) => "Network",
            Self::Memory(_) => "Memory",
        })
    }
}

/// A request, byte for byte.
#[derive(Clone, Debug)]
pub struct RawRequest {
    /// The method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The headers; values may be any bytes that HTTP can carry.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Bytes,
}

/// Something that came back.
#[derive(Clone, Debug)]
pub enum RawReply {
    /// The head of the response.
    Head {
        /// Its status.
        status: u16,
        /// Its headers.
        headers: Vec<(String, String)>,
    },
    /// The whole body of a response that is not an event stream.
    Body(Bytes),
    /// An event of a stream.
    Event(SseEvent),
    /// The response is complete.
    Ended,
    /// The request got no response, or the response broke off.
    Failed(String),
}

/// Sends a request; each part of the response is sent to `replies` with the number of the exchange. The server waits while
/// `replies` is full.
pub fn send_raw(
    route: HttpRoute,
    request: RawRequest,
    exchange: u64,
    limit: usize,
    replies: Sender<(u64, RawReply)>,
) -> AbortHandle {
    let task = tokio::spawn(async move {
        let replies = Replies { exchange, replies };
        // Without a receiver, nothing more is read.
        let _ = match respond(&route, request).await {
            Ok(response) => read(response, limit, &replies).await,
            Err(why) => replies.send(RawReply::Failed(why)).await,
        };
    });
    task.abort_handle()
}

async fn respond(route: &HttpRoute, raw: RawRequest) -> Result<Response<Incoming>, String> {
    let uri: Uri = raw.url.parse().map_err(|error| format!("`{}` is not a URL: {error}", raw.url))?;
    let mut request = Request::new(Full::new(raw.body));
    *request.method_mut() = Method::from_bytes(raw.method.as_bytes()).map_err(|error| error.to_string())?;
    for (name, value) in &raw.headers {
        let name = HeaderName::try_from(name.as_str()).map_err(|error| error.to_string())?;
        let value = HeaderValue::from_bytes(value).map_err(|error| error.to_string())?;
        request.headers_mut().insert(name, value);
    }
    match route {
        HttpRoute::Network(client) => {
            *request.uri_mut() = uri;
            client.send(Prepared::raw(request)).await.map_err(|none| none.what)
        }
        HttpRoute::Memory(connect) => {
            let host = uri.authority().map_or_else(|| "127.0.0.1".to_owned(), ToString::to_string);
            *request.uri_mut() =
                uri.path_and_query().map_or("/", |path| path.as_str()).parse().map_err(|_| "no path".to_owned())?;
            if let Ok(host) = HeaderValue::from_str(&host) {
                request.headers_mut().entry("host").or_insert(host);
            }
            let handshake = hyper::client::conn::http1::handshake(TokioIo::new(connect()));
            let (mut sender, connection) = handshake.await.map_err(|error| error.to_string())?;
            tokio::spawn(connection);
            sender.send_request(request).await.map_err(|error| error.to_string())
        }
    }
}

/// The way back of an exchange.
struct Replies {
    exchange: u64,
    replies: Sender<(u64, RawReply)>,
}

/// The receiver is gone.
struct Unheard;

impl Replies {
    async fn send(&self, reply: RawReply) -> Result<(), Unheard> {
        self.replies.send((self.exchange, reply)).await.map_err(|_| Unheard)
    }
}

async fn read(response: Response<Incoming>, limit: usize, replies: &Replies) -> Result<(), Unheard> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: Vec<(String, String)> =
        response.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    let kind = response.headers().get("content-type").map(text).unwrap_or_default();
    replies.send(RawReply::Head { status: response.status().as_u16(), headers }).await?;
    let is_stream = kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
    let mut parser = SseParser::new(limit);
    let mut whole = Vec::new();
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        let data = match frame.map(hyper::body::Frame::into_data) {
            Ok(Ok(data)) => data,
            Ok(Err(_)) => continue,
            Err(error) => return replies.send(RawReply::Failed(error.to_string())).await,
        };
        if !is_stream {
            whole.extend_from_slice(&data);
            if whole.len() > limit {
                return replies.send(RawReply::Failed("the response is too long".to_owned())).await;
            }
            continue;
        }
        let Ok(events) = parser.push(&data) else {
            return replies.send(RawReply::Failed("an event is too long".to_owned())).await;
        };
        for event in events {
            replies.send(RawReply::Event(event)).await?;
        }
    }
    if !whole.is_empty() {
        replies.send(RawReply::Body(Bytes::from(whole))).await?;
    }
    replies.send(RawReply::Ended).await
}
