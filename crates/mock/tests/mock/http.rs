//! The mock over HTTP: what a client sees of statuses, header fields and streams, in both eras.

use std::fmt::Write as _;
use std::time::Duration;

use mcprove_mock::{HttpListener, Mock};
use mcprove_model::{ClientCapabilities, ElicitationAction, ElicitationReply, Outcome, Protocol, SamplingReply};
use mcprove_wire::{Endpoint, HttpClient, Session, SessionOptions};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::client::{meta, mock};

const MANIFEST: &str = r#"
tools:
  - { name: echo, response: "${args.text}" }
  - { name: work, progress: 2, response: done }
  - { name: stuck, fault: hang }
  - { name: grow, notifies: tools, fault: "slow:100" }
  - name: confirm
    elicitation: { message: Sure?, requestedSchema: { type: object, properties: { ok: { type: boolean } } } }
    sampling: { messages: [], maxTokens: 1 }
    response: "${elicitation.content.ok} ${sampling.content.text}"
  - name: sql
    inputSchema: { type: object, properties: { region: { type: string, x-mcp-header: Region } } }
    response: "in ${args.region}"
"#;

const PATIENCE: Duration = Duration::from_secs(10);

/// A mock that listens over HTTP.
struct Server {
    url: String,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

impl Server {
    async fn start(mock: Mock) -> Self {
        let http_listener = HttpListener::open("127.0.0.1:0").await.expect("a free port");
        let url = http_listener.url();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            mock.serve_http(http_listener, async {
                let _ = stopped.await;
            })
            .await;
        });
        Self { url, stop: Some(stop), served }
    }

    fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// Sends a request and leaves the connection open.
    async fn send(&self, ask: &Ask<'_>) -> TcpStream {
        let body = ask.body.as_ref().map(Value::to_string).unwrap_or_default();
        let mut text = format!("{} {} HTTP/1.1\r\n", ask.method, ask.path);
        let mut fields = vec![("host", self.address()), ("content-type", "application/json"), ("connection", "close")];
        fields.retain(|(name, _)| !ask.fields.iter().any(|(other, _)| other == name));
        for (name, value) in fields.into_iter().chain(ask.fields.iter().copied()) {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        let _ = write!(text, "content-length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(self.address()).await.expect("the door is open");
        stream.write_all(text.as_bytes()).await.expect("the mock reads");
        stream
    }

    async fn ask(&self, ask: Ask<'_>) -> Told {
        let mut stream = self.send(&ask).await;
        let mut bytes = Vec::new();
        timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("an answer in time").expect("readable");
        Told::read(&String::from_utf8(bytes).expect("text"))
    }

    async fn post(&self, fields: &[(&str, &str)], body: Value) -> Told {
        self.ask(Ask { fields, body: Some(body), ..Ask::default() }).await
    }

    /// A modern request, with all header fields it must have.
    async fn modern(&self, method: &str, params: Value) -> Told {
        let (fields, body) = modern(method, params);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.post(&fields, body).await
    }

    /// A new session of a legacy client.
    async fn session(&self) -> String {
        let told = self.post(&[], initialize("2025-11-25")).await;
        assert_eq!(told.status, 200);
        told.field("mcp-session-id").expect("a session").to_owned()
    }

    async fn stop(mut self) {
        drop(self.stop.take());
        timeout(PATIENCE, self.served).await.expect("it stops in time").expect("it does not panic");
    }
}

struct Ask<'a> {
    method: &'a str,
    path: &'a str,
    fields: &'a [(&'a str, &'a str)],
    body: Option<Value>,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self { method: "POST", path: "/mcp", fields: &[], body: None }
    }
}

/// What came back.
#[derive(Debug)]
struct Told {
    status: u16,
    fields: Vec<(String, String)>,
    /// The message, or the messages of a stream.
    messages: Vec<Value>,
}

impl Told {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status").parse().expect("a number");
        let fields = lines.filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_lowercase(), v.to_owned()));
        let messages = body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let messages =
            messages.filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).expect("JSON"));
        Self { status, fields: fields.collect(), messages: messages.collect() }
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    fn code(&self) -> &Value {
        &self.messages[0]["error"]["code"]
    }
}

fn initialize(revision: &str) -> Value {
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

fn modern(method: &str, mut params: Value) -> (Vec<(&'static str, String)>, Value) {
    params["_meta"] = meta(&json!({}));
    let mut fields = vec![("mcp-protocol-version", "2026-07-28".to_owned()), ("mcp-method", method.to_owned())];
    if let Some(name) = params.get("name").and_then(Value::as_str) {
        fields.push(("mcp-name", name.to_owned()));
    }
    (fields, json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
}

fn call(tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": {"text": "hi"}}})
}

#[tokio::test]
async fn legacy_sessions_begin_and_end() {
    let server = Server::start(mock(MANIFEST)).await;
    let id = server.session().await;
    let with_id = [("mcp-session-id", id.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.post(&with_id, initialized).await.status, 202);
    let told = server.post(&with_id, call("echo")).await;
    assert_eq!((told.status, told.field("content-type")), (200, Some("application/json")));
    assert_eq!(told.messages[0]["result"]["content"][0]["text"], "hi");

    assert_eq!(server.post(&[], call("echo")).await.status, 400, "no session");
    assert_eq!(server.post(&[("mcp-session-id", "nope")], call("echo")).await.status, 404, "an unknown session");
    let wrong = [("mcp-session-id", id.as_str()), ("mcp-protocol-version", "2025-03-26")];
    assert_eq!(server.post(&wrong, call("echo")).await.status, 400, "another revision than agreed");
    let end = || Ask { method: "DELETE", fields: &with_id, ..Ask::default() };
    assert_eq!(server.ask(end()).await.status, 204);
    assert_eq!(server.ask(end()).await.status, 404);
    assert_eq!(server.post(&with_id, call("echo")).await.status, 404, "its session has ended");
    server.stop().await;
}

#[tokio::test]
async fn what_is_said_before_an_answer_makes_a_stream() {
    let server = Server::start(mock(MANIFEST)).await;
    let mut legacy = call("work");
    legacy["params"]["_meta"] = json!({"progressToken": 1});
    let id = server.session().await;
    let told = server.post(&[("mcp-session-id", &id)], legacy).await;
    assert_eq!(told.field("content-type"), Some("text/event-stream"));
    assert_eq!(told.messages.len(), 3);
    assert_eq!(told.messages[2]["result"]["content"][0]["text"], "done");

    let (fields, mut body) = modern("tools/call", json!({"name": "work"}));
    body["params"]["_meta"]["progressToken"] = json!("t");
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let told = server.post(&fields, body).await;
    assert_eq!((told.field("x-accel-buffering"), told.messages.len()), (Some("no"), 3));
    server.stop().await;
}

#[tokio::test]
async fn modern_requests_stand_alone() {
    let server = Server::start(mock(MANIFEST)).await;
    let told = server.modern("server/discover", json!({})).await;
    assert_eq!((told.status, told.field("mcp-session-id")), (200, None));
    assert_eq!(told.messages[0]["result"]["supportedVersions"], json!(["2026-07-28"]));
    let told = server.modern("tools/call", json!({"name": "echo", "arguments": {"text": "hi"}})).await;
    assert_eq!(told.messages[0]["result"]["resultType"], "complete");

    for (method, params, status, code) in [
        ("ping", json!({}), 404, -32601),
        ("no/such", json!({}), 404, -32601),
        ("tools/call", json!({"name": "nope"}), 200, -32602),
        ("tools/call", json!({"name": "confirm"}), 400, -32021),
    ] {
        let told = server.modern(method, params).await;
        assert_eq!((told.status, told.code(), &told.messages[0]["id"]), (status, &json!(code), &json!(7)), "{method}");
    }
    let accepted =
        server.post(&[("mcp-protocol-version", "2026-07-28")], json!({"jsonrpc": "2.0", "method": "notifications/x"}));
    assert_eq!(accepted.await.status, 202);
    let told = server.post(&[("mcp-protocol-version", "2026-07-28")], json!([])).await;
    assert_eq!((told.status, told.code()), (400, &json!(-32600)));
    server.stop().await;
}

#[tokio::test]
async fn header_fields_must_say_what_the_body_says() {
    let server = Server::start(mock(MANIFEST)).await;
    let (good, body) = modern("tools/call", json!({"name": "sql", "arguments": {"region": "eu"}}));
    let mut good: Vec<(&str, &str)> = good.iter().map(|(name, value)| (*name, value.as_str())).collect();
    good.push(("mcp-param-region", "eu"));
    assert_eq!(server.post(&good, body.clone()).await.messages[0]["result"]["content"][0]["text"], "in eu");
    for at in 0..good.len() {
        let mut missing = good.clone();
        let (name, _) = missing.remove(at);
        let told = server.post(&missing, body.clone()).await;
        assert_eq!((told.status, told.code()), (400, &json!(-32020)), "{name} is missing: {told:?}");
        missing.push((name, "else"));
        let told = server.post(&missing, body.clone()).await;
        assert_eq!((told.status, told.code()), (400, &json!(-32020)), "{name} differs: {told:?}");
    }
    let mut bare = body.clone();
    bare["params"]["_meta"] = json!({});
    let told = server.post(&good, bare).await;
    assert_eq!((told.status, told.code()), (400, &json!(-32602)));
    let mut strange = body;
    strange["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v999");
    good[0].1 = "v999";
    let told = server.post(&good, strange).await;
    assert_eq!((told.status, told.code()), (400, &json!(-32022)));
    server.stop().await;
}

#[tokio::test]
async fn strangers_and_strange_requests_are_turned_away() {
    let server = Server::start(mock(MANIFEST)).await;
    for fields in [[("origin", "https://evil.example")], [("host", "evil.example")]] {
        assert_eq!(server.post(&fields, initialize("2025-11-25")).await.status, 403, "{fields:?}");
    }
    assert_eq!(server.post(&[("origin", "http://localhost:99")], initialize("2025-11-25")).await.status, 200);
    let modern = [("mcp-protocol-version", "2026-07-28")];
    for (ask, status) in [
        (Ask { path: "/", ..Ask::default() }, 404),
        (Ask { method: "PUT", ..Ask::default() }, 405),
        (Ask { method: "GET", ..Ask::default() }, 400),
        (Ask { method: "GET", fields: &modern, ..Ask::default() }, 405),
        (Ask { method: "DELETE", fields: &modern, ..Ask::default() }, 405),
        (Ask { fields: &[("content-type", "text/plain")], ..Ask::default() }, 415),
        (Ask { fields: &[("accept", "text/html")], ..Ask::default() }, 406),
        (Ask { fields: &[("accept", "application/*")], ..Ask::default() }, 406),
        (Ask::default(), 400),
    ] {
        let (method, path, fields) = (ask.method, ask.path, ask.fields);
        assert_eq!(server.ask(ask).await.status, status, "{method} {path} {fields:?}");
    }
    let told = server.ask(Ask::default()).await;
    assert_eq!((told.code(), &told.messages[0]["id"]), (&json!(-32700), &Value::Null));
    server.stop().await;
}

/// Reads from a stream until it holds a text, or nothing more comes for a while.
async fn reads(stream: &mut TcpStream, text: &str, for_ms: u64) -> bool {
    let mut bytes = Vec::new();
    let until = Instant::now() + Duration::from_millis(for_ms);
    while !String::from_utf8_lossy(&bytes).contains(text) {
        match tokio::time::timeout_at(until, stream.read_buf(&mut bytes)).await {
            Ok(Ok(count)) if count > 0 => {}
            Ok(_) | Err(_) => return false,
        }
    }
    true
}

#[tokio::test]
async fn a_legacy_client_that_goes_away_cancels_nothing() {
    let server = Server::start(mock(MANIFEST)).await;
    let id = server.session().await;
    let with_id = [("mcp-session-id", id.as_str())];
    let mut stream = server.send(&Ask { method: "GET", fields: &with_id, ..Ask::default() }).await;
    assert!(reads(&mut stream, "text/event-stream", 5_000).await);
    let second = Ask { method: "GET", fields: &with_id, ..Ask::default() };
    assert_eq!(server.ask(second).await.status, 409, "one stream is enough");
    let caller = server.send(&Ask { fields: &with_id, body: Some(call("grow")), ..Ask::default() }).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    drop(caller);
    assert!(reads(&mut stream, "notifications/tools/list_changed", 5_000).await);
    server.stop().await;
}

#[tokio::test]
async fn a_stream_that_breaks_can_be_taken_up_again() {
    let server = Server::start(mock(MANIFEST)).await;
    let id = server.session().await;
    let with_id = [("mcp-session-id", id.as_str())];
    let ask = Ask { method: "GET", fields: &with_id, ..Ask::default() };
    let mut stream = server.send(&ask).await;
    assert!(reads(&mut stream, "text/event-stream", 5_000).await);
    drop(stream);
    server.post(&with_id, call("grow")).await;
    let mut stream = server.send(&ask).await;
    assert!(reads(&mut stream, "notifications/tools/list_changed", 5_000).await, "it waited for the next stream");
    server.stop().await;
}

#[tokio::test]
async fn a_modern_client_that_goes_away_cancels_its_request() {
    let server = Server::start(mock(MANIFEST)).await;
    let (fields, body) = modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut listening = server.send(&Ask { fields: &fields, body: Some(body), ..Ask::default() }).await;
    assert!(reads(&mut listening, "acknowledged", 5_000).await);
    let (fields, body) = modern("tools/call", json!({"name": "grow"}));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let caller = server.send(&Ask { fields: &fields, body: Some(body), ..Ask::default() }).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    drop(caller);
    assert!(!reads(&mut listening, "list_changed", 300).await, "the call was given up before it changed anything");
    server.modern("tools/call", json!({"name": "grow"})).await;
    assert!(reads(&mut listening, "list_changed", 5_000).await);
    server.stop().await;
}

#[tokio::test]
async fn a_hung_call_blocks_nobody_and_ends_with_the_server() {
    let server = Server::start(mock(MANIFEST)).await;
    let id = server.session().await;
    let mut legacy =
        server.send(&Ask { fields: &[("mcp-session-id", &id)], body: Some(call("stuck")), ..Ask::default() }).await;
    let (fields, body) = modern("tools/call", json!({"name": "stuck"}));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut modern = server.send(&Ask { fields: &fields, body: Some(body), ..Ask::default() }).await;
    assert_eq!(server.modern("tools/list", json!({})).await.status, 200);
    for stream in [&mut legacy, &mut modern] {
        assert!(!reads(stream, "HTTP", 50).await);
    }
    server.stop().await;
}

#[tokio::test]
async fn our_own_client_gets_on_with_it_in_both_eras() {
    let server = Server::start(mock(MANIFEST)).await;
    let client = ClientCapabilities {
        by_hand: false,
        roots: None,
        roots_changed: None,
        sampling: vec![SamplingReply {
            text: "said".to_owned(),
            model: "m".to_owned(),
            stop_reason: "endTurn".to_owned(),
        }],
        elicitation: Some(ElicitationReply {
            action: ElicitationAction::Accept,
            content: json!({"ok": true}),
            url: false,
        }),
        ..ClientCapabilities::default()
    };
    let http = HttpClient::default();
    let endpoint = Endpoint::Http { url: server.url.clone(), headers: Vec::new() };
    for protocol in [Protocol::Legacy, Protocol::Modern, Protocol::Auto] {
        let deadline = Instant::now() + PATIENCE;
        let options = SessionOptions { protocol, client: client.clone(), ..SessionOptions::default() };
        let mut session = Session::connect(&endpoint, &http, &options, deadline).await.expect("an open session");
        let exchange = session.request("tools/call", json!({"name": "confirm"}), deadline).await;
        let Outcome::Result(result) = &exchange.outcome else { panic!("{protocol:?}: {exchange:?}") };
        assert_eq!(result["content"][0]["text"], "true said", "{protocol:?}");
        let soon = Instant::now() + Duration::from_millis(50);
        let exchange = session.request("tools/call", json!({"name": "stuck"}), soon).await;
        assert!(matches!(exchange.outcome, Outcome::TimedOut { .. }), "{protocol:?}: {exchange:?}");
        let exchange = session.ping(deadline).await;
        assert!(matches!(exchange.outcome, Outcome::Result(_)), "{protocol:?}: {exchange:?}");
        session.close().await;
    }
    server.stop().await;
}
