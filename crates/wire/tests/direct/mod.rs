//! Exchanges on connections that the session drives itself: they look like all others, on the wire and in the log.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::peer::{HttpPeer, Out, Seen};
use mcprove_model::{Outcome, WirePart};
use mcprove_wire::{Endpoint, HttpClient, Session, SessionOptions};
use serde_json::{Value, json};
use tokio::time::Instant;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

/// Answers the handshake; true if the request was part of it.
fn shakes_hands(seen: &Seen, out: &Out) -> bool {
    match (seen.method.as_str(), seen.rpc()) {
        ("POST", "initialize") => out.json(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {
            "protocolVersion": seen.body["params"]["protocolVersion"], "capabilities": {},
            "serverInfo": {"name": "direct", "version": "1"}}})),
        ("POST", method) if method.starts_with("notifications/") => out.answer(202, &[], b""),
        ("GET" | "DELETE", _) => out.answer(405, &[], b""),
        _ => return false,
    }
    true
}

fn reply(seen: &Seen) -> Value {
    json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"path": seen.path}})
}

async fn open(peer: &HttpPeer) -> Session {
    let headers = vec![("x-team".to_owned(), "blue".to_owned()), ("authorization".to_owned(), "Bearer t".to_owned())];
    let endpoint = Endpoint::Http { url: format!("{}?a=1", peer.url()), headers };
    let session = Session::connect(&endpoint, &HttpClient::default(), &SessionOptions::default(), soon()).await;
    session.expect("the handshake is honest")
}

async fn succeeds(session: &mut Session) {
    let exchange = session.request("ping", Value::Null, soon()).await;
    assert_eq!(exchange.outcome, Outcome::Result(json!({"path": "/mcp?a=1"})));
}

/// The connections that pings came on, in their order.
fn connections(peer: &HttpPeer) -> Vec<usize> {
    peer.seen().iter().filter(|seen| seen.rpc() == "ping").map(|seen| seen.connection).collect()
}

#[tokio::test]
async fn later_requests_are_the_same_on_the_wire_and_in_the_log() {
    let peer = HttpPeer::start(|seen, out| {
        if !shakes_hands(&seen, &out) {
            out.json(&reply(&seen));
        }
    })
    .await;
    let mut session = open(&peer).await;
    for _ in 0..6 {
        succeeds(&mut session).await;
    }
    let seen = peer.seen();
    let pings: Vec<&Seen> = seen.iter().filter(|seen| seen.rpc() == "ping").collect();
    assert_ne!(pings[0].connection, pings[5].connection, "the last ones are direct");
    assert_eq!(pings[4].connection, pings[5].connection);
    let sorted = |seen: &Seen| {
        let mut headers = seen.headers.clone();
        headers.sort();
        headers
    };
    assert_eq!(sorted(pings[0]), sorted(pings[5]));
    let closing = session.close().await;
    let heads: Vec<&WirePart> =
        closing.frames.iter().map(|frame| &frame.part).filter(|part| **part != WirePart::Message).collect();
    let without_number = |part: &WirePart| match part {
        WirePart::HttpRequest { method, url, headers, .. } => format!("{method} {url} {headers:?}"),
        WirePart::HttpResponse { status, headers, .. } => format!("{status} {headers:?}"),
        other => format!("{other:?}"),
    };
    let shown: Vec<String> = heads.iter().map(|part| without_number(part)).collect();
    let last = shown.len() - 2;
    assert_eq!(shown[last..], shown[last - 10..last - 8], "{shown:#?}");
    assert!(shown[last].contains("(hidden)") && shown[last].contains("blue"), "{}", shown[last]);
    // Every exchange has a number of its own.
    let numbers: Vec<u64> = heads
        .iter()
        .filter_map(|part| match part {
            WirePart::HttpRequest { exchange, .. } => Some(*exchange),
            _ => None,
        })
        .collect();
    assert!(numbers.iter().max() == Some(&(numbers.len() as u64)), "{numbers:?}");
}

#[tokio::test]
async fn responses_come_in_pieces_of_any_size() {
    let peer = HttpPeer::start(|seen, out| {
        if shakes_hands(&seen, &out) {
            return;
        }
        let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"path": seen.path}}).to_string();
        let body = format!("{{{}{}", " ".repeat(70_000), &body[1..]);
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        let whole = head + &body;
        tokio::spawn(async move {
            for piece in whole.as_bytes().chunks(9_973) {
                out.raw(piece);
                tokio::task::yield_now().await;
            }
        });
    })
    .await;
    let mut session = open(&peer).await;
    for _ in 0..6 {
        succeeds(&mut session).await;
    }
    session.close().await;
}

#[tokio::test]
async fn a_connection_that_was_closed_while_idle_is_replaced() {
    let closing = Arc::new(AtomicUsize::new(usize::MAX));
    let close_at = closing.clone();
    let peer = HttpPeer::start(move |seen, out| {
        if !shakes_hands(&seen, &out) {
            out.json(&reply(&seen));
            if seen.body["id"].as_u64().is_some_and(|id| id >= close_at.load(Ordering::Relaxed) as u64) {
                out.close();
            }
        }
    })
    .await;
    let mut session = open(&peer).await;
    for _ in 0..5 {
        succeeds(&mut session).await;
    }
    closing.store(0, Ordering::Relaxed);
    for _ in 0..3 {
        succeeds(&mut session).await;
        // The end of the connection is there before the next request.
        session.listen(Instant::now() + Duration::from_millis(50)).await;
    }
    let used = connections(&peer);
    assert!(used[7] > used[6] && used[6] > used[5], "{used:?}");
    session.close().await;
}

#[tokio::test]
async fn concurrent_requests_have_connections_of_their_own() {
    let held = Arc::new(Mutex::new(Vec::new()));
    let holding = held.clone();
    let peer = HttpPeer::start(move |seen, out| {
        if shakes_hands(&seen, &out) {
        } else if seen.rpc() == "ping" {
            out.json(&reply(&seen));
        } else {
            // The answers come in the opposite order, when all requests are there.
            let mut held = holding.lock().expect("no panic");
            held.push((seen, out));
            if held.len() == 4 {
                for (seen, out) in held.drain(..).rev() {
                    out.json(&reply(&seen));
                }
            }
        }
    })
    .await;
    let mut session = open(&peer).await;
    for _ in 0..4 {
        succeeds(&mut session).await;
    }
    let ids: Vec<u64> = (0..4).map(|_| session.start("tools/list", &Value::Null)).collect();
    for id in ids {
        let exchange = session.finish(id, soon()).await;
        assert_eq!(exchange.outcome, Outcome::Result(json!({"path": "/mcp?a=1"})));
    }
    assert!(held.lock().expect("no panic").is_empty());
    session.close().await;
}

#[tokio::test]
async fn a_request_that_is_given_up_leaves_the_others_alone() {
    let peer = HttpPeer::start(|seen, out| {
        if shakes_hands(&seen, &out) {
        } else if seen.rpc() == "ping" {
            out.json(&reply(&seen));
        } else {
            // Never answered, and the connection stays open.
            std::mem::forget(out);
        }
    })
    .await;
    let mut session = open(&peer).await;
    for _ in 0..4 {
        succeeds(&mut session).await;
    }
    let exchange = session.request("tools/list", Value::Null, Instant::now() + Duration::from_millis(50)).await;
    assert!(matches!(exchange.outcome, Outcome::TimedOut { .. }), "{:?}", exchange.outcome);
    succeeds(&mut session).await;
    let closing = session.close().await;
    assert!(closing.oddities.is_empty(), "{:?}", closing.oddities);
}
