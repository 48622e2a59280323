//! A client that sees every line a mock writes.

use std::time::Duration;

use mcprove_mock::{Mock, MockOptions, Offer, read};
use mcprove_model::SourceFile;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// How long anything may take before a test is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// One end of a pipe with a mock at the other.
pub(crate) struct Client {
    reader: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    pub(crate) server: JoinHandle<std::io::Result<()>>,
    next_id: u64,
    /// What came while something else was awaited.
    pub(crate) heard: Vec<Value>,
    /// What every request carries, in the modern era.
    pub(crate) meta: Option<Value>,
}

/// What is offered by a manifest that has no mistakes.
pub(crate) fn offer(manifest: &str) -> Offer {
    let (offer, findings) = read(&SourceFile::new("m.yml", manifest));
    assert!(findings.is_empty(), "{findings:?}");
    offer.expect("an offer")
}

/// A mock of a manifest that has no mistakes.
pub(crate) fn mock(manifest: &str) -> Mock {
    Mock::new(offer(manifest), MockOptions::default())
}

/// The `_meta` of a modern client with these capabilities.
pub(crate) fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

impl Client {
    /// A client that has said nothing yet.
    pub(crate) fn new(mock: &Mock) -> Self {
        let (near, far) = tokio::io::duplex(1 << 16);
        let mock = mock.clone();
        let server = tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(far);
            mock.serve(reader, writer).await
        });
        Self::over(near, server)
    }

    /// A client at one end of a pipe, with the task that serves the other.
    pub(crate) fn over(near: DuplexStream, server: JoinHandle<std::io::Result<()>>) -> Self {
        let (reader, writer) = tokio::io::split(near);
        Self { reader: BufReader::new(reader).lines(), writer, server, next_id: 1, heard: Vec::new(), meta: None }
    }

    /// A client of the legacy era, after its handshake.
    pub(crate) async fn legacy(mock: &Mock, capabilities: Value) -> Self {
        let mut client = Self::new(mock);
        client.initialize("2025-11-25", capabilities).await;
        client
    }

    /// A client of the modern era.
    pub(crate) fn modern(mock: &Mock, capabilities: &Value) -> Self {
        Self { meta: Some(meta(capabilities)), ..Self::new(mock) }
    }

    /// Clients of both eras.
    pub(crate) async fn both(mock: &Mock) -> [Self; 2] {
        [Self::legacy(mock, json!({})).await, Self::modern(mock, &json!({}))]
    }

    pub(crate) async fn initialize(&mut self, revision: &str, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": revision, "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"},
        });
        let reply = self.ask("initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        reply
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.writer.write_all(format!("{text}\n").as_bytes()).await.expect("the mock reads");
    }

    /// Sends a request and says which id it has.
    pub(crate) async fn start(&mut self, method: &str, params: Value) -> Value {
        let id = json!(self.next_id);
        self.next_id += 1;
        let mut params = if params.is_null() { json!({}) } else { params };
        if let Some(meta) = &self.meta {
            for (key, value) in meta.as_object().expect("an object") {
                params["_meta"][key] = value.clone();
            }
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        serde_json::from_str(&self.next_line().await).expect("JSON")
    }

    /// The next line, whatever it is.
    pub(crate) async fn next_line(&mut self) -> String {
        let line = tokio::time::timeout(PATIENCE, self.reader.next_line()).await.expect("a line in time");
        line.expect("a readable line").expect("the mock is there")
    }

    /// Everything up to the end of the connection.
    pub(crate) async fn rest(&mut self) -> String {
        let mut rest = String::new();
        while let Ok(Ok(Some(line))) = tokio::time::timeout(PATIENCE, self.reader.next_line()).await {
            rest.push_str(&line);
        }
        rest
    }

    /// True if nothing comes for a while.
    pub(crate) async fn is_quiet(&mut self, for_ms: u64) -> bool {
        tokio::time::timeout(Duration::from_millis(for_ms), self.reader.next_line()).await.is_err()
    }

    /// The reply with this id; everything else that comes is heard.
    pub(crate) async fn reply_to(&mut self, id: &Value) -> Value {
        loop {
            let message = self.next().await;
            if message.get("method").is_none() && message.get("id") == Some(id) {
                return message;
            }
            self.heard.push(message);
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        self.reply_to(&id).await
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// The methods of all notifications so far.
    pub(crate) fn heard_methods(&self) -> Vec<&str> {
        self.heard.iter().filter_map(|message| message["method"].as_str()).collect()
    }

    /// Closes our side and waits for the mock to end.
    pub(crate) async fn close(self) -> std::io::Result<()> {
        let Self { reader, writer, server, .. } = self;
        drop((reader, writer));
        tokio::time::timeout(PATIENCE, server).await.expect("it ends in time").expect("it does not panic")
    }
}
