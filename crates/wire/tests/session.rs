//! Sessions against an in-memory peer that does whatever a scene asks for.

use std::time::Duration;

use mcprove_model::{ClientCapabilities, Outcome, Protocol, SamplingReply};
use mcprove_wire::transport::Peer;
use mcprove_wire::{Limits, OpenFailure, Session, SessionOptions, Step, Transport};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::Instant;

/// What a peer does on a message: the exact bytes it writes.
type Script = fn(&Value) -> Vec<u8>;

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn initialized(message: &Value) -> Option<Vec<u8>> {
    (message["method"] == "initialize").then(|| {
        line(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "peer", "version": "1"},
        }}))
    })
}

async fn serve(peer: Peer, script: Script) {
    let (reader, mut writer) = tokio::io::split(peer.stream);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(text)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        let bytes = script(&message);
        if bytes == b"HANG UP" {
            return;
        }
        if writer.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

async fn open_with(script: Script, options: SessionOptions) -> Result<Session, Box<OpenFailure>> {
    let (transport, peer) = Transport::memory(&options.limits);
    tokio::spawn(serve(peer, script));
    Session::open(transport, &options, soon()).await
}

async fn open(script: Script) -> Session {
    open_with(script, SessionOptions::default()).await.expect("the handshake is fine")
}

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(600)
}

async fn call(script: Script) -> (Outcome, Vec<String>) {
    let mut session = open(script).await;
    let exchange = session.call_tool("t", &json!({}), soon()).await;
    // Give what follows the reply a moment to arrive, then look at everything.
    session.listen(Instant::now() + Duration::from_millis(20)).await;
    let rules = session.close().await.oddities.into_iter().map(|f| f.rule.into_owned()).collect();
    (exchange.outcome, rules)
}

fn fault(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Malformed(malformed) => &malformed.fault,
        other => panic!("not malformed: {other:?}"),
    }
}

/// A peer that answers `initialize` properly and a tool call with `$reply`, which sees the message as `$m`.
macro_rules! peer {
    (|$m:ident| $reply:expr) => {{
        fn script(message: &Value) -> Vec<u8> {
            if let Some(reply) = initialized(message) {
                return reply;
            }
            if message["method"] != "tools/call" {
                return Vec::new();
            }
            let $m = message;
            $reply
        }
        script as Script
    }};
}

#[tokio::test]
async fn a_proper_reply_is_a_result_and_carries_the_progress_token_out() {
    let (outcome, rules) = call(peer!(|m| {
        let token = &m["params"]["_meta"]["progressToken"];
        let mut bytes = line(&json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 1}}));
        bytes.extend(line(&json!({"jsonrpc": "2.0", "id": m["id"], "result": {"content": []}})));
        bytes
    }))
    .await;
    assert_eq!(outcome, Outcome::Result(json!({"content": []})));
    assert_eq!(rules, Vec::<String>::new());
}

#[tokio::test]
async fn broken_replies_end_the_request_and_say_how() {
    let scenes: &[(&str, Script)] = &[
        ("lacks", peer!(|m| line(&json!({"id": m["id"], "result": {}})))),
        ("\"error\": null", peer!(|m| line(&json!({"jsonrpc": "2.0", "id": m["id"], "result": {}, "error": null})))),
        (
            "not a whole number",
            peer!(|m| line(&json!({"jsonrpc": "2.0", "id": m["id"], "error": {"code": "x", "message": ""}}))),
        ),
        ("has the id \"2\"", peer!(|m| line(&json!({"jsonrpc": "2.0", "id": m["id"].to_string(), "result": {}})))),
        ("has the id 2.0", peer!(|m| format!("{{\"jsonrpc\":\"2.0\",\"id\":{}.0,\"result\":{{}}}}\n", m["id"]).into())),
        ("has the id 99", peer!(|_m| line(&json!({"jsonrpc": "2.0", "id": 99, "result": {}})))),
        ("has no id", peer!(|_m| line(&json!({"jsonrpc": "2.0", "result": {}})))),
        ("batch", peer!(|m| line(&json!([{"jsonrpc": "2.0", "id": m["id"], "result": {}}])))),
        (
            "several lines",
            peer!(|m| format!("{{\n  \"jsonrpc\": \"2.0\",\n  \"id\": {},\n  \"result\": {{}}\n}}\n", m["id"]).into()),
        ),
        (
            "not valid UTF-8",
            peer!(|m| {
                let mut bytes = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"x\":\"", m["id"]).into_bytes();
                bytes.extend(b"\xff\"}}\n");
                bytes
            }),
        ),
        (
            "out of range",
            peer!(|m| format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"x\":1e400}}}}\n", m["id"]).into()),
        ),
    ];
    for (expected, script) in scenes {
        let (outcome, _) = call(*script).await;
        assert!(fault(&outcome).contains(expected), "{expected}: {outcome:?}");
    }
}

#[tokio::test]
async fn the_right_reply_wins_over_a_stray_one() {
    let (outcome, _) = call(peer!(|m| {
        let mut bytes = line(&json!({"jsonrpc": "2.0", "id": 99, "result": {}}));
        bytes.extend(line(&json!({"jsonrpc": "2.0", "id": m["id"], "result": {"ok": true}})));
        bytes
    }))
    .await;
    assert_eq!(outcome, Outcome::Result(json!({"ok": true})));
}

#[tokio::test]
async fn a_second_reply_and_stray_text_are_kept_as_oddities() {
    let (outcome, rules) = call(peer!(|m| {
        let reply = line(&json!({"jsonrpc": "2.0", "id": m["id"], "result": {}}));
        [b"listening on stdio\n".as_slice(), &reply, &reply].concat()
    }))
    .await;
    assert_eq!(outcome, Outcome::Result(json!({})));
    assert_eq!(rules, ["duplicate-reply", "stdout-pollution"]);
}

#[tokio::test]
async fn silence_ends_at_the_deadline_with_a_cancellation_and_the_session_lives_on() {
    fn script(message: &Value) -> Vec<u8> {
        if let Some(reply) = initialized(message) {
            return reply;
        }
        match message["method"].as_str() {
            // The late answer comes when the cancellation is seen.
            Some("notifications/cancelled") => {
                line(&json!({"jsonrpc": "2.0", "id": message["params"]["requestId"], "result": {}}))
            }
            Some("ping") => line(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {}})),
            _ => Vec::new(),
        }
    }
    let mut session = open(script).await;
    let exchange = session.call_tool("t", &json!({}), Instant::now() + Duration::from_millis(30)).await;
    assert!(matches!(exchange.outcome, Outcome::TimedOut { .. }), "{:?}", exchange.outcome);
    assert_eq!(session.request("ping", Value::Null, soon()).await.outcome, Outcome::Result(json!({})));
    let rules: Vec<_> = session.close().await.oddities.into_iter().map(|f| f.rule).collect();
    assert_eq!(rules, ["late-reply"]);
}

#[tokio::test]
async fn half_a_reply_is_shown_though_it_is_no_answer() {
    let mut session = open(peer!(|m| format!("{{\"jsonrpc\":\"2.0\",\"id\":{},", m["id"]).into_bytes())).await;
    let exchange = session.call_tool("t", &json!({}), soon()).await;
    assert!(matches!(exchange.outcome, Outcome::TimedOut { .. }), "{:?}", exchange.outcome);
    assert_eq!(exchange.reply.as_deref(), Some(&br#"{"jsonrpc":"2.0","id":2,"#[..]));
    let oddities = session.close().await.oddities;
    assert!(oddities.iter().any(|oddity| oddity.rule == "unfinished-message"), "{oddities:?}");
}

#[tokio::test]
async fn pages_that_take_all_the_time_are_counted() {
    fn pages(message: &Value) -> Vec<u8> {
        if let Some(reply) = initialized(message) {
            return reply;
        }
        match message["params"]["cursor"].as_str() {
            Some("2") => Vec::new(),
            Some(_) => {
                line(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": [], "nextCursor": "2"}}))
            }
            None if message["method"] == "tools/list" => {
                line(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": [], "nextCursor": "1"}}))
            }
            None => Vec::new(),
        }
    }
    let listing = open(pages).await.list("tools/list", "tools", soon()).await;
    let told: Vec<&str> = listing.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(told, ["`tools/list` had not ended after 2 pages when the time was up"]);
    assert!(matches!(listing.outcome(), Some(Outcome::Result(_))), "{:?}", listing.outcome());
}

#[tokio::test]
async fn a_server_that_hangs_up_is_named() {
    let (outcome, _) = call(peer!(|_m| b"HANG UP".to_vec())).await;
    assert!(matches!(outcome, Outcome::Closed { .. }), "{outcome:?}");
}

#[tokio::test]
async fn server_requests_are_answered_from_what_was_declared() {
    fn script(message: &Value) -> Vec<u8> {
        if let Some(reply) = initialized(message) {
            return reply;
        }
        if message["method"] == "tools/call" {
            let ask =
                |id: &str, method: &str| line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}));
            return [ask("a", "ping"), ask("b", "sampling/createMessage"), ask("c", "roots/list"), ask("d", "x/y")]
                .concat();
        }
        if message["id"] == "d" {
            // The last answer: what we got is the result of the call, whose id is 2.
            return line(&json!({"jsonrpc": "2.0", "id": 2, "result": {"code": message["error"]["code"]}}));
        }
        Vec::new()
    }
    let client = ClientCapabilities {
        sampling: vec![SamplingReply { text: "hi".into(), model: "m".into(), stop_reason: "endTurn".into() }],
        ..ClientCapabilities::default()
    };
    let mut session = open_with(script, SessionOptions { client, ..SessionOptions::default() }).await.expect("opens");
    let exchange = session.call_tool("t", &json!({}), soon()).await;
    assert_eq!(exchange.outcome, Outcome::Result(json!({"code": -32601})));
    let asked: Vec<_> = session.server_requests().iter().map(|r| (r.method.as_str(), r.answered)).collect();
    assert_eq!(asked, [("ping", true), ("sampling/createMessage", true), ("roots/list", false), ("x/y", false)]);
}

#[tokio::test]
async fn a_request_can_be_watched_and_its_questions_answered_by_hand() {
    fn script(message: &Value) -> Vec<u8> {
        if let Some(reply) = initialized(message) {
            let declared = &message["params"]["capabilities"];
            assert!(declared["sampling"].is_object() && declared["elicitation"]["form"].is_object(), "{declared}");
            return reply;
        }
        if message["method"] == "tools/call" {
            let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hi"}});
            let ask = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "?"}});
            return [line(&note), line(&ask)].concat();
        }
        if message["id"] == "q" {
            return line(&json!({"jsonrpc": "2.0", "id": 2, "result": {"got": message["result"]}}));
        }
        Vec::new()
    }
    let client = ClientCapabilities { by_hand: true, ..ClientCapabilities::default() };
    let mut session = open_with(script, SessionOptions { client, ..SessionOptions::default() }).await.expect("opens");
    let params = session.tool_params("t", &json!({}));
    let mut live = session.begin("tools/call", params);
    let Step::Notification(note) = session.step(&mut live, soon()).await else { panic!("a notification first") };
    assert_eq!(note.params["data"], "hi");
    let Step::Question(question) = session.step(&mut live, soon()).await else { panic!("then the question") };
    assert_eq!((question.method.as_str(), &question.params["message"]), ("elicitation/create", &json!("?")));
    session.reply(Some(&mut live), question, Ok(json!({"action": "decline"})));
    let Step::Done(exchange) = session.step(&mut live, soon()).await else { panic!("then the end") };
    assert_eq!(exchange.outcome, Outcome::Result(json!({"got": {"action": "decline"}})));
    assert!(session.server_requests()[0].answered);
}

#[tokio::test]
async fn roots_without_folders_are_asked_for_by_hand_and_can_change() {
    fn script(message: &Value) -> Vec<u8> {
        let ask = |id: &str| line(&json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"}));
        if let Some(reply) = initialized(message) {
            assert!(message["params"]["capabilities"]["roots"].is_object(), "{message}");
            return reply;
        }
        match (message["method"].as_str(), message["id"].as_str()) {
            (Some("notifications/initialized"), _) => ask("first"),
            (Some("notifications/roots/list_changed"), _) => ask("second"),
            (None, Some(_)) => {
                line(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": message["result"]}))
            }
            _ => Vec::new(),
        }
    }
    let client = ClientCapabilities { by_hand: true, roots: Some(Vec::new()), ..ClientCapabilities::default() };
    let mut session = open_with(script, SessionOptions { client, ..SessionOptions::default() }).await.expect("opens");
    assert!(session.receive_one(soon()).await);
    let question = session.next_question().expect("the server wants to know");
    let folders = ["/a b".to_owned()];
    session.set_roots(folders.to_vec());
    session.reply(None, question, Ok(mcprove_wire::roots_result(&folders)));
    session.receive_one(soon()).await;
    // From now on they are known.
    session.set_roots(vec!["/c".to_owned()]);
    assert!(session.notify_roots());
    session.receive_one(soon()).await;
    session.receive_one(soon()).await;
    let heard: Vec<_> =
        session.drain().notifications.into_iter().map(|note| note.params["roots"][0]["uri"].clone()).collect();
    assert_eq!(heard, ["file:///a%20b", "file:///c"]);
}

#[tokio::test]
async fn a_watched_request_ends_at_its_deadline_and_with_its_server() {
    let mut session = open(peer!(|_m| Vec::new())).await;
    let mut live = session.begin("tools/call", json!({"name": "t"}));
    let Step::Done(exchange) = session.step(&mut live, soon()).await else { panic!("it ends") };
    assert!(matches!(exchange.outcome, Outcome::TimedOut { .. }), "{:?}", exchange.outcome);
    let mut session = open(peer!(|_m| b"HANG UP".to_vec())).await;
    let mut live = session.begin("tools/call", json!({"name": "t"}));
    let Step::Done(exchange) = session.step(&mut live, soon()).await else { panic!("it ends") };
    assert!(matches!(exchange.outcome, Outcome::Closed { .. }), "{:?}", exchange.outcome);
}

#[tokio::test]
async fn input_that_a_modern_result_asks_for_can_be_given_by_hand() {
    fn script(message: &Value) -> Vec<u8> {
        let reply = |result: Value| line(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        if message["method"] == "server/discover" {
            let versions = json!(["2026-07-28"]);
            return reply(json!({"resultType": "complete", "supportedVersions": versions, "capabilities": {}}));
        }
        match message["params"].get("inputResponses") {
            Some(given) => {
                reply(json!({"resultType": "complete", "got": given, "state": message["params"]["requestState"]}))
            }
            None if message["method"] == "tools/call" => reply(json!({
                "resultType": "input_required",
                "requestState": "s",
                "inputRequests": {"name": {"method": "elicitation/create", "params": {"message": "who?"}}},
            })),
            None => Vec::new(),
        }
    }
    let client = ClientCapabilities { by_hand: true, ..ClientCapabilities::default() };
    let options = SessionOptions { client, protocol: Protocol::Modern, ..SessionOptions::default() };
    let mut session = open_with(script, options).await.expect("opens");
    let mut live = session.begin("tools/call", json!({"name": "t", "arguments": {}}));
    let Step::Question(question) = session.step(&mut live, soon()).await else { panic!("a question first") };
    assert_eq!(question.params["message"], "who?");
    session.reply(Some(&mut live), question, Ok(json!({"action": "accept", "content": {"name": "Ada"}})));
    let Step::Done(exchange) = session.step(&mut live, soon()).await else { panic!("then the end") };
    let Outcome::Result(result) = exchange.outcome else { panic!("a result: {:?}", exchange.outcome) };
    assert_eq!(result["got"]["name"]["content"]["name"], "Ada");
    assert_eq!(result["state"], "s");
}

#[tokio::test]
async fn pages_are_followed_and_a_repeated_cursor_is_found() {
    fn script(message: &Value) -> Vec<u8> {
        if let Some(reply) = initialized(message) {
            return reply;
        }
        if message["method"] != "tools/list" {
            return Vec::new();
        }
        let result = match message["params"]["cursor"].as_str() {
            None => json!({"tools": [{"name": "a"}], "nextCursor": "1"}),
            Some("1") => json!({"tools": [{"name": "b"}], "nextCursor": "2"}),
            _ => json!({"tools": [{"name": "c"}], "nextCursor": "1"}),
        };
        line(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
    }
    let mut session = open(script).await;
    let listing = session.list("tools/list", "tools", soon()).await;
    assert_eq!(listing.items.len(), 3);
    assert_eq!(listing.findings[0].rule, "repeated-cursor");
}

#[tokio::test]
async fn an_unknown_revision_is_named() {
    fn script(message: &Value) -> Vec<u8> {
        line(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": "1999-01-01"}}))
    }
    let failure = open_with(script, SessionOptions::default()).await.expect_err("unknown revision");
    assert!(failure.message.contains("1999-01-01"), "{}", failure.message);
}

#[tokio::test]
async fn an_oversized_message_is_cut_and_named() {
    let limits = Limits { message_bytes: 1 << 20, ..Limits::default() };
    let script = peer!(|m| line(&json!({"jsonrpc": "2.0", "id": m["id"], "result": {"x": "y".repeat(3 << 20)}})));
    let mut session = open_with(script, SessionOptions { limits, ..SessionOptions::default() }).await.expect("opens");
    let exchange = session.call_tool("t", &json!({}), Instant::now() + Duration::from_secs(5)).await;
    assert!(fault(&exchange.outcome).contains("longer than 1 MiB"), "{:?}", exchange.outcome);
}
