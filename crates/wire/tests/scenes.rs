//! One script of scenes, played over every transport and in both eras: whatever carries the messages, a session must
//! see the same.

mod peer;

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mcprove_model::{ClientCapabilities, Exchange, Outcome, Protocol, SamplingReply};
use mcprove_wire::transport::Peer;
use mcprove_wire::{HttpClient, Program, Session, SessionOptions, Transport};
use peer::{HttpPeer, Out, Seen};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::Instant;

/// The variable that turns this test program into a server on stdio.
const STDIO_PEER: &str = "MCPROVE_SCENES_PEER";
/// How long a scene may take at most.
const PATIENCE: Duration = Duration::from_secs(10);
/// State that must come back as it was.
const STATE: &str = " \u{1f980} \"quoted\" \\ =?base64?x?= \t";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Memory,
    Stdio,
    HttpJson,
    HttpStream,
    Sse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stage {
    way: Way,
    modern: bool,
}

impl Stage {
    fn is_http(self) -> bool {
        matches!(self.way, Way::HttpJson | Way::HttpStream)
    }
}

/// Every transport in every era it has.
fn stages() -> Vec<Stage> {
    let both = [Way::Memory, Way::Stdio, Way::HttpJson, Way::HttpStream];
    let legacy = both.into_iter().chain([Way::Sse]).map(|way| Stage { way, modern: false });
    legacy.chain(both.map(|way| Stage { way, modern: true })).collect()
}

// ---------------------------------------------------------------------------------------------------------------------
// The server of the scenes: each tool is one.

#[derive(Default)]
struct SceneServer {
    /// What was said to it: methods, and `answer` for answers.
    heard: Vec<String>,
    /// The call that waits for our answers.
    waiting: Value,
}

enum Do {
    Say(Value),
    /// The same, in pieces of a few bytes.
    SayInPieces(Value),
    /// Half of a message, and gone.
    Crash(Value),
}

impl SceneServer {
    fn take(&mut self, message: &Value) -> Vec<Do> {
        let Some(method) = message["method"].as_str() else { return self.take_answer(message) };
        self.heard.push(method.to_owned());
        let id = &message["id"];
        let params = &message["params"];
        match method {
            "initialize" => say(
                id,
                &json!({"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                    "serverInfo": {"name": "scenes", "version": "1"}}),
            ),
            "server/discover" => say(
                id,
                &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scenes", "version": "1"}}}),
            ),
            "tools/list" => say(id, &json!({"tools": []})),
            "tools/call" => self.call(id, params),
            "notifications/cancelled" if !self.waiting.is_null() => {
                say(&std::mem::take(&mut self.waiting), &json!({"content": []}))
            }
            _ => Vec::new(),
        }
    }

    fn call(&mut self, id: &Value, params: &Value) -> Vec<Do> {
        let token = &params["_meta"]["progressToken"];
        let progress = |n: usize| {
            Do::Say(json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": n}}))
        };
        match params["name"].as_str().unwrap_or_default() {
            "echo" => vec![Do::Say(text(id, &params["arguments"]["text"]))],
            "pieces" => vec![Do::SayInPieces(text(id, &params["arguments"]["text"]))],
            "notify" => vec![progress(1), progress(2), Do::Say(text(id, &json!("notified")))],
            "flood" => {
                let mut flood: Vec<_> = (1..=10_000).map(progress).collect();
                flood.push(Do::Say(text(id, &json!("flooded"))));
                flood
            }
            "ask" if params["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some() => {
                Self::ask_in_rounds(id, params)
            }
            "ask" => {
                self.waiting = id.clone();
                vec![Do::Say(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}))]
            }
            "crash" => vec![Do::Crash(text(id, &json!("never")))],
            "late" => {
                self.waiting = id.clone();
                Vec::new()
            }
            "heard" => vec![Do::Say(text(id, &json!(self.heard.join(" "))))],
            _ => Vec::new(),
        }
    }

    fn ask_in_rounds(id: &Value, params: &Value) -> Vec<Do> {
        let Some(answer) = params["inputResponses"].get("s") else {
            return say(
                id,
                &json!({"resultType": "input_required", "requestState": STATE,
                "inputRequests": {"s": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}}}),
            );
        };
        let said = if params["requestState"] == STATE { &answer["content"]["text"] } else { &Value::Null };
        vec![Do::Say(text(id, said))]
    }

    fn take_answer(&mut self, message: &Value) -> Vec<Do> {
        self.heard.push("answer".to_owned());
        match message["id"].as_str() {
            Some("p") => vec![Do::Say(json!({"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage",
                "params": {"messages": [], "maxTokens": 1}}))],
            Some("s") => {
                vec![Do::Say(text(&std::mem::take(&mut self.waiting), &message["result"]["content"]["text"]))]
            }
            _ => Vec::new(),
        }
    }
}

fn say(id: &Value, result: &Value) -> Vec<Do> {
    vec![Do::Say(json!({"jsonrpc": "2.0", "id": id, "result": result}))]
}

fn text(id: &Value, said: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "content": [{"type": "text", "text": said}]}})
}

// ---------------------------------------------------------------------------------------------------------------------
// The server on each transport.

async fn serve_memory(peer: Peer) {
    let (reader, mut writer) = tokio::io::split(peer.stream);
    let mut lines = BufReader::new(reader).lines();
    let mut server = SceneServer::default();
    while let Ok(Some(line)) = lines.next_line().await {
        for act in server.take(&serde_json::from_str(&line).unwrap_or(Value::Null)) {
            let (message, piece, crash) = match act {
                Do::Say(message) => (message, usize::MAX, false),
                Do::SayInPieces(message) => (message, 3, false),
                Do::Crash(message) => (message, usize::MAX, true),
            };
            let bytes = format!("{message}\n").into_bytes();
            let bytes = if crash { &bytes[..bytes.len() / 2] } else { &bytes[..] };
            for chunk in bytes.chunks(piece.min(bytes.len())) {
                if writer.write_all(chunk).await.is_err() {
                    return;
                }
                if piece == 3 {
                    tokio::task::yield_now().await;
                }
            }
            if crash {
                return;
            }
        }
    }
}

/// Not a test: the server that the scenes start as a process. Its messages go to descriptor 3, because the test
/// harness writes to standard output.
#[test]
fn stdio_peer() {
    if std::env::var_os(STDIO_PEER).is_none() {
        return;
    }
    let mut out = std::fs::OpenOptions::new().write(true).open("/dev/fd/3").expect("descriptor 3 is open");
    let mut server = SceneServer::default();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        for act in server.take(&serde_json::from_str(&line).unwrap_or(Value::Null)) {
            match act {
                Do::Say(message) => out.write_all(format!("{message}\n").as_bytes()).expect("the client reads"),
                Do::SayInPieces(message) => {
                    for chunk in format!("{message}\n").as_bytes().chunks(3) {
                        out.write_all(chunk).expect("the client reads");
                        std::thread::yield_now();
                    }
                }
                Do::Crash(message) => {
                    let bytes = format!("{message}\n").into_bytes();
                    out.write_all(&bytes[..bytes.len() / 2]).expect("the client reads");
                    #[expect(clippy::exit, reason = "a crash is what is wanted")]
                    std::process::exit(3);
                }
            }
        }
    }
    // A slow close: the input has ended, and there is something left to do.
    std::thread::sleep(Duration::from_millis(150));
    #[expect(clippy::exit, reason = "the test harness must not go on in the server")]
    std::process::exit(0);
}

fn stdio_program() -> Program {
    let exe = std::env::current_exe().expect("we are running").to_string_lossy().into_owned();
    let script = "exec \"$0\" stdio_peer --exact --nocapture 3>&1 >/dev/null";
    Program {
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned(), exe],
        env: vec![(STDIO_PEER.to_owned(), "1".to_owned())],
        ..Program::default()
    }
}

struct HttpStage {
    way: Way,
    server: SceneServer,
    open: HashMap<String, Out>,
    own_stream: Option<Out>,
    unheard: Vec<Value>,
}

impl HttpStage {
    fn take(&mut self, seen: &Seen, out: Out) {
        match seen.method.as_str() {
            "GET" => {
                out.stream(&[]);
                if self.way == Way::Sse {
                    out.chunk(b"event: endpoint\ndata: /messages?session=1\n\n");
                }
                for message in self.unheard.drain(..) {
                    out.event(&message);
                }
                self.own_stream = Some(out);
            }
            "POST" => {
                let id = &seen.body["id"];
                if self.way == Way::Sse || seen.rpc().is_empty() || id.is_null() {
                    out.answer(202, &[], b"");
                } else {
                    if self.way == Way::HttpStream {
                        let session: &[_] = if seen.rpc() == "initialize" { &[("Mcp-Session-Id", "s1")] } else { &[] };
                        out.stream(session);
                    }
                    self.open.insert(id.to_string(), out);
                }
                for act in self.server.take(&seen.body) {
                    self.act(act);
                }
            }
            // A slow close: the session is never seen to end.
            "DELETE" => self.own_stream = Some(out),
            other => panic!("a client has no reason to {other}"),
        }
    }

    fn act(&mut self, act: Do) {
        match act {
            Do::Say(message) if message.get("method").is_some() => {
                let out = match self.way {
                    Way::HttpStream => self.open.values().next(),
                    Way::Sse | Way::HttpJson | Way::Memory | Way::Stdio => self.own_stream.as_ref(),
                };
                match out {
                    Some(out) => out.event(&message),
                    None => self.unheard.push(message),
                }
            }
            Do::Say(message) => match (self.way, self.open.remove(&message["id"].to_string())) {
                (Way::HttpJson, Some(out)) => out.json(&message),
                (_, Some(out)) => {
                    out.event(&message);
                    out.end();
                }
                (_, None) => self.own_stream.iter().for_each(|out| out.event(&message)),
            },
            Do::SayInPieces(message) => {
                let out = self.open.remove(&message["id"].to_string()).or(self.own_stream.clone());
                let out = out.expect("something is open");
                if self.way == Way::HttpJson {
                    let body = message.to_string();
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ";
                    let whole = format!("{head}{}\r\n\r\n{body}", body.len());
                    whole.as_bytes().chunks(3).for_each(|piece| out.raw(piece));
                } else {
                    let event = format!(": a comment\ndata: {message}\nid: 1\n\n");
                    event.as_bytes().chunks(3).for_each(|piece| out.chunk(piece));
                    if self.way == Way::HttpStream {
                        out.end();
                    }
                }
            }
            Do::Crash(message) => {
                let out = self.open.remove(&message["id"].to_string()).or(self.own_stream.take());
                let out = out.expect("something is open");
                let bytes = message.to_string().into_bytes();
                let half = &bytes[..bytes.len() / 2];
                if self.way == Way::HttpJson {
                    out.raw(*b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n");
                    out.raw(half);
                } else {
                    out.chunk(&[b"data: ", half].concat());
                }
                if self.way == Way::HttpStream { out.reset() } else { out.close() }
            }
        }
    }
}

/// An open session and what it speaks to.
struct Play {
    session: Session,
    http: Option<HttpPeer>,
}

impl Play {
    async fn open(stage: Stage) -> Self {
        let options = SessionOptions {
            client: ClientCapabilities {
                sampling: vec![SamplingReply { text: "hi".into(), model: "m".into(), stop_reason: "endTurn".into() }],
                ..ClientCapabilities::default()
            },
            protocol: if stage.modern { Protocol::Modern } else { Protocol::Legacy },
            ..SessionOptions::default()
        };
        let client = HttpClient::default();
        let mut http = None;
        let transport = match stage.way {
            Way::Memory => {
                let (transport, peer) = Transport::memory(&options.limits);
                tokio::spawn(serve_memory(peer));
                transport
            }
            Way::Stdio => Transport::stdio(&stdio_program(), &options.limits).expect("sh starts"),
            Way::HttpJson | Way::HttpStream | Way::Sse => {
                let shared = Mutex::new(HttpStage {
                    way: stage.way,
                    server: SceneServer::default(),
                    open: HashMap::new(),
                    own_stream: None,
                    unheard: Vec::new(),
                });
                let handle = move |seen: Seen, out: Out| {
                    shared.lock().unwrap_or_else(PoisonError::into_inner).take(&seen, out);
                };
                let peer = http.insert(HttpPeer::start(handle).await);
                match stage.way {
                    Way::Sse => Transport::sse(&client, &peer.url(), &[], &options.limits),
                    Way::Memory | Way::Stdio | Way::HttpJson | Way::HttpStream => {
                        Transport::http(&client, &peer.url(), &[], &options.limits)
                    }
                }
            }
        };
        let session = Session::open(transport, &options, Instant::now() + PATIENCE).await;
        Self { session: session.unwrap_or_else(|failure| panic!("{stage:?}: {failure:?}")), http }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Exchange {
        self.session.call_tool(tool, &arguments, Instant::now() + PATIENCE).await
    }

    async fn heard(&mut self) -> String {
        said(&self.call("heard", json!({})).await)
    }
}

fn said(exchange: &Exchange) -> String {
    match &exchange.outcome {
        Outcome::Result(result) => result["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
        other => panic!("no result: {other:?}"),
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// The scenes.

#[tokio::test]
async fn echo() {
    for stage in stages() {
        let mut play = Play::open(stage).await;
        for text in ["plain", "grüß 🦀", "line\nbreak\r\n", ""] {
            assert_eq!(said(&play.call("echo", json!({"text": text})).await), text, "{stage:?}");
        }
        let closing = play.session.close().await;
        assert!(closing.oddities.is_empty(), "{stage:?}: {:?}", closing.oddities);
        let Some(http) = play.http else { continue };
        let posts: Vec<_> = http.seen().into_iter().filter(|seen| seen.method == "POST").collect();
        let path = if stage.way == Way::Sse { "/messages?session=1" } else { "/mcp" };
        assert!(posts.iter().all(|seen| seen.path == path), "{stage:?}");
        let connections: HashSet<_> = posts.iter().map(|seen| seen.connection).collect();
        assert!(connections.len() <= 2, "{stage:?}: connections are used again: {connections:?}");
    }
}

#[tokio::test]
async fn notification() {
    for stage in stages() {
        let mut play = Play::open(stage).await;
        let exchange = play.call("notify", json!({})).await;
        assert_eq!(said(&exchange), "notified", "{stage:?}");
        if stage == (Stage { way: Way::HttpJson, modern: true }) {
            // The modern era has one stream a request, and an answer in JSON is none.
            continue;
        }
        let heard = |session: &Session| session.notifications().len() == 2;
        assert!(play.session.listen_until(Instant::now() + PATIENCE, heard).await, "{stage:?}");
        let progress: Vec<_> = play.session.notifications().iter().map(|n| n.params["progress"].clone()).collect();
        assert_eq!(progress, [1, 2], "{stage:?}");
    }
}

#[tokio::test]
async fn server_request() {
    for stage in stages() {
        let mut play = Play::open(stage).await;
        assert_eq!(said(&play.call("ask", json!({})).await), "hi", "{stage:?}");
        let asked: Vec<_> = play.session.server_requests().iter().map(|r| r.method.clone()).collect();
        let expected: &[_] =
            if stage.modern { &["sampling/createMessage"] } else { &["ping", "sampling/createMessage"] };
        assert_eq!(asked, expected, "{stage:?}");
    }
}

#[tokio::test]
async fn chunking() {
    for stage in stages() {
        let mut play = Play::open(stage).await;
        let text = "🦀 ü\n".repeat(60);
        assert_eq!(said(&play.call("pieces", json!({"text": text})).await), text, "{stage:?}");
        assert_eq!(said(&play.call("echo", json!({"text": "after"})).await), "after", "{stage:?}");
    }
}

#[tokio::test]
async fn huge_message() {
    for stage in stages() {
        let mut play = Play::open(stage).await;
        let text = "0123456789abcdef".repeat(3 << 15);
        let came = said(&play.call("echo", json!({"text": text})).await);
        assert!(came == text, "{stage:?}: {} of {} bytes", came.len(), text.len());
    }
}

#[tokio::test]
async fn flood() {
    for stage in stages() {
        let mut play = Play::open(stage).await;
        let exchange = play.call("flood", json!({})).await;
        assert_eq!(said(&exchange), "flooded", "{stage:?}");
        if stage == (Stage { way: Way::HttpJson, modern: true }) {
            continue;
        }
        let heard = |session: &Session| session.notifications().len() == 10_000;
        assert!(play.session.listen_until(Instant::now() + PATIENCE, heard).await, "{stage:?}");
    }
}

#[tokio::test]
async fn crash_in_a_call() {
    for stage in stages() {
        let mut play = Play::open(stage).await;
        let exchange = play.call("crash", json!({})).await;
        let what = match &exchange.outcome {
            Outcome::Closed { what, .. } if !stage.is_http() => what,
            Outcome::Refused(refused) if stage.is_http() => &refused.what,
            other => panic!("{stage:?}: {other:?}"),
        };
        let expected = match stage.way {
            Way::Memory => "the peer closed the connection in the middle of a message",
            Way::Stdio => "the server exited with code 3 in the middle of a message",
            Way::HttpJson => "the body of the answer breaks off",
            // What was sent right before a reset may be lost with it.
            Way::HttpStream => "",
            Way::Sse => "the server's event stream broke off",
        };
        assert!(what.starts_with(expected), "{stage:?}: {what}");
        play.session.close().await;
    }
}

#[tokio::test]
async fn hang() {
    for stage in stages() {
        let mut play = Play::open(stage).await;
        // The tools are known before, so that the deadline is for the call alone.
        play.call("echo", json!({"text": ""})).await;
        let exchange = play.session.call_tool("hang", &json!({}), Instant::now() + Duration::from_millis(100)).await;
        assert!(matches!(exchange.outcome, Outcome::TimedOut { .. }), "{stage:?}: {:?}", exchange.outcome);
        let is_told = play.heard().await.contains("notifications/cancelled");
        if stage.is_http() && stage.modern {
            // On HTTP the modern era cancels by closing the stream.
            assert!(!is_told, "{stage:?}");
            let http = play.http.as_ref().expect("an HTTP peer");
            assert_eq!(http.hung_up().await, 1, "{stage:?}");
        } else {
            assert!(is_told, "{stage:?}");
        }
    }
}

#[tokio::test]
async fn a_late_reply_is_recognised() {
    for stage in stages() {
        if stage.is_http() && stage.modern {
            continue;
        }
        let mut play = Play::open(stage).await;
        let exchange = play.session.call_tool("late", &json!({}), Instant::now() + Duration::from_millis(100)).await;
        assert!(matches!(exchange.outcome, Outcome::TimedOut { .. }), "{stage:?}: {:?}", exchange.outcome);
        assert_eq!(said(&play.call("echo", json!({"text": "after"})).await), "after", "{stage:?}");
        play.session.listen(Instant::now() + Duration::from_millis(50)).await;
        let rules: Vec<_> = play.session.close().await.oddities.into_iter().map(|f| f.rule).collect();
        assert_eq!(rules, ["late-reply"], "{stage:?}");
    }
}

#[tokio::test]
async fn a_cancellation_right_before_the_end_is_seen() {
    for stage in stages().into_iter().filter(|stage| !stage.modern) {
        let play = Play::open(stage).await;
        let Some(http) = play.http else { continue };
        let mut session = play.session;
        session.notify("notifications/roots/list_changed", &Value::Null);
        session.close().await;
        let heard: Vec<_> = http.seen().iter().map(|seen| seen.rpc().to_owned()).collect();
        assert!(heard.iter().any(|method| method == "notifications/roots/list_changed"), "{stage:?}: {heard:?}");
    }
}

#[tokio::test]
async fn slow_close() {
    for stage in stages() {
        let mut play = Play::open(stage).await;
        play.call("echo", json!({"text": "x"})).await;
        let closing = play.session.close().await;
        if stage.way == Way::Stdio {
            assert_eq!(closing.end.and_then(|end| end.code), Some(0), "{stage:?}: it had its time");
        }
        if stage == (Stage { way: Way::HttpStream, modern: false }) {
            let seen = play.http.as_ref().expect("an HTTP peer").seen();
            let delete = seen.iter().find(|seen| seen.method == "DELETE").expect("the session is ended");
            assert_eq!(delete.header("mcp-session-id"), Some("s1"));
        }
    }
}

#[tokio::test]
async fn several_requests_at_once() {
    for stage in stages() {
        let mut play = Play::open(stage).await;
        let ids: Vec<_> = (0..20)
            .map(|n| {
                let params = play.session.tool_params("echo", &json!({"text": n.to_string()}));
                play.session.start("tools/call", &params)
            })
            .collect();
        for (n, id) in ids.into_iter().enumerate().rev() {
            let exchange = play.session.finish(id, Instant::now() + PATIENCE).await;
            assert_eq!(said(&exchange), n.to_string(), "{stage:?}");
        }
    }
}
