//! The two eras: how one is chosen, and what the modern one puts on the wire.

mod peer;

use std::sync::Mutex;
use std::time::Duration;

use mcprove_model::{ClientCapabilities, Era, Outcome, Protocol, Revision, SamplingReply};
use mcprove_wire::{Endpoint, HttpClient, OpenFailure, Program, Session, SessionOptions};
use peer::{HttpPeer, Out, Seen};
use serde_json::{Value, json};
use tokio::time::Instant;

const DEADLINE: Duration = Duration::from_secs(5);
const PROBE: Duration = Duration::from_millis(700);
const META: &str = "io.modelcontextprotocol/";

fn soon() -> Instant {
    Instant::now() + DEADLINE
}

fn options(protocol: Protocol) -> SessionOptions {
    let sampling = vec![SamplingReply { text: "hi".into(), model: "m".into(), stop_reason: "endTurn".into() }];
    let client = ClientCapabilities { sampling, ..ClientCapabilities::default() };
    SessionOptions { protocol, probe_timeout: PROBE, client, ..SessionOptions::default() }
}

// ---------------------------------------------------------------------------------------------------------------------
// Choosing, on stdio. A server is a few lines of shell.

/// A server that runs `cases` of a shell `case` over each line; `$id` is the id of the message.
fn shell(prelude: &str, cases: &str) -> Endpoint {
    let script = format!(
        r#"{prelude}
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
{cases}
  esac
done"#
    );
    Endpoint::Stdio(Program { command: "sh".into(), args: vec!["-c".into(), script], ..Program::default() })
}

fn say(body: &str) -> String {
    format!(r#"printf '{{"jsonrpc":"2.0","id":%s,{body}}}\n' "$id""#)
}

fn initialize() -> String {
    let result =
        r#""result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
    format!("*initialize\\\"*) {};;\n*ping*) {};;", say(result), say(r#""result":{}"#))
}

fn discover() -> String {
    let result = r#""result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#;
    format!("*server/discover*) {};;", say(result))
}

async fn connect(endpoint: &Endpoint, protocol: Protocol) -> Result<Session, Box<OpenFailure>> {
    Session::connect(endpoint, &HttpClient::default(), &options(protocol), soon()).await
}

#[tokio::test]
async fn a_server_that_crashes_after_its_last_reply_is_odd() {
    for (end, wanted) in [
        ("kill -SEGV $$", Some("SIGSEGV")),
        ("kill -KILL $$", Some("SIGKILL")),
        ("exit 139", Some("139")),
        ("exit 3", None),
        // Some servers end their group like this, and others wait for the signal.
        ("kill -TERM $$", None),
        ("trap 'exit 143' TERM; while :; do sleep 0.05; done", None),
    ] {
        let server = shell(&format!("at_end() {{ {end}; }}; trap at_end EXIT"), &initialize());
        let session = connect(&server, Protocol::Legacy).await.expect("it opens");
        let closing = session.close().await;
        let found: Vec<&str> = closing.oddities.iter().map(|finding| finding.message.as_str()).collect();
        match wanted {
            Some(how) => assert!(found.len() == 1 && found[0].contains(how), "{end}: {found:?}"),
            None => assert!(found.is_empty(), "{end}: {found:?}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_is_silent_to_the_probe_is_legacy() {
    let server = shell("", &initialize());
    let mut session = connect(&server, Protocol::Auto).await.expect("it is a legacy server");
    assert_eq!(session.negotiated().revision, Revision::NEWEST_LEGACY);
    assert_eq!(session.ping(soon()).await.outcome, Outcome::Result(json!({})));
    assert!(session.close().await.oddities.is_empty());
}

#[tokio::test]
async fn a_late_answer_to_the_probe_is_recognised() {
    // It answers the probe when it is asked to initialize.
    let late = format!(
        "*server/discover*) probe=$id;;\n*initialize\\\"*) printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{{\"code\":-32601,\"message\":\"late\"}}}}\\n' \"$probe\"; {};;",
        say(r#""result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#)
    );
    let session = connect(&shell("", &late), Protocol::Auto).await.expect("it is a legacy server");
    let rules: Vec<_> = session.close().await.oddities.into_iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["late-reply"]);
}

#[tokio::test]
async fn a_modern_server_that_starts_slowly_is_modern_all_the_same() {
    // It reads the probe after we gave it up, and holds to the era of the first message.
    let refuse = say(r#""error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}"#);
    let server = shell("sleep 1", &format!("{}\n*initialize\\\"*) {refuse};;", discover()));
    let session = connect(&server, Protocol::Auto).await.expect("it is modern");
    assert_eq!(session.negotiated().revision, Revision::NEWEST);
    let rules: Vec<_> = session.close().await.oddities.into_iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["late-reply"]);
}

#[tokio::test]
async fn a_server_that_ends_when_it_is_probed_is_started_again() {
    for ending in ["exit 1", "kill -9 $$"] {
        let server = shell("", &format!("*server/discover*) {ending};;\n{}", initialize()));
        let session = connect(&server, Protocol::Auto).await.expect("the second start is not probed");
        assert_eq!(session.negotiated().revision.era(), Era::Legacy);
    }
}

#[tokio::test]
async fn any_other_error_to_the_probe_means_legacy() {
    for error in ["-32601", "-32602", "-32000", "-32603", "1"] {
        let refuse = say(&format!(r#""error":{{"code":{error},"message":"no"}}"#));
        let server = shell("", &format!("*server/discover*) {refuse};;\n{}", initialize()));
        // Whoever waited for more would wait past the deadline.
        let patient = SessionOptions { probe_timeout: 10 * DEADLINE, ..options(Protocol::Auto) };
        let session = Session::connect(&server, &HttpClient::default(), &patient, soon()).await;
        let session = session.expect("it is a legacy server");
        assert_eq!(session.negotiated().revision.era(), Era::Legacy, "{error}");
    }
}

#[tokio::test]
async fn a_modern_error_to_the_probe_means_modern() {
    let refuse = |supported: &str| {
        say(&format!(r#""error":{{"code":-32022,"message":"no","data":{{"supported":[{supported}]}}}}"#))
    };
    let server = shell("", &format!("*server/discover*) {};;\n{}", refuse("\"2099-01-01\""), initialize()));
    let failure = connect(&server, Protocol::Auto).await.expect_err("`initialize` must not be tried");
    assert!(failure.message.contains("-32022") && failure.message.contains("2099-01-01"), "{}", failure.message);
    // A list of legacy revisions alone leaves one way.
    let server = shell("", &format!("*server/discover*) {};;\n{}", refuse("\"2025-11-25\""), initialize()));
    let session = connect(&server, Protocol::Auto).await.expect("it names a revision we know");
    assert_eq!(session.negotiated().revision, Revision::V2025_11_25);
}

#[tokio::test]
async fn a_modern_only_server_is_reached_from_legacy() {
    let refuse = say(r#""error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}"#);
    for after in ["", "; exit 0"] {
        // The second ends after its refusal: it is started again, and then not asked to initialize.
        let server = shell("", &format!("*initialize\\\"*) {refuse}{after};;\n{}", discover()));
        let session = connect(&server, Protocol::Legacy).await.expect("it names its revision");
        assert_eq!(session.negotiated().revision, Revision::NEWEST);
    }
    let silent = say(r#""error":{"code":-32601,"message":"no"}"#);
    let server = shell("", &format!("*initialize\\\"*) {silent};;\n{}", discover()));
    let failure = connect(&server, Protocol::Legacy).await.expect_err("it does not name its revision");
    assert!(failure.message.contains("-32601"), "{}", failure.message);
}

#[tokio::test]
async fn exactly_means_exactly() {
    let server = shell("", &format!("{}\n{}", initialize(), discover()));
    let failure =
        connect(&server, Protocol::Exactly(Revision::V2024_11_05)).await.expect_err("it answers with another");
    assert!(failure.message.contains("2024-11-05") && failure.message.contains("2025-11-25"), "{}", failure.message);
    let session = connect(&server, Protocol::Exactly(Revision::V2026_07_28)).await.expect("it has it");
    assert_eq!(session.negotiated().revision, Revision::V2026_07_28);
    let legacy = shell("", &format!("*server/discover*) {};;", say(r#""error":{"code":-32601,"message":"no"}"#)));
    let failure = connect(&legacy, Protocol::Modern).await.expect_err("it has no modern era");
    assert!(failure.help.as_ref().is_some_and(|help| help.contains("legacy")), "{:?}", failure.help);
}

// ---------------------------------------------------------------------------------------------------------------------
// The modern era on HTTP.

/// Answers what every modern server answers; the rest is left.
fn modern(seen: &Seen, out: &Out) -> bool {
    let result = match seen.rpc() {
        "server/discover" => json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}}),
        "tools/list" => json!({"resultType": "complete", "tools": [
            {"name": "plain", "inputSchema": {"type": "object"}},
            {"name": "grüß", "inputSchema": {"type": "object"}},
            {"name": "mirror", "inputSchema": {"type": "object", "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "text": {"type": "string", "x-mcp-header": "Text"},
                "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
                "flag": {"type": "boolean", "x-mcp-header": "Flag"},
            }}},
            {"name": "invalid", "inputSchema": {"type": "object", "properties": {
                "n": {"type": "number", "x-mcp-header": "N"}}}},
        ]}),
        _ => return false,
    };
    out.answer(
        200,
        // A session id means nothing in this era.
        &[("Content-Type", "application/json"), ("Mcp-Session-Id", "ignored")],
        json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}).to_string().as_bytes(),
    );
    true
}

fn result(seen: &Seen, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result})
}

async fn open_modern(rest: impl Fn(&Seen, &Out) + Send + Sync + 'static) -> (Session, HttpPeer) {
    let peer = HttpPeer::start(move |seen, out| {
        if !modern(&seen, &out) {
            rest(&seen, &out);
        }
    })
    .await;
    let endpoint = Endpoint::Http { url: peer.url(), headers: Vec::new() };
    (connect(&endpoint, Protocol::Modern).await.expect("it is modern"), peer)
}

#[tokio::test]
async fn every_request_carries_its_meta_and_its_mirror() {
    let (mut session, peer) = open_modern(|seen, out| out.json(&result(seen, &json!({"content": []})))).await;
    let arguments = json!({"region": "eu", "text": "grüß\r\nX-Evil: 1", "deep": {"n": -3}, "flag": false});
    session.call_tool("mirror", &arguments, soon()).await;
    session.call_tool("grüß", &json!({}), soon()).await;
    session.request("resources/read", json!({"uri": "file:///a b"}), soon()).await;
    session.request("prompts/get", json!({"name": "p"}), soon()).await;
    let closing = session.close().await;
    assert!(closing.oddities.is_empty(), "{:?}", closing.oddities);
    let all = peer.seen();
    for seen in &all {
        assert_eq!(seen.path, "/mcp");
        assert_eq!(seen.method, "POST", "no GET and no DELETE in this era");
        let meta = &seen.body["params"]["_meta"];
        assert_eq!(meta[format!("{META}protocolVersion")], "2026-07-28");
        assert_eq!(meta[format!("{META}clientCapabilities")], json!({"sampling": {}}));
        assert_eq!(meta[format!("{META}clientInfo")]["name"], "mcprove");
        assert_eq!(seen.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(seen.header("mcp-method"), Some(seen.rpc()));
        assert_eq!(seen.header("mcp-session-id"), None);
    }
    let lists = all.iter().filter(|seen| seen.rpc() == "tools/list").count();
    assert_eq!(lists, 1, "the tools are learnt once");
    let calls: Vec<_> = all.iter().filter(|seen| seen.header("mcp-name").is_some()).collect();
    let names: Vec<_> = calls.iter().filter_map(|seen| seen.header("mcp-name")).collect();
    assert_eq!(names, ["mirror", "=?base64?Z3LDvMOf?=", "file:///a b", "p"]);
    assert_eq!(calls[0].header("mcp-param-region"), Some("eu"));
    assert_eq!(calls[0].header("mcp-param-text"), Some("=?base64?Z3LDvMOfDQpYLUV2aWw6IDE=?="));
    assert_eq!(calls[0].header("mcp-param-n"), Some("-3"));
    assert_eq!(calls[0].header("mcp-param-flag"), Some("false"));
    assert_eq!(calls[0].header("x-evil"), None);
}

#[tokio::test]
async fn a_tool_with_an_invalid_annotation_is_not_called() {
    let (mut session, peer) = open_modern(|seen, out| out.json(&result(seen, &json!({"content": []})))).await;
    let exchange = session.call_tool("invalid", &json!({"n": 1}), soon()).await;
    let Outcome::Refused(refused) = exchange.outcome else { panic!("{:?}", exchange.outcome) };
    assert!(refused.what.contains("`invalid`") && refused.what.contains("x-mcp-header"), "{}", refused.what);
    assert!(peer.seen().iter().all(|seen| seen.rpc() != "tools/call"));
    let fine = session.call_tool("plain", &json!({}), soon()).await;
    assert!(matches!(fine.outcome, Outcome::Result(_)));
}

#[tokio::test]
async fn rounds_are_answered_with_the_state_as_it_came_and_have_an_end() {
    let state = "\u{1f980} {\"a\": 1} \\";
    let (mut session, peer) = open_modern(move |seen, out| {
        let asks = json!({"s": {"method": "sampling/createMessage", "params": {}}});
        let params = &seen.body["params"];
        let rounds = match params["name"].as_str() {
            Some("endless") => json!({"resultType": "input_required", "inputRequests": asks}),
            Some("unknown") => json!({"resultType": "surprise"}),
            Some("nothing") => json!({"resultType": "input_required"}),
            Some("undeclared") => {
                json!({"resultType": "input_required", "inputRequests": {"r": {"method": "roots/list"}}})
            }
            _ if params.get("requestState").is_none() => {
                json!({"resultType": "input_required", "inputRequests": asks, "requestState": state})
            }
            _ if params.get("inputResponses").is_some() => {
                // A round without a question: only the state goes on.
                json!({"resultType": "input_required", "requestState": format!("{state}2")})
            }
            _ => json!({"resultType": "complete", "content": [], "state": params["requestState"]}),
        };
        out.json(&result(seen, &rounds));
    })
    .await;
    let exchange = session.call_tool("plain", &json!({"a": 1}), soon()).await;
    let expected = json!({"resultType": "complete", "content": [], "state": format!("{state}2")});
    assert_eq!(exchange.outcome, Outcome::Result(expected));
    let calls: Vec<_> = peer.seen().into_iter().filter(|seen| seen.rpc() == "tools/call").collect();
    assert_eq!(calls.len(), 3);
    assert!(calls.windows(2).all(|two| two[0].body["id"] != two[1].body["id"]), "each round has an id of its own");
    assert!(calls.iter().all(|seen| seen.body["params"]["arguments"] == json!({"a": 1})));
    assert_eq!(calls[1].body["params"]["requestState"], state);
    assert_eq!(calls[1].body["params"]["inputResponses"]["s"]["content"]["text"], "hi");

    for (tool, expected) in [
        ("endless", "after 16 rounds"),
        ("unknown", "unknown `resultType` \"surprise\""),
        ("nothing", "without `inputRequests`"),
        ("undeclared", "did not declare"),
    ] {
        let exchange = session.call_tool(tool, &json!({}), soon()).await;
        let Outcome::Malformed(malformed) = exchange.outcome else { panic!("{tool}: {:?}", exchange.outcome) };
        assert!(malformed.fault.contains(expected), "{tool}: {}", malformed.fault);
    }
    let endless = peer.seen().iter().filter(|seen| seen.body["params"]["name"] == "endless").count();
    assert_eq!(endless, 17, "the call and sixteen rounds");
}

#[tokio::test]
async fn a_subscription_stands_until_it_is_closed() {
    let own = Mutex::new(None::<Out>);
    let (mut session, peer) = open_modern(move |seen, out| {
        if seen.rpc() == "subscriptions/listen" {
            out.stream(&[]);
            let meta = json!({format!("{META}subscriptionId"): seen.body["id"]});
            let tell = |method: &str, more: Value| {
                let mut params = more;
                params["_meta"] = meta.clone();
                out.event(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
            };
            tell("notifications/subscriptions/acknowledged", json!({"notifications": {}}));
            tell("notifications/resources/updated", json!({"uri": "x:1"}));
            *own.lock().expect("not poisoned") = Some(out.clone());
        } else {
            out.json(&result(seen, &json!({"content": []})));
        }
    })
    .await;
    let exchange = session.subscribe("x:1", soon()).await;
    assert!(matches!(exchange.outcome, Outcome::Result(_)), "{:?}", exchange.outcome);
    let updated = |s: &Session| s.notifications().iter().any(|n| n.method == "notifications/resources/updated");
    assert!(session.listen_until(soon(), updated).await);
    // Other requests are made meanwhile.
    assert!(matches!(session.call_tool("plain", &json!({}), soon()).await.outcome, Outcome::Result(_)));
    assert_eq!(peer.hung_up().await, 0);
    session.unsubscribe("x:1", soon()).await;
    assert_eq!(peer.hung_up().await, 1, "closing the stream is how it ends");
    assert!(peer.seen().iter().all(|seen| seen.rpc() != "notifications/cancelled"));
}

#[tokio::test]
async fn a_broken_stream_is_a_lost_request_and_is_not_taken_up() {
    for end in [Out::close, Out::reset, Out::end] {
        let (mut session, peer) = open_modern(move |_, out| {
            out.stream(&[]);
            out.chunk(b"id: e-1\nretry: 10\ndata:\n\n");
            end(out);
        })
        .await;
        let exchange = session.call_tool("plain", &json!({}), soon()).await;
        let Outcome::Refused(refused) = exchange.outcome else { panic!("{:?}", exchange.outcome) };
        assert!(refused.what.contains("connection") || refused.what.contains("event stream"), "{}", refused.what);
        assert!(peer.seen().iter().all(|seen| seen.method == "POST"));
    }
}

#[tokio::test]
async fn the_era_is_found_on_http_too() {
    type Answer = fn(&Seen, &Out);
    let initialized: Answer = |seen, out| {
        let info = json!({"name": "s", "version": "1"});
        let it = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": info});
        match seen.rpc() {
            "initialize" => out.json(&result(seen, &it)),
            _ => out.answer(202, &[], b""),
        }
    };
    let legacy: &[Answer] = &[
        |_, out| out.answer(400, &[], b""),
        |_, out| {
            let body = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Server not initialized"}}"#;
            out.answer(400, &[("Content-Type", "application/json")], body);
        },
        |_, out| out.answer(500, &[], b"boom"),
        |_, out| out.reset(),
        |_, out| std::mem::forget(out.clone()),
    ];
    for to_probe in legacy {
        let peer = HttpPeer::start(move |seen, out| {
            if seen.rpc() == "server/discover" { to_probe(&seen, &out) } else { initialized(&seen, &out) }
        })
        .await;
        let endpoint = Endpoint::Http { url: peer.url(), headers: Vec::new() };
        let session = connect(&endpoint, Protocol::Auto).await.expect("it is a legacy server");
        assert_eq!(session.negotiated().revision, Revision::V2025_06_18);
        assert_eq!(peer.seen()[1].header("mcp-protocol-version"), None, "`initialize` agrees on it only then");
        assert_eq!(peer.seen()[1].header("mcp-method"), None);
    }
    let peer = HttpPeer::start(|seen, out| {
        if !modern(&seen, &out) {
            let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
            let error = json!({"code": -32022, "message": "no", "data": data});
            let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": error}).to_string();
            out.answer(400, &[("Content-Type", "application/json")], body.as_bytes());
        }
    })
    .await;
    for protocol in [Protocol::Auto, Protocol::Legacy, Protocol::Modern] {
        let endpoint = Endpoint::Http { url: peer.url(), headers: Vec::new() };
        let session = connect(&endpoint, protocol).await.expect("it is a modern server");
        assert_eq!(session.negotiated().revision, Revision::NEWEST, "{protocol:?}");
    }
    assert!(peer.seen().iter().all(|seen| seen.method == "POST"), "HTTP+SSE is not tried");
}

// ---------------------------------------------------------------------------------------------------------------------
// Speed.

#[tokio::test]
async fn calls_over_http_wait_for_nothing_but_the_server() {
    const CALLS: u32 = 2_000;
    for streamed in [false, true] {
        let (mut session, peer) = open_modern(move |seen, out| {
            let reply = result(seen, &json!({"resultType": "complete", "content": []}));
            if streamed {
                out.stream(&[]);
                out.event(&reply);
                out.end();
            } else {
                out.json(&reply);
            }
        })
        .await;
        session.call_tool("plain", &json!({}), soon()).await;
        for _ in 0..CALLS {
            let exchange = session.call_tool("plain", &json!({}), soon()).await;
            assert!(matches!(exchange.outcome, Outcome::Result(_)), "{:?}", exchange.outcome);
        }
        let connections = peer.seen().iter().map(|seen| seen.connection).max().unwrap_or_default() + 1;
        assert!(connections <= 10, "streamed {streamed}: {connections} connections");
        session.close().await;
        assert_eq!(peer.hung_up().await, 0);
    }
}
