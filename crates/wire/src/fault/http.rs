//! Faults on HTTP: requests are forwarded one after the other, and replies are written anew where a fault changes them.

use std::collections::VecDeque;
use std::fmt::Write as _;

use bytes::Bytes;
use mcprove_model::bounded_json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::{Action, Injector, Inward};
use crate::relay::http_cut::{Head, HttpCutter, Piece, Side};
use crate::sse_parser::SseParser;

/// The longest reply that is held in memory.
const LONGEST: usize = 256 << 20;

/// Carries one HTTP connection of a client to a server until one of them closes it or a fault ends it.
pub async fn inject_http<C, S>(injector: &Injector, client: C, server: S)
where
    C: AsyncRead + AsyncWrite + Unpin,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (from_client, to_client) = tokio::io::split(client);
    let (from_server, to_server) = tokio::io::split(server);
    let mut client = Stream::new(from_client, Side::Requests);
    let mut link = Link { injector, server: Stream::new(from_server, Side::Responses), to_server, to_client };
    while let Some(request) = Request::read(&mut client).await {
        let is_open = tokio::select! {
            biased;
            is_open = link.exchange(&request) => is_open,
            // Nothing else is sent before the reply is complete; a client that leaves ends the exchange.
            () = client.closed() => false,
        };
        if !is_open || is_last(&request.head) {
            break;
        }
    }
    let _ = link.to_server.shutdown().await;
    let _ = link.to_client.shutdown().await;
}

/// True if a message is the last of its connection.
fn is_last(head: &Head) -> bool {
    head.get("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
}

/// One direction of a connection, in pieces.
struct Stream<R> {
    from: R,
    cutter: HttpCutter,
    pieces: VecDeque<Piece>,
}

impl<R: AsyncRead + Unpin> Stream<R> {
    fn new(from: R, side: Side) -> Self {
        Self { from, cutter: HttpCutter::new(side), pieces: VecDeque::new() }
    }

    /// The next piece; `None` at the end. Safe to cancel.
    async fn next(&mut self) -> Option<Piece> {
        while self.pieces.is_empty() {
            if !self.fill().await {
                return None;
            }
        }
        self.pieces.pop_front()
    }

    async fn fill(&mut self) -> bool {
        let mut chunk = vec![0; 16 << 10];
        let Ok(count @ 1..) = self.from.read(&mut chunk).await else { return false };
        self.pieces.extend(self.cutter.push(&chunk[..count], || false));
        true
    }

    /// Ends when the other side has closed the connection.
    async fn closed(&mut self) {
        while self.fill().await {}
    }
}

/// A whole request.
struct Request {
    head: Head,
    head_bytes: Bytes,
    /// Everything after the head.
    rest: Vec<u8>,
    body: Vec<u8>,
}

impl Request {
    async fn read(client: &mut Stream<impl AsyncRead + Unpin>) -> Option<Self> {
        let head_bytes = loop {
            if let Piece::Head(bytes) = client.next().await? {
                break bytes;
            }
        };
        let (mut rest, mut body) = (Vec::new(), Vec::new());
        loop {
            match client.next().await? {
                Piece::Data(data) => {
                    rest.extend_from_slice(&data);
                    body.extend_from_slice(&data);
                }
                Piece::Framing(bytes) => rest.extend_from_slice(&bytes),
                Piece::Head(_) | Piece::End => break,
            }
        }
        Some(Self { head: Head::parse(&head_bytes), head_bytes, rest, body })
    }
}

struct Link<'i, S, T, C> {
    injector: &'i Injector,
    server: Stream<S>,
    to_server: T,
    to_client: C,
}

impl<S: AsyncRead + Unpin, T: AsyncWrite + Unpin, C: AsyncWrite + Unpin> Link<'_, S, T, C> {
    /// One request and its response; false if the connection is over.
    async fn exchange(&mut self, request: &Request) -> bool {
        let scope = request.head.get("mcp-session-id").unwrap_or_default().to_owned();
        let message = bounded_json::parse(&request.body);
        let inward = message.as_ref().map_or(Inward::Pass, |message| self.injector.sent(&scope, message));
        match inward {
            Inward::Pass => {
                let bytes = [&request.head_bytes[..], &request.rest].concat();
                if self.to_server.write_all(&bytes).await.is_err() || self.to_server.flush().await.is_err() {
                    return false;
                }
            }
            Inward::Replace(message) => {
                let body = message.to_string();
                let name = message["params"]["name"].as_str();
                let mut bytes = reframed(&request.head, name, body.len()).into_bytes();
                bytes.extend_from_slice(body.as_bytes());
                if self.to_server.write_all(&bytes).await.is_err() || self.to_server.flush().await.is_err() {
                    return false;
                }
            }
            Inward::Lose => return std::future::pending().await,
            Inward::Accept => return self.put(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await,
            Inward::Answer(actions) => {
                let head = Head { first: "HTTP/1.1 200 OK".to_owned(), fields: Vec::new() };
                return self.reply(&head, &actions).await;
            }
        }
        self.response(&scope).await
    }

    async fn response(&mut self, scope: &str) -> bool {
        let Some(Piece::Head(bytes)) = self.server.next().await else { return false };
        let head = Head::parse(&bytes);
        let kind = head.get("content-type").unwrap_or_default().to_owned();
        let goes_on = !is_last(&head);
        if kind.starts_with("text/event-stream") {
            return self.stream(scope, &head).await && goes_on;
        }
        let (mut raw, mut body) = (bytes.to_vec(), Vec::new());
        loop {
            match self.server.next().await {
                Some(Piece::Data(data)) => {
                    raw.extend_from_slice(&data);
                    body.extend_from_slice(&data);
                }
                Some(Piece::Framing(bytes)) => raw.extend_from_slice(&bytes),
                Some(Piece::End) => break,
                Some(Piece::Head(_)) | None => return false,
            }
            if body.len() > LONGEST {
                return false;
            }
        }
        let message = bounded_json::parse(&body).filter(|_| kind.starts_with("application/json"));
        let Some(message) = message else { return self.put(&raw).await && goes_on };
        let before = message.clone();
        let actions = self.injector.received(scope, message);
        if actions == [Action::Send(before)] {
            return self.put(&raw).await && goes_on;
        }
        self.reply(&head, &actions).await && goes_on
    }

    /// Writes a reply that was not a stream; several messages make it one.
    async fn reply(&mut self, head: &Head, actions: &[Action]) -> bool {
        self.injector.wait(actions).await;
        let writes: Vec<&Action> = actions.iter().filter(|action| !action.is_wait()).collect();
        match writes.as_slice() {
            [] => self.put(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await,
            [Action::Send(message)] => self.whole(head, message.to_string().as_bytes()).await,
            [Action::Raw(bytes)] => self.whole(head, bytes).await,
            [Action::Drip(message, every)] => {
                let body = message.to_string();
                if !self.put(json_head(head, body.len()).as_bytes()).await {
                    return false;
                }
                for byte in body.into_bytes() {
                    if !self.put(&[byte]).await {
                        return false;
                    }
                    tokio::time::sleep(*every).await;
                }
                true
            }
            [Action::Cut(message)] => {
                let body = message.to_string();
                let part = [json_head(head, body.len()).as_bytes(), &super::change::first_half(message)].concat();
                self.put(&part).await;
                false
            }
            [Action::Close] => false,
            [Action::Freeze] => std::future::pending().await,
            [Action::Refuse(refusal)] => {
                let body = refusal.reply.to_string();
                let (name, value) = &refusal.header;
                let mut text = format!("HTTP/1.1 {}\r\ncontent-type: application/json\r\n", refusal.status);
                let _ = write!(text, "{name}: {value}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                self.put(text.as_bytes()).await
            }
            several => {
                let mut text = format!("{}\r\ncontent-type: text/event-stream\r\n", head.first);
                for (name, value) in kept(head) {
                    let _ = write!(text, "{name}: {value}\r\n");
                }
                text.push_str("transfer-encoding: chunked\r\n\r\n");
                if !self.put(text.as_bytes()).await {
                    return false;
                }
                for action in several {
                    if !self.event(action).await {
                        return false;
                    }
                }
                self.put(b"0\r\n\r\n").await
            }
        }
    }

    /// Writes the events of a stream as they come.
    async fn stream(&mut self, scope: &str, head: &Head) -> bool {
        let mut text = format!("{}\r\ncontent-type: text/event-stream\r\n", head.first);
        for (name, value) in kept(head) {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        text.push_str("transfer-encoding: chunked\r\n\r\n");
        if !self.put(text.as_bytes()).await {
            return false;
        }
        let mut parser = SseParser::new(LONGEST);
        loop {
            let data = match self.server.next().await {
                Some(Piece::Data(data)) => data,
                Some(Piece::Framing(_)) => continue,
                Some(Piece::End) => return self.put(b"0\r\n\r\n").await,
                Some(Piece::Head(_)) | None => return false,
            };
            for event in parser.push(&data).unwrap_or_default() {
                let body = event.data.unwrap_or_default();
                let Some(message) = bounded_json::parse(&body) else {
                    let kind = event.event.as_deref().unwrap_or("message");
                    let id = event.id.map(|id| format!("id: {id}\n")).unwrap_or_default();
                    let text = format!("event: {kind}\n{id}data: {}\n\n", String::from_utf8_lossy(&body));
                    if !self.chunk(text.as_bytes()).await {
                        return false;
                    }
                    continue;
                };
                let actions = self.injector.received(scope, message);
                self.injector.wait(&actions).await;
                for action in actions.iter().filter(|action| !action.is_wait()) {
                    if !self.event(action).await {
                        return false;
                    }
                }
            }
        }
    }

    /// Writes an action as an event of a stream; false if the connection is over.
    async fn event(&mut self, action: &Action) -> bool {
        let text = |data: &str| format!("event: message\ndata: {data}\n\n");
        match action {
            Action::Wait(_) | Action::UntilCancelled(_) | Action::UntilOther(..) => true,
            Action::Send(message) => self.chunk(text(&message.to_string()).as_bytes()).await,
            Action::Raw(bytes) => self.chunk(text(&String::from_utf8_lossy(bytes)).as_bytes()).await,
            Action::Refuse(refusal) => self.chunk(text(&refusal.reply.to_string()).as_bytes()).await,
            Action::Drip(message, every) => {
                for byte in text(&message.to_string()).into_bytes() {
                    if !self.chunk(&[byte]).await {
                        return false;
                    }
                    tokio::time::sleep(*every).await;
                }
                true
            }
            Action::Cut(message) => {
                let half = super::change::first_half(message);
                self.chunk(format!("event: message\ndata: {}", String::from_utf8_lossy(&half)).as_bytes()).await;
                false
            }
            Action::Close => false,
            Action::Freeze => std::future::pending().await,
        }
    }

    async fn chunk(&mut self, bytes: &[u8]) -> bool {
        let framed = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
        self.put(&framed).await
    }

    async fn whole(&mut self, head: &Head, body: &[u8]) -> bool {
        let bytes = [json_head(head, body.len()).as_bytes(), body].concat();
        self.put(&bytes).await
    }

    async fn put(&mut self, bytes: &[u8]) -> bool {
        self.to_client.write_all(bytes).await.is_ok() && self.to_client.flush().await.is_ok()
    }
}

/// The headers of a head that do not describe its body.
fn kept(head: &Head) -> impl Iterator<Item = &(String, String)> {
    let own = ["content-length", "content-type", "transfer-encoding"];
    head.fields.iter().filter(move |(name, _)| !own.iter().any(|own| name.eq_ignore_ascii_case(own)))
}

fn json_head(head: &Head, length: usize) -> String {
    let mut text = format!("{}\r\ncontent-type: application/json\r\n", head.first);
    for (name, value) in kept(head) {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    let _ = write!(text, "content-length: {length}\r\n\r\n");
    text
}

/// The head of a request with a body of another length, which names another tool.
fn reframed(head: &Head, tool: Option<&str>, length: usize) -> String {
    let mut text = format!("{}\r\n", head.first);
    let own = ["content-length", "transfer-encoding"];
    for (name, value) in head.fields.iter().filter(|(name, _)| !own.iter().any(|own| name.eq_ignore_ascii_case(own))) {
        // Since 2026-07-28, servers compare this header with the body.
        let value = tool.filter(|_| name.eq_ignore_ascii_case("mcp-name")).unwrap_or(value);
        let _ = write!(text, "{name}: {value}\r\n");
    }
    let _ = write!(text, "content-length: {length}\r\n\r\n");
    text
}
