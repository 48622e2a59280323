//! The wire of a raw client: lines to a command, or HTTP requests, one connection each.

use std::fmt::Write as FmtWrite;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A way to the server.
pub(super) struct Wire {
    pipes: Option<(Child, Option<ChildStdin>, BufReader<ChildStdout>)>,
    url: String,
    /// The session id that the server gave.
    pub(super) session: Option<String>,
}

/// A response over HTTP.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) messages: Vec<Value>,
}

impl Wire {
    pub(super) fn open() -> Self {
        let servers = std::env::var("MCPROVE_SERVERS").expect("the servers");
        let server: Value = serde_json::from_str::<Value>(&servers).expect("JSON")[0].clone();
        let mut wire = Self { pipes: None, url: server["url"].as_str().unwrap_or_default().to_owned(), session: None };
        if wire.url.is_empty() {
            let words: Vec<String> = serde_json::from_value(server["command"].clone()).expect("words");
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("the server starts");
            let (input, output) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
            wire.pipes = Some((child, input, BufReader::new(output)));
        }
        wire
    }

    // Pipes.

    pub(super) fn line(&mut self, text: &str) {
        let (_, input, _) = self.pipes.as_mut().expect("pipes");
        let input = input.as_mut().expect("an open pipe");
        input.write_all(format!("{text}\n").as_bytes()).expect("the server reads");
        input.flush().expect("the server reads");
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    /// The next message of the server.
    pub(super) fn next(&mut self) -> Value {
        let (_, _, output) = self.pipes.as_mut().expect("pipes");
        let mut line = String::new();
        assert!(output.read_line(&mut line).expect("a line") > 0, "the server is gone");
        serde_json::from_str(&line).expect("JSON")
    }

    /// The reply with this id; what comes before it is dropped.
    pub(super) fn reply(&mut self, id: &Value) -> Value {
        loop {
            let message = self.next();
            if message.get("method").is_none() && message.get("id") == Some(id) {
                return message;
            }
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is called with values that are made for it")]
    pub(super) fn ask(&mut self, id: Value, method: &str, params: Value) -> Value {
        self.send(&request(&id, method, params));
        self.reply(&id)
    }

    /// The handshake over pipes.
    pub(super) fn shake(&mut self, revision: &str, capabilities: Value) {
        self.ask(json!(0), "initialize", initialize(revision, capabilities));
        self.send(&notification("notifications/initialized"));
    }

    /// Closes the input of the server and waits for its end.
    pub(super) fn close(&mut self) {
        if let Some((mut child, input, _)) = self.pipes.take() {
            drop(input);
            child.wait().expect("it ends");
        }
    }

    // HTTP.

    /// One request with exactly these headers, and those that HTTP itself needs.
    pub(super) fn exchange(&mut self, method: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let (address, path) = place(&self.url);
        let mut stream = TcpStream::connect(&address).expect("the server listens");
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        for (name, value) in headers {
            let _ = FmtWrite::write_fmt(&mut text, format_args!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            let _ = FmtWrite::write_fmt(&mut text, format_args!("Content-Length: {}\r\n", body.len()));
        }
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).expect("the server reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let answer = String::from_utf8(answer).expect("text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let mut headers = head.lines().filter_map(|line| line.split_once(':'));
        if let Some((_, id)) = headers.find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id")) {
            self.session.get_or_insert_with(|| id.trim().to_owned());
        }
        Response { status, messages: messages(body) }
    }

    /// Opens an event stream, and leaves it when its head is there.
    pub(super) fn listen(&self, headers: &[(&str, &str)]) {
        let (address, path) = place(&self.url);
        let stream = TcpStream::connect(&address).expect("the server listens");
        let mut text = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n");
        for (name, value) in headers {
            let _ = FmtWrite::write_fmt(&mut text, format_args!("{name}: {value}\r\n"));
        }
        (&stream).write_all(format!("{text}\r\n").as_bytes()).expect("the server reads");
        let mut line = String::new();
        BufReader::new(&stream).read_line(&mut line).expect("a status");
    }

    /// A POST with the headers of a correct client.
    pub(super) fn post(&mut self, revision: &str, message: &Value) -> Response {
        let session = self.session.clone();
        let mut headers = vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        let is_handshake = message["method"] == "initialize";
        if !is_handshake {
            headers.push(("MCP-Protocol-Version", revision));
        }
        if let Some(id) = session.as_deref().filter(|_| !is_handshake) {
            headers.push(("Mcp-Session-Id", id));
        }
        let (method, name) = (message["method"].as_str(), message["params"]["name"].as_str());
        if revision == MODERN {
            headers.extend(method.map(|method| ("Mcp-Method", method)));
            headers.extend(name.map(|name| ("Mcp-Name", name)));
        }
        self.exchange("POST", &headers, &message.to_string())
    }

    /// The handshake over HTTP.
    pub(super) fn shake_http(&mut self, revision: &str, capabilities: Value) {
        self.post(revision, &request(&json!(0), "initialize", initialize(revision, capabilities)));
        self.post(revision, &notification("notifications/initialized"));
    }
}

/// The newest revision, without a handshake.
pub(super) const MODERN: &str = "2026-07-28";
/// The newest revision with one.
pub(super) const LEGACY: &str = "2025-11-25";

#[expect(clippy::needless_pass_by_value, reason = "it is called with values that are made for it")]
pub(super) fn initialize(revision: &str, capabilities: Value) -> Value {
    json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": {"name": "raw", "version": "1"}})
}

#[expect(clippy::needless_pass_by_value, reason = "it is called with values that are made for it")]
pub(super) fn request(id: &Value, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub(super) fn notification(method: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": method})
}

pub(super) fn cancel(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

/// Params of 2026-07-28.
pub(super) fn modern(mut params: Value, capabilities: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    params
}

fn place(url: &str) -> (String, String) {
    let rest = url.strip_prefix("http://").expect("HTTP");
    let (address, path) = rest.split_once('/').expect("a path");
    (address.to_owned(), format!("/{path}"))
}

/// The messages in the body of a response: one, or those of an event stream.
fn messages(body: &str) -> Vec<Value> {
    if let Ok(message) = serde_json::from_str(body) {
        return vec![message];
    }
    // The parts of a chunked body are whole events.
    let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
}
