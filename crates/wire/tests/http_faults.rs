//! HTTP servers that do wrong: each fault has one clear outcome in time, and leaves evidence.

mod direct;
mod peer;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcprove_model::{Direction, Exchange, Outcome, Protocol, Refused, WirePart};
use mcprove_wire::{Closing, Endpoint, HttpClient, Limits, OpenFailure, Session, SessionOptions, Stage};
use peer::{HttpPeer, Out, Seen};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// How long the request under test may take.
const DEADLINE: Duration = Duration::from_millis(1500);
const JSON: (&str, &str) = ("Content-Type", "application/json");

fn reply(seen: &Seen) -> Value {
    json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"content": []}})
}

/// The honest part of a server: it answers `initialize`, notifications, GET and DELETE; the rest is left.
fn honest(seen: &Seen, out: &Out) -> bool {
    match (seen.method.as_str(), seen.rpc()) {
        ("POST", "initialize") => {
            let result = json!({"protocolVersion": seen.body["params"]["protocolVersion"], "capabilities": {},
                "serverInfo": {"name": "faults", "version": "1"}});
            let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}).to_string();
            out.answer(200, &[JSON, ("Mcp-Session-Id", "s-1")], body.as_bytes());
        }
        ("POST", "ping") => out.json(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {}})),
        ("POST", method) if method.starts_with("notifications/") => out.answer(202, &[], b""),
        ("GET" | "DELETE", _) => out.answer(405, &[], b""),
        _ => return false,
    }
    true
}

#[expect(clippy::needless_pass_by_value, reason = "it is a handler")]
fn honest_alone(seen: Seen, out: Out) {
    assert!(honest(&seen, &out), "nothing else is asked: {seen:?}");
}

async fn connect(peer: &HttpPeer, options: &SessionOptions) -> Result<Session, Box<OpenFailure>> {
    let endpoint = Endpoint::Http { url: peer.url(), headers: Vec::new() };
    Session::connect(&endpoint, &HttpClient::default(), options, Instant::now() + DEADLINE).await
}

/// One call that `fault` answers: it ends alike at the beginning of a session and after some usual exchanges, when the
/// session drives its connections itself.
async fn call(options: &SessionOptions, fault: impl Fn(&Seen, &Out) + Send + Sync + 'static) -> (Exchange, Closing) {
    let fault = Arc::new(fault);
    let (first, closing) = call_after(0, options, fault.clone()).await;
    let (later, later_closing) = call_after(5, options, fault).await;
    // Ids, ports and times differ.
    let shape = |exchange: &Exchange| format!("{:?}", exchange.outcome).replace(|c: char| c.is_ascii_digit(), "");
    assert_eq!(shape(&first), shape(&later));
    assert_eq!(rules(&closing), rules(&later_closing), "{:?}", first.outcome);
    (first, closing)
}

/// An honest handshake, some pings, one call that `fault` answers, then a ping: the session must have survived.
async fn call_after(
    pings: usize,
    options: &SessionOptions,
    fault: Arc<impl Fn(&Seen, &Out) + Send + Sync + 'static>,
) -> (Exchange, Closing) {
    let peer = HttpPeer::start(move |seen, out| {
        if !honest(&seen, &out) {
            fault(&seen, &out);
        }
    })
    .await;
    let mut session = connect(&peer, options).await.expect("the handshake is honest");
    for _ in 0..pings {
        assert_eq!(session.ping(Instant::now() + DEADLINE).await.outcome, Outcome::Result(json!({})));
    }
    let exchange = session.call_tool("t", &json!({}), Instant::now() + DEADLINE).await;
    let ping = session.ping(Instant::now() + DEADLINE).await;
    assert_eq!(ping.outcome, Outcome::Result(json!({})), "the session lives on after {:?}", exchange.outcome);
    session.listen(Instant::now() + Duration::from_millis(20)).await;
    (exchange, session.close().await)
}

async fn refused(fault: impl Fn(&Seen, &Out) + Send + Sync + 'static) -> (Refused, Closing) {
    let (exchange, closing) = call(&SessionOptions::default(), fault).await;
    match exchange.outcome {
        Outcome::Refused(refused) => (refused, closing),
        other => panic!("not refused: {other:?}"),
    }
}

fn rules(closing: &Closing) -> Vec<&str> {
    closing.oddities.iter().map(|finding| finding.rule.as_ref()).collect()
}

#[tokio::test]
async fn statuses_say_what_to_do() {
    type Headers = &'static [(&'static str, &'static str)];
    let scenes: &[(u16, Headers, &str, &str, &str)] = &[
        (301, &[("Location", "https://elsewhere/mcp")], "", "redirects to https://elsewhere/mcp", "not followed"),
        (401, &[], "", "wants a login (HTTP 401)", "Authorization"),
        (401, &[("WWW-Authenticate", "Bearer realm=\"x\"")], "", "wants a login", "Bearer realm=\"x\""),
        (
            401,
            &[JSON],
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no token"}}"#,
            "(HTTP 401): no token",
            "Authorization",
        ),
        (403, &[], "go away", "refuses access (HTTP 403)", "host and origin"),
        (404, &[], "", "no longer knows the session", "restarted"),
        (405, &[], "", "does not take POST here (HTTP 405)", "sse"),
        (429, &[("Retry-After", "7")], "", "limits the rate (HTTP 429)", "wait 7 s"),
        (429, &[("Retry-After", "Tue, 01 Dec 2026 10:00:00 GMT")], "", "HTTP 429", "wait until Tue"),
        (500, &[("Content-Type", "text/html")], "<h1>Oops</h1>", "HTTP 500", "log"),
        (200, &[("Content-Type", "text/html")], "<h1>Hello</h1>", "`text/html` instead of JSON", "/mcp"),
        (200, &[("Content-Type", "application/xml")], "<a/>", "`application/xml`", "/mcp"),
        (200, &[], "{}", "without a content type", "/mcp"),
        (200, &[JSON], "", "an empty body (HTTP 200)", "reply"),
        (200, &[JSON], " \n", "an empty body (HTTP 200)", "reply"),
        (202, &[], "", "(HTTP 202) and answered with nothing", "/mcp"),
        (204, &[], "", "(HTTP 204) and answered with nothing", "/mcp"),
        (200, &[JSON, ("Content-Encoding", "gzip")], "\u{1f}\u{8}", "`Content-Encoding: gzip`", "Accept-Encoding"),
        (418, &[], "", "HTTP 418", "log"),
    ];
    for (status, headers, body, what, help) in scenes {
        let (refused, closing) = refused(move |_, out| out.answer(*status, headers, body.as_bytes())).await;
        assert!(refused.what.contains(what), "{status}: {}", refused.what);
        assert!(!refused.what.contains('\n'), "{}", refused.what);
        assert!(refused.help.as_ref().is_some_and(|text| text.contains(help)), "{status}: {:?}", refused.help);
        assert_eq!(refused.status, Some(*status));
        assert_eq!(refused.evidence, body.as_bytes(), "{status}");
        let logged = closing.frames.iter().any(|frame| {
            frame.direction == Direction::Received
                && matches!(&frame.part, WirePart::HttpResponse { status: s, .. } if s == status)
        });
        assert!(logged, "{status} is in the frame log");
    }
}

#[tokio::test]
async fn a_body_with_two_lengths_is_refused() {
    let headers = &[JSON, ("Transfer-Encoding", "chunked")];
    let (refused, _) = refused(move |_, out| out.answer(200, headers, b"2\r\n{}\r\n0\r\n\r\n")).await;
    assert_eq!(refused.what, "the response has `Transfer-Encoding` and `Content-Length`");
    assert!(refused.help.is_some_and(|text| text.contains("one of them")));
}

#[tokio::test]
async fn broken_bodies_end_the_request() {
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let scenes: Vec<(&str, String)> = vec![
        ("breaks off", format!("{ok}Content-Length: 1000\r\n\r\n{{\"jsonrpc\":")),
        ("breaks off", format!("{ok}Transfer-Encoding: chunked\r\n\r\nzz\r\nnonsense\r\n")),
        ("is not HTTP", "SMTP 220 hello\r\n\r\n".to_owned()),
        ("is not HTTP", "HTTP/1.1 two hundred\r\n\r\n".to_owned()),
        ("without an answer", String::new()),
        ("without an answer", "HTTP/1.1 200 OK\r\nContent-".to_owned()),
    ];
    for (expected, bytes) in scenes {
        let shown = bytes.clone();
        let (refused, _) = refused(move |_, out| {
            out.raw(bytes.as_bytes());
            out.close();
        })
        .await;
        assert!(refused.what.contains(expected), "{shown:?}: {}", refused.what);
    }
    let (refused, _) = refused(|_, out| out.reset()).await;
    assert!(refused.what.contains("reset the connection"), "{}", refused.what);
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_limit() {
    let limits = Limits { message_bytes: 64 << 10, ..Limits::default() };
    let options = SessionOptions { limits, ..SessionOptions::default() };
    for kind in ["application/json", "text/event-stream", "text/html"] {
        let (exchange, _) = call(&options, move |_, out| {
            out.raw(format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"));
            out.chunk(b"data: \"");
            for _ in 0..100 {
                out.chunk(&[b'x'; 4096]);
            }
            // And it never ends.
            std::mem::forget(out.clone());
        })
        .await;
        let Outcome::Refused(refused) = &exchange.outcome else { panic!("{kind}: {:?}", exchange.outcome) };
        let expected = if kind == "text/html" { "`text/html`" } else { "longer than 65536 bytes" };
        assert!(refused.what.contains(expected), "{kind}: {}", refused.what);
        assert!(!refused.evidence.is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn a_body_that_never_comes_does_not_hide_the_status() {
    let (refused, _) = refused(|_, out| {
        out.raw(*b"HTTP/1.1 500 Oh\r\nContent-Length: 10\r\n\r\n");
        std::mem::forget(out.clone());
    })
    .await;
    assert!(refused.what.contains("HTTP 500"), "{}", refused.what);
    // The deadline of the request came before the body: nobody can tell whether it was a proper refusal.
    assert!(refused.may_have_result, "{}", refused.what);
    assert!(refused.what.ends_with("and the body of its answer did not come"), "{}", refused.what);
}

/// The body of an answer to a request.
type Body = Arc<dyn Fn(&Seen) -> String + Send + Sync>;

#[tokio::test]
async fn a_result_with_a_status_that_refuses_is_seen_in_every_shape() {
    let page = format!("<html>{}", "p".repeat(2 << 20));
    let long = |seen: &Seen| reply(seen).to_string().replace("[]", &format!("[{}]", " ".repeat(2 << 20)));
    let scenes: [(&str, bool, Body); 7] = [
        ("an object", true, Arc::new(|seen| reply(seen).to_string())),
        ("a list", true, Arc::new(|seen| json!([reply(seen)]).to_string())),
        ("an event", true, Arc::new(|seen| format!("event: message\ndata: {}\n\n", reply(seen)))),
        ("the second event", true, Arc::new(|seen| format!("data: hi\n\ndata: {}\n\n", json!([reply(seen)])))),
        ("more than is read", true, Arc::new(long)),
        ("a long page", false, Arc::new(move |_| page.clone())),
        (
            "an error",
            false,
            Arc::new(|_| json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "no"}}).to_string()),
        ),
    ];
    for (name, has_result, body) in scenes {
        let (refused, _) = refused(move |seen, out| out.answer(401, &[JSON], body(seen).as_bytes())).await;
        assert_eq!(refused.may_have_result, has_result, "{name}: {}", refused.what);
        assert!(refused.what.contains("HTTP 401"), "{name}: {}", refused.what);
    }
    let (refused, _) = refused(|_, out| {
        out.raw(*b"HTTP/1.1 401 Oh\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"");
        out.close();
    })
    .await;
    assert!(refused.may_have_result, "{}", refused.what);
}

#[tokio::test]
async fn bodies_that_are_no_reply_say_how() {
    type Body = fn(&Seen) -> String;
    let scenes: &[(&str, Body)] = &[
        ("not a JSON-RPC message", |_| "{\"hello\": 1}".to_owned()),
        ("not a JSON-RPC message", |_| "\"text\"".to_owned()),
        ("cut off", |_| "{\"jsonrpc\": \"2.0\", \"id\"".to_owned()),
        ("has the id 99", |_| r#"{"jsonrpc":"2.0","id":99,"result":{}}"#.to_owned()),
        ("has no id", |_| r#"{"jsonrpc":"2.0","result":{}}"#.to_owned()),
        ("batch", |seen| json!([reply(seen)]).to_string()),
        ("lacks", |seen| json!({"id": seen.body["id"], "result": {}}).to_string()),
    ];
    for (expected, body) in scenes {
        let (exchange, _) = call(&SessionOptions::default(), move |seen, out| {
            out.answer(200, &[JSON], body(seen).as_bytes());
        })
        .await;
        let Outcome::Malformed(malformed) = &exchange.outcome else { panic!("{expected}: {:?}", exchange.outcome) };
        assert!(malformed.fault.contains(expected), "{}", malformed.fault);
        assert!(!malformed.evidence.is_empty());
    }
    let (refused, _) = refused(|_, out| out.json(&json!({"jsonrpc": "2.0", "method": "notifications/x"}))).await;
    assert!(refused.what.contains("holds no reply"), "{}", refused.what);
}

#[tokio::test]
async fn a_pretty_printed_reply_is_a_reply() {
    let (exchange, closing) = call(&SessionOptions::default(), |seen, out| {
        let body = serde_json::to_vec_pretty(&reply(seen)).expect("a value serialises");
        out.answer(200, &[("Content-Type", "Application/JSON; charset=utf-8")], &body);
    })
    .await;
    assert_eq!(exchange.outcome, Outcome::Result(json!({"content": []})));
    assert!(closing.oddities.is_empty(), "{:?}", closing.oddities);
}

#[tokio::test]
async fn a_reply_with_another_status_of_success_is_odd() {
    for (status, expected) in [(200, &[][..]), (201, &["odd-status"]), (206, &["odd-status"])] {
        let (exchange, closing) = call(&SessionOptions::default(), move |seen, out| {
            out.answer(status, &[("content-type", "application/json")], reply(seen).to_string().as_bytes());
        })
        .await;
        assert!(matches!(exchange.outcome, Outcome::Result(_)), "{status}: {:?}", exchange.outcome);
        assert_eq!(rules(&closing), expected, "{status}");
    }
}

#[tokio::test]
async fn a_reply_after_a_receipt_is_refused() {
    for (kind, is_event) in [("application/json", false), ("text/event-stream", true)] {
        let (refused, _) = refused(move |seen, out| {
            let reply = reply(seen).to_string();
            let body = if is_event { format!("data: {reply}\n\n") } else { reply };
            out.answer(202, &[("content-type", kind)], body.as_bytes());
        })
        .await;
        assert_eq!(refused.what, "a request was answered with HTTP 202, after which clients read no reply", "{kind}");
        assert_eq!(refused.status, Some(202), "{kind}");
    }
}

#[tokio::test]
async fn a_reply_with_two_content_types_is_odd() {
    for second in ["application/json", "text/event-stream"] {
        let (exchange, closing) = call(&SessionOptions::default(), move |seen, out| {
            let headers = [("content-type", "application/json"), ("content-type", second)];
            out.answer(200, &headers, reply(seen).to_string().as_bytes());
        })
        .await;
        assert!(matches!(exchange.outcome, Outcome::Result(_)), "{second}: {:?}", exchange.outcome);
        assert_eq!(rules(&closing), ["repeated-content-type"], "{second}");
    }
}

#[tokio::test]
async fn an_integer_that_is_read_as_another_one_is_odd() {
    for (number, expected) in [("18446744073709551615", &[][..]), ("18446744073709551617", &["inexact-number"])] {
        let (exchange, closing) = call(&SessionOptions::default(), move |seen, out| {
            let body = reply(seen).to_string().replacen("\"content\":[]", &format!("\"content\":[],\"n\":{number}"), 1);
            out.answer(200, &[JSON], body.as_bytes());
        })
        .await;
        assert!(matches!(exchange.outcome, Outcome::Result(_)), "{number}: {:?}", exchange.outcome);
        assert_eq!(rules(&closing), expected, "{number}");
    }
}

#[tokio::test]
async fn an_error_with_a_status_is_the_answer_of_the_request_it_belongs_to() {
    let peer = HttpPeer::start(|seen, out| {
        if honest(&seen, &out) {
            return;
        }
        // Neither has its id, so only the exchange says which is which.
        let message = seen.body["params"]["name"].as_str().unwrap_or_default();
        let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": message}});
        out.answer(400, &[JSON], body.to_string().as_bytes());
    })
    .await;
    let mut session = connect(&peer, &SessionOptions::default()).await.expect("opens");
    let ids = ["a", "b", "c"].map(|name| session.start("tools/call", &json!({"name": name})));
    for (id, name) in ids.into_iter().zip(["a", "b", "c"]) {
        let exchange = session.finish(id, Instant::now() + DEADLINE).await;
        assert!(matches!(&exchange.outcome, Outcome::Error(error) if error.message == name), "{:?}", exchange.outcome);
    }
}

#[tokio::test]
async fn streams_that_lead_nowhere_end_with_the_request() {
    type Script = fn(&Seen, &Out);
    let scenes: &[(&str, Script)] = &[
        ("ended before the reply", |_, out| out.end()),
        ("ended in the middle of an event", |_, out| {
            out.chunk(b"data: {\"jsonrpc\"");
            out.end();
        }),
        ("broke off", |_, out| {
            out.chunk(b": hi\n\n");
            out.close();
        }),
        ("event of the type `result`", |seen, out| {
            out.chunk(format!("event: result\ndata: {}\n\n", reply(seen)).as_bytes());
            out.end();
        }),
    ];
    for (expected, script) in scenes {
        let (refused, _) = refused(move |seen, out| {
            out.stream(&[]);
            script(seen, out);
        })
        .await;
        assert!(refused.what.contains(expected), "{expected}: {}", refused.what);
    }
}

#[tokio::test]
async fn streams_without_end_meet_the_deadline() {
    type Script = fn(&Out);
    let scenes: &[(&str, Script)] = &[
        ("silence", |_| {}),
        ("a comment", |out| out.chunk(b": keep alive\n\n")),
        ("the retry is too long", |out| {
            out.chunk(b"id: 1\nretry: 99999999\ndata:\n\n");
            out.end();
        }),
        ("an endless retry", |out| {
            out.chunk(b"id: 1\nretry: 99999999999999999999999\ndata:\n\n");
            out.end();
        }),
    ];
    for (name, script) in scenes {
        let (exchange, _) = call(&SessionOptions::default(), move |_, out| {
            out.stream(&[]);
            script(out);
            std::mem::forget(out.clone());
        })
        .await;
        assert!(matches!(exchange.outcome, Outcome::TimedOut { .. }), "{name}: {:?}", exchange.outcome);
    }
}

#[tokio::test]
async fn a_server_that_never_stops_talking_does_not_move_the_deadline() {
    let (exchange, closing) = call(&SessionOptions::default(), |_, out| {
        out.stream(&[]);
        let out = out.clone();
        tokio::spawn(async move {
            loop {
                for _ in 0..50 {
                    out.event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}));
                    out.chunk(b": still here\n\n");
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
    })
    .await;
    assert!(matches!(exchange.outcome, Outcome::TimedOut { .. }), "{:?}", exchange.outcome);
    assert!(closing.notifications.len() > 100);
}

#[tokio::test]
async fn events_that_are_no_messages_are_odd_and_fail_nothing() {
    let (exchange, closing) = call(&SessionOptions::default(), |seen, out| {
        out.stream(&[]);
        out.chunk(b"event: ping\ndata: 2026-12-01\n\n");
        // A character cut in two by the chunks.
        let event = format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"t": "ü🦀"}}));
        let cut = event.find('🦀').expect("it is there") + 2;
        out.chunk(&event.as_bytes()[..cut]);
        out.chunk(&event.as_bytes()[cut..]);
        out.end();
    })
    .await;
    assert_eq!(exchange.outcome, Outcome::Result(json!({"t": "ü🦀"})));
    assert!(closing.oddities.is_empty(), "{:?}", closing.oddities);
    let is_ping = |part: &WirePart| matches!(part, WirePart::StreamEvent { event, .. } if event == "ping");
    assert!(closing.frames.iter().any(|frame| is_ping(&frame.part)));
}

#[tokio::test]
async fn a_second_reply_is_noticed() {
    let (exchange, closing) = call(&SessionOptions::default(), |seen, out| {
        out.stream(&[]);
        out.event(&reply(seen));
        out.event(&reply(seen));
        out.end();
    })
    .await;
    assert_eq!(exchange.outcome, Outcome::Result(json!({"content": []})));
    assert_eq!(rules(&closing), ["duplicate-reply"]);
}

#[tokio::test]
async fn what_comes_before_the_right_reply_is_noticed() {
    let strays = [("{\"jsonrpc\":\"2.0\",\"id\":777,\"result\":{}}", "unknown-id"), ("not json", "malformed-message")];
    for (stray, rule) in strays {
        let (exchange, closing) = call(&SessionOptions::default(), move |seen, out| {
            out.stream(&[]);
            out.chunk(format!("data: {stray}\n\n").as_bytes());
            out.event(&reply(seen));
            out.end();
        })
        .await;
        assert_eq!(exchange.outcome, Outcome::Result(json!({"content": []})), "{stray}");
        assert_eq!(rules(&closing), [rule], "{stray}");
    }
}

#[tokio::test]
async fn a_page_that_is_no_list_is_a_fault() {
    let cases = [
        (json!({"tools": {}}), "the reply to `tools/list` has an object as `tools`, not a list"),
        (json!({"tools": null}), "the reply to `tools/list` has null as `tools`, not a list"),
        (json!({}), "the reply to `tools/list` has no `tools`"),
        (
            json!({"tools": [{"name": "a"}, 5]}),
            "the reply to `tools/list` has a number as item 2 of `tools`, not an object",
        ),
        (
            json!({"tools": [], "nextCursor": 5}),
            "the reply to `tools/list` has a number as `nextCursor`, not a string, so no further page was read",
        ),
    ];
    for (page, fault) in cases {
        let peer = HttpPeer::start(move |seen, out| {
            if !honest(&seen, &out) {
                out.json(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": page}));
            }
        })
        .await;
        let mut session = connect(&peer, &SessionOptions::default()).await.expect("opens");
        let listing = session.list("tools/list", "tools", Instant::now() + DEADLINE).await;
        let found: Vec<&str> = listing.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(found, [fault]);
        session.close().await;
    }
}

#[tokio::test]
async fn a_refused_notification_is_odd_and_fails_nothing() {
    let peer = HttpPeer::start(|seen, out| {
        if seen.rpc() == "notifications/initialized" {
            let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#;
            out.answer(400, &[JSON], body.as_bytes());
        } else if !honest(&seen, &out) {
            out.json(&reply(&seen));
        }
    })
    .await;
    let mut session = connect(&peer, &SessionOptions::default()).await.expect("opens");
    let exchange = session.call_tool("t", &json!({}), Instant::now() + DEADLINE).await;
    assert_eq!(exchange.outcome, Outcome::Result(json!({"content": []})));
    let closing = session.close().await;
    assert_eq!(rules(&closing), ["refused-message"]);
    assert!(closing.oddities[0].message.contains("HTTP 400"), "{}", closing.oddities[0].message);
}

#[tokio::test]
async fn a_notification_that_is_never_taken_holds_nothing_up_for_long() {
    let peer = HttpPeer::start(|seen, out| {
        if seen.rpc() == "notifications/initialized" {
            std::mem::forget(out);
        } else if !honest(&seen, &out) {
            out.json(&reply(&seen));
        }
    })
    .await;
    let mut session = connect(&peer, &SessionOptions::default()).await.expect("opens");
    let exchange = session.call_tool("t", &json!({}), Instant::now() + DEADLINE).await;
    assert_eq!(exchange.outcome, Outcome::Result(json!({"content": []})));
}

#[tokio::test]
async fn a_lost_session_is_named_and_the_session_is_no_longer_open() {
    let peer = HttpPeer::start(|seen, out| {
        if !honest(&seen, &out) {
            let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#;
            out.answer(404, &[JSON], body.as_bytes());
        }
    })
    .await;
    let mut session = connect(&peer, &SessionOptions::default()).await.expect("opens");
    assert!(session.is_open());
    let exchange = session.call_tool("t", &json!({}), Instant::now() + DEADLINE).await;
    let Outcome::Refused(refused) = exchange.outcome else { panic!("{:?}", exchange.outcome) };
    assert!(refused.what.contains("no longer knows the session"), "{}", refused.what);
    assert!(!session.is_open());
}

#[tokio::test]
async fn failures_to_open_are_named_in_one_line() {
    type Script = fn(&Seen, &Out);
    let scenes: &[(&str, Script)] = &[
        ("wants a login (HTTP 401)", |_, out| out.answer(401, &[], b"")),
        ("nothing at this URL (HTTP 404)", |_, out| out.answer(404, &[], b"")),
        ("the server failed (HTTP 500", |_, out| out.answer(500, &[("Content-Type", "text/html")], b"<p>")),
        ("`text/html` instead of JSON", |_, out| out.answer(200, &[("Content-Type", "text/html")], b"<p>")),
        ("redirects to /x (HTTP 308)", |_, out| out.answer(308, &[("Location", "/x")], b"")),
    ];
    for (expected, script) in scenes {
        for protocol in [Protocol::Legacy, Protocol::Modern, Protocol::Auto] {
            let peer = HttpPeer::start(move |seen, out| script(&seen, &out)).await;
            let options = SessionOptions { protocol, ..SessionOptions::default() };
            let failure = connect(&peer, &options).await.expect_err("refused");
            assert!(failure.message.contains(expected), "{protocol:?}: {}", failure.message);
            assert!(failure.help.is_some(), "{}", failure.message);
            assert_eq!(failure.stage, Stage::Handshake);
        }
    }
    let gone = {
        let peer = HttpPeer::start(|_, _| {}).await;
        peer.address
    };
    tokio::time::sleep(Duration::from_millis(20)).await;
    let endpoint = |url: String| Endpoint::Http { url, headers: Vec::new() };
    for (expected, url) in [
        ("was refused", format!("http://{gone}/mcp")),
        ("not an address", "http://".to_owned()),
        ("not an http or https URL", "ftp://x/y".to_owned()),
        ("could not be found", "http://no-such-host.invalid/mcp".to_owned()),
    ] {
        let options = SessionOptions::default();
        let until = Instant::now() + Duration::from_secs(10);
        let opened = Session::connect(&endpoint(url), &HttpClient::default(), &options, until).await;
        let failure = opened.expect_err("there is nothing");
        assert!(failure.message.contains(expected), "{}", failure.message);
        assert_eq!(failure.stage, Stage::Start, "{}", failure.message);
    }
}

#[tokio::test]
async fn a_line_break_in_a_header_field_is_refused_before_anything_is_sent() {
    for (name, value) in [("X-Test", "a\r\nX-Evil: 1"), ("X-Test", "a\nb"), ("X\r\nEvil", "a"), ("X Y", "a")] {
        let peer = HttpPeer::start(honest_alone).await;
        let headers = vec![(name.to_owned(), value.to_owned())];
        for endpoint in
            [Endpoint::Http { url: peer.url(), headers: headers.clone() }, Endpoint::Sse { url: peer.url(), headers }]
        {
            let options = SessionOptions::default();
            let until = Instant::now() + DEADLINE;
            let failure = Session::connect(&endpoint, &HttpClient::default(), &options, until).await;
            let failure = failure.expect_err("it cannot be sent");
            assert!(failure.message.contains("that cannot be sent"), "{}", failure.message);
            assert!(failure.help.as_ref().is_some_and(|help| help.contains("headers:")), "{:?}", failure.help);
            assert!(failure.closing.frames.iter().all(|frame| frame.part == WirePart::Message), "no head was sent");
        }
        assert!(peer.seen().is_empty());
    }
}

#[tokio::test]
async fn secrets_are_sent_and_not_logged() {
    let peer = HttpPeer::start(honest_alone).await;
    let secret = |name: &str| (name.to_owned(), "hunter2".to_owned());
    let headers = vec![secret("Authorization"), secret("X-Api-Key"), ("X-Plain".to_owned(), "shown".to_owned())];
    let endpoint = Endpoint::Http { url: peer.url(), headers };
    let until = Instant::now() + DEADLINE;
    let session = Session::connect(&endpoint, &HttpClient::default(), &SessionOptions::default(), until).await;
    let closing = session.expect("opens").close().await;
    assert!(peer.seen().iter().all(|seen| seen.header("authorization") == Some("hunter2")));
    let log = format!("{:?}", closing.frames);
    assert!(!log.contains("hunter2") && log.contains("shown"));
}

#[tokio::test]
async fn the_session_is_kept_and_ended_and_the_own_stream_comes_after_initialized() {
    let peer = HttpPeer::start(honest_alone).await;
    let mut session = connect(&peer, &SessionOptions::default()).await.expect("opens");
    session.ping(Instant::now() + DEADLINE).await;
    session.listen(Instant::now() + Duration::from_millis(50)).await;
    let closing = session.close().await;
    assert!(closing.oddities.is_empty(), "405 to GET and DELETE is fine: {:?}", closing.oddities);
    let seen = peer.seen();
    let at = |found: &dyn Fn(&Seen) -> bool| seen.iter().position(found).expect("it came");
    let get = at(&|seen| seen.method == "GET");
    assert!(at(&|seen| seen.rpc() == "notifications/initialized") < get);
    assert_eq!(seen[0].header("mcp-session-id"), None);
    assert_eq!(seen[0].header("mcp-protocol-version"), None);
    for later in &seen[1..] {
        assert_eq!(later.header("mcp-session-id"), Some("s-1"), "{} {}", later.method, later.rpc());
        assert_eq!(later.header("mcp-protocol-version"), Some("2025-11-25"));
    }
    assert_eq!(seen.last().map(|seen| seen.method.as_str()), Some("DELETE"));
    let is_delete = |part: &WirePart| matches!(part, WirePart::HttpRequest { method, .. } if method == "DELETE");
    assert!(closing.frames.iter().any(|frame| is_delete(&frame.part)), "the end is in the frame log");
}

#[tokio::test]
async fn a_broken_stream_is_taken_up_after_its_last_event() {
    let gets = AtomicUsize::new(0);
    let asked = Mutex::new(Value::Null);
    let peer = HttpPeer::start(move |seen, out| {
        if let Some(last) = seen.header("last-event-id") {
            out.stream(&[]);
            // The first time it breaks again, further on.
            if gets.fetch_add(1, Ordering::Relaxed) == 0 {
                assert_eq!(last, "e-1");
                out.chunk(b"id: e-2\ndata:\n\n");
                return out.close();
            }
            assert_eq!(last, "e-2");
            let id = asked.lock().expect("not poisoned").clone();
            out.event(&json!({"jsonrpc": "2.0", "id": id, "result": {"resumed": true}}));
            out.end();
        } else if !honest(&seen, &out) {
            *asked.lock().expect("not poisoned") = seen.body["id"].clone();
            out.stream(&[]);
            out.chunk(b"id: e-1\nretry: 200\ndata:\n\n");
            out.end();
        }
    })
    .await;
    let mut session = connect(&peer, &SessionOptions::default()).await.expect("opens");
    let exchange = session.call_tool("t", &json!({}), Instant::now() + Duration::from_secs(5)).await;
    assert_eq!(exchange.outcome, Outcome::Result(json!({"resumed": true})));
    assert!(exchange.elapsed_us >= 400_000, "`retry: 200` is honoured twice");
}

#[tokio::test]
async fn a_stream_that_cannot_be_taken_up_says_so() {
    let (refused, _) = refused(|_, out| {
        out.stream(&[]);
        out.chunk(b"id: e-1\nretry: 10\ndata:\n\n");
        out.end();
    })
    .await;
    assert!(refused.what.contains("could not be taken up again"), "{}", refused.what);
    assert!(refused.what.contains("HTTP 405"), "{}", refused.what);
}

#[tokio::test]
async fn a_reply_in_a_stream_of_a_notification_is_no_reply_to_something_else() {
    let peer = HttpPeer::start(|seen, out| {
        if seen.rpc() == "notifications/initialized" {
            out.json(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "no"}}));
        } else if !honest(&seen, &out) {
            out.json(&reply(&seen));
        }
    })
    .await;
    let mut session = connect(&peer, &SessionOptions::default()).await.expect("opens");
    let exchange = session.call_tool("t", &json!({}), Instant::now() + DEADLINE).await;
    assert_eq!(exchange.outcome, Outcome::Result(json!({"content": []})));
    assert_eq!(rules(&session.close().await), ["unasked-reply"]);
}

// ---------------------------------------------------------------------------------------------------------------------
// HTTP+SSE.

async fn connect_sse(peer: &HttpPeer) -> Result<Session, Box<OpenFailure>> {
    let endpoint = Endpoint::Sse { url: peer.url(), headers: vec![("Authorization".to_owned(), "x".to_owned())] };
    let options = SessionOptions::default();
    Session::connect(&endpoint, &HttpClient::default(), &options, Instant::now() + DEADLINE).await
}

#[tokio::test]
async fn an_event_stream_that_is_none_is_named() {
    type Script = fn(&Out);
    let scenes: &[(&str, Script)] = &[
        ("wants a login (HTTP 401)", |out| out.answer(401, &[], b"")),
        ("nothing at this URL", |out| out.answer(404, &[], b"")),
        ("`text/html` instead of", |out| out.answer(200, &[("Content-Type", "text/html")], b"<p>")),
        ("names no address for messages", |out| {
            out.stream(&[]);
            std::mem::forget(out.clone());
        }),
        ("event stream ended", |out| {
            out.stream(&[]);
            out.end();
        }),
        ("an address on another host", |out| {
            out.stream(&[]);
            out.chunk(b"event: endpoint\ndata: http://127.0.0.1:1/steal\n\n");
            std::mem::forget(out.clone());
        }),
    ];
    for (expected, script) in scenes {
        let peer = HttpPeer::start(move |_, out| script(&out)).await;
        let failure = connect_sse(&peer).await.expect_err("it is none");
        assert!(failure.message.contains(expected), "{expected}: {}", failure.message);
    }
}

#[tokio::test]
async fn a_server_that_takes_no_post_is_spoken_to_over_http_sse() {
    let own = Mutex::new(None::<Out>);
    let peer = HttpPeer::start(move |seen, out| match (seen.method.as_str(), seen.path.as_str()) {
        ("GET", "/mcp") => {
            out.stream(&[]);
            out.chunk(b"event: endpoint\ndata: /messages\n\n");
            *own.lock().expect("not poisoned") = Some(out);
        }
        ("POST", "/messages") => {
            out.answer(202, &[], b"");
            if let (false, Some(own)) = (seen.body["id"].is_null(), &*own.lock().expect("not poisoned")) {
                let info = json!({"name": "s", "version": "1"});
                let result =
                    json!({"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": info, "content": []});
                own.event(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}));
            }
        }
        _ => out.answer(405, &[], b""),
    })
    .await;
    let mut session = connect(&peer, &SessionOptions::default()).await.expect("opens");
    assert_eq!(session.transport_name(), "sse");
    let exchange = session.call_tool("t", &json!({}), Instant::now() + DEADLINE).await;
    assert!(matches!(exchange.outcome, Outcome::Result(_)), "{:?}", exchange.outcome);
    let connections: Vec<_> = peer.seen().iter().map(|seen| seen.connection).collect();
    assert!(connections.len() > 3 && peer.hung_up().await == 0, "{connections:?}");
}

#[tokio::test]
async fn a_reply_on_the_stream_of_get_is_odd() {
    let own = Mutex::new(None::<Out>);
    let peer = HttpPeer::start(move |seen, out| {
        if seen.method == "GET" {
            out.stream(&[]);
            *own.lock().expect("not poisoned") = Some(out);
        } else if !honest(&seen, &out) {
            let own = own.lock().expect("not poisoned");
            own.as_ref().expect("GET comes first").event(&reply(&seen));
            // The stream of the request stays open, and empty.
            out.stream(&[]);
        }
    })
    .await;
    let mut session = connect(&peer, &SessionOptions::default()).await.expect("opens");
    let exchange = session.call_tool("t", &json!({}), Instant::now() + DEADLINE).await;
    assert!(matches!(exchange.outcome, Outcome::Result(_)), "{:?}", exchange.outcome);
    assert_eq!(rules(&session.close().await), ["reply-on-get-stream"]);
}

// ---------------------------------------------------------------------------------------------------------------------
// TLS.

/// A server with a certificate that nobody vouches for.
async fn start_tls() -> std::net::SocketAddr {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate can be made");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("the key is one");
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring knows them")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("key and certificate belong together");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("a bound socket has an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(acceptor.accept(stream));
        }
    });
    address
}

/// A server that speaks HTTP without TLS, and says so to whatever comes.
async fn start_plain() -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("a bound socket has an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n").await;
        }
    });
    address
}

#[tokio::test]
async fn tls_errors_are_named() {
    let untrusted = start_tls().await;
    let plain = start_plain().await;
    for (expected, url) in [
        ("TLS with localhost", format!("https://localhost:{}/mcp", untrusted.port())),
        ("TLS with 127.0.0.1", format!("https://{plain}/mcp")),
    ] {
        let endpoint = Endpoint::Http { url: url.clone(), headers: Vec::new() };
        let until = Instant::now() + Duration::from_secs(5);
        let opened = Session::connect(&endpoint, &HttpClient::default(), &SessionOptions::default(), until).await;
        let failure = opened.expect_err("nobody vouches for it");
        assert!(failure.message.starts_with(expected), "{url}: {}", failure.message);
        assert!(failure.help.as_ref().is_some_and(|help| help.contains("SSL_CERT_FILE")), "{:?}", failure.help);
        assert_eq!(failure.stage, Stage::Start);
    }
}

#[tokio::test]
async fn plain_http_to_a_tls_port_ends() {
    let address = start_tls().await;
    let endpoint = Endpoint::Http { url: format!("http://{address}/mcp"), headers: Vec::new() };
    let until = Instant::now() + DEADLINE;
    let opened = Session::connect(&endpoint, &HttpClient::default(), &SessionOptions::default(), until).await;
    let failure = opened.expect_err("it speaks TLS");
    assert!(failure.message.contains("is not HTTP"), "{}", failure.message);
    assert!(failure.help.as_ref().is_some_and(|help| help.contains("https://")), "{:?}", failure.help);
}

#[tokio::test]
async fn another_session_id_in_the_middle_is_odd() {
    let (exchange, closing) = call(&SessionOptions::default(), |seen, out| {
        out.answer(200, &[JSON, ("Mcp-Session-Id", "s-2")], reply(seen).to_string().as_bytes());
    })
    .await;
    assert!(matches!(exchange.outcome, Outcome::Result(_)), "{:?}", exchange.outcome);
    assert_eq!(rules(&closing), ["bad-session-id"]);
}
