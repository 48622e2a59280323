//! Between clients that speak HTTP and a server somewhere else.
//!
//! Everything that passes the [`Gate`] is forwarded byte for byte. Only what names the server is changed in the head of
//! a request: the `Host` field, and the fields the user adds.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tower_service::Service as _;

use super::Tap;
use super::gate::{Gate, Refusal};
use super::http_cut::{Head, HttpCutter, Piece, Side};
use super::http_tap::{Conversations, RequestTap, taps};
use super::pump::{Flow, pass_on, pump};
use crate::connections::{Connection, Connections};
use crate::fault::{Injector, inject_http};
use crate::transport::secure_connector;
use crate::{Limits, Listener};

/// Idle time of a connection after its client has closed its side.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same where the client is what is tested.
const LEFT: Duration = Duration::from_millis(50);

/// Maximum number of connections of clients; each has one to the server.
const CONNECTIONS: usize = 512;
/// Pause when a connection cannot be accepted, most likely because there are too many.
const BUSY: Duration = Duration::from_millis(50);

/// The server that clients are connected to.
#[derive(Clone, Debug)]
pub struct Upstream {
    uri: Uri,
    host: String,
    port: u16,
    /// TLS configuration, for an `https` URL.
    secure: Option<HttpsConnector<HttpConnector>>,
    /// Header fields added to every request.
    fields: Vec<(String, String)>,
    /// Connections to a server in this program, in place of the network.
    local: Option<LocalConnections>,
    /// Faults in front of the server.
    faults: Option<Injector>,
}

/// Connections to a server in this program.
#[derive(Clone)]
struct LocalConnections(Arc<dyn Fn() -> DuplexStream + Send + Sync>);

impl fmt::Debug for LocalConnections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalConnections")
    }
}

impl Upstream {
    /// The server at a URL; the error says what is wrong with it.
    pub fn new(url: &str, fields: Vec<(String, String)>) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("`{url}` is not an address: {error}"))?;
        let (default, secure) = match uri.scheme_str() {
            Some("http") => (80, None),
            Some("https") => (443, Some(secure_connector()?)),
            Some(_) | None => return Err(format!("`{url}` does not begin with `http://` or `https://`")),
        };
        let Some(host) = uri.host() else { return Err(format!("`{url}` names no host")) };
        if let Some((name, _)) = fields.iter().find(|(name, value)| [name, value].iter().any(|text| has_break(text))) {
            return Err(format!("the header field `{name}` has a line break in it"));
        }
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self { port: uri.port_u16().unwrap_or(default), host, secure, fields, uri, local: None, faults: None })
    }

    /// A server in this program, at the path `/mcp`.
    pub fn local(connect: Arc<dyn Fn() -> DuplexStream + Send + Sync>) -> Self {
        Self {
            uri: Uri::from_static("http://localhost/mcp"),
            host: "localhost".to_owned(),
            port: 80,
            secure: None,
            fields: Vec::new(),
            local: Some(LocalConnections(connect)),
            faults: None,
        }
    }

    /// The same server with faults in front of it.
    #[must_use]
    pub fn with_faults(self, faults: Injector) -> Self {
        Self { faults: Some(faults), ..self }
    }

    /// The path of the server's endpoint, which clients use too.
    pub fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", hyper::http::uri::PathAndQuery::as_str)
    }

    async fn connect(&self) -> Result<Box<dyn Stream>, String> {
        let server = self.connect_healthy().await?;
        let Some(injector) = self.faults.clone().filter(Injector::is_needed) else { return Ok(server) };
        let (near, far) = tokio::io::duplex(64 << 10);
        tokio::spawn(async move { inject_http(&injector, far, server).await });
        Ok(Box::new(near))
    }

    async fn connect_healthy(&self) -> Result<Box<dyn Stream>, String> {
        if let Some(LocalConnections(connect)) = &self.local {
            return Ok(Box::new(connect()));
        }
        let Some(mut secure) = self.secure.clone() else {
            let stream =
                TcpStream::connect((self.host.as_str(), self.port)).await.map_err(|error| error.to_string())?;
            stream.set_nodelay(true).map_err(|error| error.to_string())?;
            return Ok(Box::new(stream));
        };
        let stream = secure.call(self.uri.clone()).await.map_err(|error| innermost(error.as_ref()))?;
        Ok(Box::new(TokioIo::new(stream)))
    }

    /// The head of a request as the server is to see it.
    fn rewritten(&self, head: &[u8]) -> Vec<u8> {
        let authority = self.uri.authority().map(hyper::http::uri::Authority::as_str).unwrap_or_default();
        let mut result = Vec::with_capacity(head.len() + 64);
        let mut added = self.fields.is_empty();
        for line in head.split_inclusive(|byte| *byte == b'\n') {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            if name.eq_ignore_ascii_case(b"host") {
                result.extend_from_slice(&line[..name.len()]);
                result.extend_from_slice(format!(": {authority}\r\n").as_bytes());
            } else if self.fields.iter().any(|(field, _)| name.eq_ignore_ascii_case(field.as_bytes())) {
                // The user's own takes its place.
            } else {
                result.extend_from_slice(line);
            }
            if !added && !line.trim_ascii().is_empty() {
                added = true;
                for (name, value) in &self.fields {
                    result.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
                }
            }
        }
        result
    }
}

/// A listening relay.
#[derive(Debug)]
pub struct HttpRelay {
    /// The socket; `None` if all clients are in this program.
    listener: Option<Listener>,
    upstream: Upstream,
    conversations: Arc<Conversations>,
    /// Idle time of a connection after its client has closed its side.
    patience: Duration,
}

impl HttpRelay {
    /// Listens at `HOST:PORT`; port 0 takes any that is free.
    pub async fn listen(address: &str, upstream: Upstream, tap: Tap, limits: Limits) -> io::Result<Self> {
        let listener = Listener::bind(address).await?;
        Ok(Self { listener: Some(listener), ..Self::local(address, upstream, tap, limits) })
    }

    /// A relay without a socket, for clients in this program.
    pub fn local(address: &str, upstream: Upstream, tap: Tap, limits: Limits) -> Self {
        let gate = Gate::new(address, upstream.path()).lenient(tap.reveals);
        // Observers of a client need the time when it left, not what would still have been answered.
        let patience = if tap.reveals { LEFT } else { PATIENCE };
        let conversations = Arc::new(Conversations::new(tap, gate, limits.message_bytes));
        Self { listener: None, upstream, conversations, patience }
    }

    /// The URL for clients.
    pub fn url(&self) -> String {
        let address = self.listener.as_ref().map_or_else(|| "localhost".to_owned(), |own| own.address().to_string());
        format!("http://{address}{}", self.upstream.path())
    }

    /// A connection of a client in this program.
    pub fn connect(self: &Arc<Self>) -> DuplexStream {
        let (near, far) = tokio::io::duplex(64 << 10);
        let this = Arc::clone(self);
        // What goes wrong on a connection is the client's business.
        tokio::spawn(async move { this.carry(far, None).await.ok() });
        near
    }

    /// Forwards connections until it is stopped; errors of connections go to `complain`.
    pub async fn run(self, stopped: impl Future<Output = ()>, complain: impl Fn(&str)) {
        tokio::pin!(stopped);
        let this = Arc::new(self);
        let mut connections = JoinSet::new();
        let Some(listener) = &this.listener else { return stopped.await };
        let open = Connections::new(CONNECTIONS);
        loop {
            tokio::select! {
                () = &mut stopped => return,
                client = listener.accept() => match client {
                    Ok(client) => {
                        // One that is not taken is closed.
                        let Some(connection) = open.admit() else { continue };
                        let this = this.clone();
                        connections.spawn(async move {
                            let carried = this.carry(client, Some(Arc::clone(&connection)));
                            tokio::select! {
                                carried = carried => carried,
                                () = connection.over() => Ok(()),
                            }
                        });
                    }
                    Err(error) => {
                        complain(&format!("a client could not be accepted: {error}"));
                        open.make_room();
                        tokio::time::sleep(BUSY).await;
                    }
                },
                Some(carried) = connections.join_next() => {
                    if let Ok(Err(complaint)) = carried {
                        complain(&complaint);
                    }
                }
            }
        }
    }

    async fn carry(&self, mut client: impl Stream, connection: Option<Arc<Connection>>) -> Result<(), String> {
        let server = match self.upstream.connect().await {
            Ok(server) => server,
            Err(error) => {
                let what = format!("the server at {} could not be reached: {error}", self.upstream.uri);
                refuse(&mut client, &what).await;
                return Err(what);
            }
        };
        let (from_client, mut to_client) = tokio::io::split(client);
        let (from_server, mut to_server) = tokio::io::split(server);
        let (mut asked, mut answered) = taps(self.conversations.clone(), connection);
        let (sending, receiving) = (Flow::default(), Flow::default());
        let mut down = Box::pin(pump(from_server, &mut to_client, &receiving, &mut answered));
        let mut up = Box::pin(self.requests(from_client, &mut to_server, &sending, &mut asked));
        let (is_over, refused) = tokio::select! {
            _ = &mut down => (true, None),
            refused = &mut up => (false, refused.err()),
        };
        if let Some(refusal) = refused {
            drop((up, down));
            if asked.is_idle() {
                answer(&mut to_client, refusal.status, &refusal.why).await;
            }
            return Err(format!("a request was refused ({}): {}", refusal.status, refusal.why));
        }
        // The client has closed its side; an answer may still be on its way.
        if !is_over {
            tokio::select! {
                _ = &mut down => {}
                () = receiving.quiet_for(self.patience) => {}
            }
        }
        drop((up, down));
        asked.finish().await;
        if !is_over {
            asked.left().await;
        }
        answered.finish().await;
        Ok(())
    }

    /// Client to server; only heads are changed.
    async fn requests(
        &self,
        mut from: impl AsyncRead + Unpin,
        to: &mut (impl AsyncWrite + Unpin),
        flow: &Flow,
        asked: &mut RequestTap,
    ) -> Result<(), Refusal> {
        let mut cutter = HttpCutter::new(Side::Requests);
        let mut chunk = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut chunk).await {
            let pieces = cutter.push(&chunk[..count], || false);
            let mut bytes = Vec::with_capacity(count + 64);
            for piece in &pieces {
                match piece {
                    Piece::Head(head) => {
                        self.conversations.gate.check(head, &Head::parse(head)).await?;
                        bytes.extend(self.upstream.rewritten(head));
                    }
                    Piece::Data(data) | Piece::Framing(data) => bytes.extend_from_slice(data),
                    Piece::End => {}
                }
            }
            if cutter.is_lost() {
                let why = "the head of the request cannot be read".to_owned();
                return Err(Refusal { status: "400 Bad Request", why });
            }
            // Before it is passed on, so that it comes before its answer.
            asked.observe(&pieces).await?;
            if !pass_on(to, &bytes, flow).await {
                return Ok(());
            }
        }
        // What cannot be closed is closed already.
        let _ = to.shutdown().await;
        Ok(())
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Answers a client that cannot be helped.
async fn refuse(client: &mut (impl AsyncRead + AsyncWrite + Unpin), what: &str) {
    // Its request is read first: closing on unread bytes would take the answer away from it.
    let mut request = vec![0; 64 << 10];
    let _ = client.read(&mut request).await;
    answer(client, "502 Bad Gateway", what).await;
}

async fn answer(client: &mut (impl AsyncWrite + Unpin), status: &str, what: &str) {
    let mut answer = format!("HTTP/1.1 {status}\r\ncontent-type: text/plain\r\nconnection: close\r\n");
    let _ = write!(answer, "content-length: {}\r\n\r\n{what}", what.len());
    let _ = client.write_all(answer.as_bytes()).await;
    let _ = client.shutdown().await;
}

fn has_break(text: &str) -> bool {
    text.contains(['\r', '\n'])
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_the_server_is_changed() {
        let head = b"POST /mcp HTTP/1.1\r\nHOST:127.0.0.1:9\r\nX-Odd:  a b \r\nAuthorization: old\r\n\r\n";
        let fields = vec![("authorization".to_owned(), "new".to_owned())];
        let upstream = Upstream::new("http://example.test:81/mcp", fields).expect("an address");
        let seen = String::from_utf8(upstream.rewritten(head)).expect("text");
        assert_eq!(seen, "POST /mcp HTTP/1.1\r\nauthorization: new\r\nHOST: example.test:81\r\nX-Odd:  a b \r\n\r\n");
        let plain = Upstream::new("http://127.0.0.1:9/mcp", Vec::new()).expect("an address");
        assert_eq!(plain.rewritten(b"GET / HTTP/1.1\r\nA: b\r\n\r\n"), b"GET / HTTP/1.1\r\nA: b\r\n\r\n");
        assert_eq!(plain.path(), "/mcp");
    }

    #[test]
    fn addresses_are_looked_at_before_anything_begins() {
        for (url, word) in [("ftp://x", "does not begin"), ("http://", "not an address"), ("/mcp", "does not begin")] {
            let error = Upstream::new(url, Vec::new()).expect_err(url);
            assert!(error.contains(word), "{error}");
        }
        let broken = vec![("a".to_owned(), "b\r\nc: d".to_owned())];
        assert!(Upstream::new("http://x", broken).expect_err("a line break").contains("line break"));
    }
}
