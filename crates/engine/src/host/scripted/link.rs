//! The wire of a scripted client: lines, or HTTP exchanges, in this program.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use mcprove_wire::{HttpRelay, SseParser};
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// Something that came in.
#[derive(Debug)]
pub(super) enum Incoming {
    Message(Value),
    /// A status other than success, with its headers, for the request of this id.
    Status(u16, HashMap<String, String>, Value),
    /// The response to a request ended without a reply, or the pipe ended.
    Closed(Value),
    /// Bytes that are not a message.
    Garbage(Value),
}

/// An HTTP request.
pub(super) struct Post {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    /// The id of the request in its body.
    pub(super) id: Value,
}

/// A way to a server.
pub(super) enum Link {
    Lines {
        reader: BufReader<ReadHalf<DuplexStream>>,
        writer: WriteHalf<DuplexStream>,
        line: Vec<u8>,
    },
    Http {
        relay: Arc<HttpRelay>,
        inbox: mpsc::UnboundedReceiver<Incoming>,
        sender: mpsc::UnboundedSender<Incoming>,
        open: HashMap<String, AbortHandle>,
        session: Arc<std::sync::Mutex<Option<String>>>,
    },
}

impl Link {
    pub(super) fn lines(stream: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self::Lines { reader: BufReader::new(reader), writer, line: Vec::new() }
    }

    pub(super) fn http(relay: Arc<HttpRelay>) -> Self {
        let (sender, inbox) = mpsc::unbounded_channel();
        Self::Http { relay, inbox, sender, open: HashMap::new(), session: Arc::default() }
    }

    /// The session id that the server gave.
    pub(super) fn session(&self) -> Option<String> {
        match self {
            Self::Lines { .. } => None,
            Self::Http { session, .. } => session.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone(),
        }
    }

    /// Writes bytes to a pipe; false if it is closed.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> bool {
        match self {
            Self::Lines { writer, .. } => writer.write_all(bytes).await.is_ok() && writer.flush().await.is_ok(),
            Self::Http { .. } => false,
        }
    }

    /// Sends an HTTP request; its reply arrives like any message.
    pub(super) fn post(&mut self, post: Post) {
        let Self::Http { relay, sender, open, session, .. } = self else { return };
        let stream = relay.connect();
        let (sender, session) = (sender.clone(), Arc::clone(session));
        let key = post.id.to_string();
        let task = tokio::spawn(async move {
            let id = post.id.clone();
            let ended = exchange(stream, post, &sender, &session).await;
            if !ended {
                let _ = sender.send(Incoming::Closed(id));
            }
        });
        open.insert(key, task.abort_handle());
    }

    /// Closes the stream of a request.
    pub(super) fn abort(&mut self, id: &Value) {
        if let Self::Http { open, .. } = self
            && let Some(task) = open.remove(&id.to_string())
        {
            task.abort();
        }
    }

    /// The next thing that comes in. Safe to cancel.
    pub(super) async fn receive(&mut self) -> Incoming {
        match self {
            Self::Http { inbox, .. } => match inbox.recv().await {
                Some(incoming) => incoming,
                None => std::future::pending().await,
            },
            Self::Lines { reader, line, .. } => {
                let ended = !reader.read_until(b'\n', line).await.is_ok_and(|count| count > 0);
                let bytes = std::mem::take(line);
                if ended {
                    return Incoming::Closed(Value::Null);
                }
                match serde_json::from_slice(&bytes) {
                    Ok(message) => Incoming::Message(message),
                    Err(_) => Incoming::Garbage(Value::Null),
                }
            }
        }
    }

    /// Closes the way.
    pub(super) async fn close(self) {
        match self {
            Self::Lines { mut writer, .. } => {
                let _ = writer.shutdown().await;
            }
            Self::Http { open, .. } => {
                for task in open.into_values() {
                    task.abort();
                }
            }
        }
    }
}

/// One HTTP exchange; true if the request got what it waits for.
async fn exchange(
    mut stream: DuplexStream,
    post: Post,
    sender: &mpsc::UnboundedSender<Incoming>,
    session: &std::sync::Mutex<Option<String>>,
) -> bool {
    let mut head = format!("{} {} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n", post.method, post.path);
    for (name, value) in &post.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let _ = write!(head, "content-length: {}\r\n\r\n", post.body.len());
    if stream.write_all(head.as_bytes()).await.is_err() || stream.write_all(&post.body).await.is_err() {
        return false;
    }
    let mut reader = BufReader::new(stream);
    let mut status_line = String::new();
    if !reader.read_line(&mut status_line).await.is_ok_and(|count| count > 0) {
        return false;
    }
    let status: u16 = status_line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        if !reader.read_line(&mut line).await.is_ok_and(|count| count > 0) {
            return false;
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    if let Some(id) = headers.get("mcp-session-id") {
        *session.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(id.clone());
    }
    let is_stream = headers.get("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let mut body = Body::new(&headers);
    let mut answered = post.id.is_null();
    let mut whole = Vec::new();
    let mut parser = SseParser::new(64 << 20);
    while let Some(data) = body.next(&mut reader).await {
        if !is_stream {
            whole.extend_from_slice(&data);
            continue;
        }
        for event in parser.push(&data).unwrap_or_default() {
            let Some(data) = event.data else { continue };
            if let Ok(message) = serde_json::from_slice::<Value>(&data) {
                answered |= message.get("method").is_none() && message.get("id") == Some(&post.id);
                let _ = sender.send(Incoming::Message(message));
            } else {
                let _ = sender.send(Incoming::Garbage(post.id.clone()));
                answered = true;
            }
        }
    }
    if is_stream {
        return answered;
    }
    let json = serde_json::from_slice::<Value>(&whole);
    match (status, json) {
        (200..=299, Ok(message)) => {
            let _ = sender.send(Incoming::Message(message));
            // A reply to another request is none to this one.
            true
        }
        (202 | 204, Err(_)) => true,
        (200..=299, Err(_)) if body.is_whole() => {
            let _ = sender.send(Incoming::Garbage(post.id));
            true
        }
        (200..=299, Err(_)) => false,
        (status, _) => {
            let _ = sender.send(Incoming::Status(status, headers, post.id));
            true
        }
    }
}

/// The body of a response, as far as it came.
enum Body {
    Length(usize),
    Chunked { is_over: bool },
}

impl Body {
    fn new(headers: &HashMap<String, String>) -> Self {
        match headers.get("content-length").and_then(|length| length.parse().ok()) {
            Some(length) => Self::Length(length),
            None => Self::Chunked { is_over: false },
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self, Self::Length(0) | Self::Chunked { is_over: true })
    }

    async fn next(&mut self, reader: &mut BufReader<DuplexStream>) -> Option<Vec<u8>> {
        match self {
            Self::Length(0) | Self::Chunked { is_over: true } => None,
            Self::Length(left) => {
                let mut chunk = vec![0; (*left).min(64 << 10)];
                let count = reader.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
                *left -= count;
                chunk.truncate(count);
                Some(chunk)
            }
            Self::Chunked { is_over } => {
                let mut size = String::new();
                reader.read_line(&mut size).await.ok().filter(|count| *count > 0)?;
                let size = usize::from_str_radix(size.trim(), 16).ok()?;
                let mut chunk = vec![0; size + 2];
                reader.read_exact(&mut chunk).await.ok()?;
                chunk.truncate(size);
                *is_over = size == 0;
                (size > 0).then_some(chunk)
            }
        }
    }
}
