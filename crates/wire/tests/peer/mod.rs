//! A web server for tests that does exactly what it is told, byte for byte.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
    /// Which connection it came on, from 0.
    pub(crate) connection: usize,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC method; empty when there is none.
    pub(crate) fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }
}

/// What the connection is to do next.
enum Op {
    Bytes(Vec<u8>),
    Close,
    Reset,
}

/// The answer to a request. The exchange is over when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Out(mpsc::UnboundedSender<Op>);

impl Out {
    pub(crate) fn raw(&self, bytes: impl Into<Vec<u8>>) {
        let _ = self.0.send(Op::Bytes(bytes.into()));
    }

    pub(crate) fn close(&self) {
        let _ = self.0.send(Op::Close);
    }

    pub(crate) fn reset(&self) {
        let _ = self.0.send(Op::Reset);
    }

    /// A whole answer with a body.
    pub(crate) fn answer(&self, status: u16, headers: &[(&str, &str)], body: &[u8]) {
        let mut bytes = head(status, headers, &format!("Content-Length: {}\r\n", body.len()));
        bytes.extend_from_slice(body);
        self.raw(bytes);
    }

    pub(crate) fn json(&self, body: &Value) {
        self.answer(200, &[("Content-Type", "application/json")], body.to_string().as_bytes());
    }

    /// Begins an event stream.
    pub(crate) fn stream(&self, headers: &[(&str, &str)]) {
        let mut headers = headers.to_vec();
        headers.push(("Content-Type", "text/event-stream"));
        self.raw(head(200, &headers, "Transfer-Encoding: chunked\r\n"));
    }

    pub(crate) fn chunk(&self, bytes: &[u8]) {
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.raw(chunk);
    }

    pub(crate) fn event(&self, message: &Value) {
        self.chunk(format!("event: message\ndata: {message}\n\n").as_bytes());
    }

    /// Ends a stream properly.
    pub(crate) fn end(&self) {
        self.raw(*b"0\r\n\r\n");
    }
}

fn head(status: u16, headers: &[(&str, &str)], framing: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} Whatever\r\n{framing}");
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// Everything that came so far.
#[derive(Debug, Default)]
struct Log {
    seen: Vec<Seen>,
    hangups: usize,
}

/// A running server; it ends when dropped.
pub(crate) struct HttpPeer {
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Log>>,
    task: tokio::task::JoinHandle<()>,
}

impl HttpPeer {
    /// Starts a server that gives every request to `handle`, which answers now or keeps `Out` for later.
    pub(crate) async fn start(handle: impl Fn(Seen, Out) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let log = Arc::<Mutex<Log>>::default();
        let handle = Arc::new(handle);
        let shared = log.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            let mut number = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                connections.spawn(serve(stream, number, handle.clone(), shared.clone()));
                number += 1;
            }
        });
        Self { address, log, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Every request so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).seen.clone()
    }

    /// How often the client went away in the middle of an exchange.
    pub(crate) async fn hung_up(&self) -> usize {
        // The client's side is closed by a task of its own.
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.log.lock().unwrap_or_else(PoisonError::into_inner).hangups
    }
}

impl Drop for HttpPeer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    handle: Arc<impl Fn(Seen, Out) + Send + Sync + 'static>,
    log: Arc<Mutex<Log>>,
) {
    let mut inbox = Vec::new();
    while let Some(seen) = read_request(&mut stream, &mut inbox, connection).await {
        log.lock().unwrap_or_else(PoisonError::into_inner).seen.push(seen.clone());
        let (tell, mut told) = mpsc::unbounded_channel();
        handle(seen, Out(tell));
        loop {
            let mut byte = [0; 1];
            tokio::select! {
                biased;
                op = told.recv() => match op {
                    Some(Op::Bytes(bytes)) => {
                        if stream.write_all(&bytes).await.is_err() {
                            log.lock().unwrap_or_else(PoisonError::into_inner).hangups += 1;
                            return;
                        }
                    }
                    Some(Op::Close) => return,
                    Some(Op::Reset) => {
                        let _ = stream.set_zero_linger();
                        return;
                    }
                    None => break,
                },
                read = stream.read(&mut byte) => {
                    if let Ok(1) = read {
                        inbox.push(byte[0]);
                        continue;
                    }
                    log.lock().unwrap_or_else(PoisonError::into_inner).hangups += 1;
                    return;
                }
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream, inbox: &mut Vec<u8>, connection: usize) -> Option<Seen> {
    let end = loop {
        if let Some(at) = inbox.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(inbox).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&inbox[..end]).into_owned();
    inbox.drain(..end + 4);
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ').map(str::to_owned);
    let headers: Vec<(String, String)> =
        lines.filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
    let mut seen = Seen { method: first.next()?, path: first.next()?, headers, body: Value::Null, connection };
    let length: usize = seen.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    while inbox.len() < length {
        if stream.read_buf(inbox).await.ok()? == 0 {
            return None;
        }
    }
    let body: Vec<u8> = inbox.drain(..length).collect();
    seen.body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(seen)
}
