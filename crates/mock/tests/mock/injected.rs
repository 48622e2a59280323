//! Every fault of the table as a raw client observes it: in both eras, over pipes and over HTTP, of the mock itself and in front of
//! a healthy server.

use std::sync::Arc;
use std::time::Duration;

use mcprove_mock::{Mock, MockOptions};
use mcprove_model::{FAULTS, FaultId, canary};
use mcprove_wire::{Injector, Strike, inject_http, inject_lines};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use crate::bridge::{Connect, bridge};
use crate::client::{Client, meta, offer};

const MANIFEST: &str = "tools: [{ name: search, description: Finds things. }, { name: other }]";

fn mock(fault: &str) -> Mock {
    let faults = vec![format!("search={fault}").parse().expect("a fault")];
    Mock::new(offer(MANIFEST), MockOptions { faults, seed: 7, ..MockOptions::default() })
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// A client that has listed the tools.
async fn listed(client: &mut Client) -> Value {
    client.ask("tools/list", Value::Null).await["result"]["tools"][0].clone()
}

/// A way between a client and a server with a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Pipes,
    Http,
}

/// Where the fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The mock has it.
    Mock,
    /// It is injected in front of a healthy mock, as `intercept` does.
    Relay,
}

/// A connected client, and what tells which faults it met.
fn connected(fault: &str, way: Way, source: Source) -> (Client, Box<dyn Fn() -> Vec<Strike>>) {
    let rule = format!("search={fault}").parse().expect("a fault");
    let injector = Injector::new(vec![rule], 7);
    let mock = match source {
        Source::Mock => mock(fault),
        Source::Relay => Mock::new(offer(MANIFEST), MockOptions::default()),
    };
    let (near, far) = tokio::io::duplex(1 << 16);
    let (serving, relay) = (mock.clone(), injector.clone());
    let server = match (way, source) {
        (Way::Pipes, Source::Mock) => tokio::spawn(async move {
            let (reader, writer) = tokio::io::split(far);
            serving.serve(reader, writer).await
        }),
        (Way::Pipes, Source::Relay) => tokio::spawn(async move {
            let (up, down) = tokio::io::duplex(1 << 16);
            let (reader, writer) = tokio::io::split(down);
            tokio::spawn(async move { serving.serve(reader, writer).await });
            inject_lines(&relay, "c", tokio::io::split(far), tokio::io::split(up)).await;
            Ok(())
        }),
        (Way::Http, _) => {
            let healthy = mock.http_connections();
            let connect: Connect = Arc::new(move || {
                let server = healthy();
                if source == Source::Mock {
                    return server;
                }
                let (up, down) = tokio::io::duplex(1 << 16);
                let relay = relay.clone();
                tokio::spawn(async move { inject_http(&relay, down, server).await });
                up
            });
            tokio::spawn(bridge(far, connect))
        }
    };
    let strikes: Box<dyn Fn() -> Vec<Strike>> = match source {
        Source::Mock => Box::new(move || mock.strikes()),
        Source::Relay => Box::new(move || injector.strikes()),
    };
    (Client::over(near, server), strikes)
}

/// Observes every fault on one way, in both eras.
async fn observe_all(way: Way, source: Source) {
    for row in FAULTS {
        for modern in [false, true] {
            let (mut client, strikes) = connected(&row.example(), way, source);
            if modern {
                client.meta = Some(meta(&json!({})));
            } else {
                client.initialize("2025-11-25", json!({})).await;
            }
            let first = listed(&mut client).await;
            observe(row.id, &mut client, &first, way).await;
            let met = strikes().iter().filter(|strike| strike.fault.id == row.id).count();
            assert_eq!(met > 0, row.id != FaultId::None, "{}: strikes", row.name);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_fault_of_a_mock_is_seen_on_pipes_in_both_eras() {
    observe_all(Way::Pipes, Source::Mock).await;
}

#[tokio::test(start_paused = true)]
async fn every_fault_of_a_mock_is_seen_over_http_in_both_eras() {
    observe_all(Way::Http, Source::Mock).await;
}

#[tokio::test(start_paused = true)]
async fn every_fault_in_front_of_a_server_is_seen_on_pipes_in_both_eras() {
    observe_all(Way::Pipes, Source::Relay).await;
}

#[tokio::test(start_paused = true)]
async fn every_fault_in_front_of_a_server_is_seen_over_http_in_both_eras() {
    observe_all(Way::Http, Source::Relay).await;
}

#[expect(clippy::too_many_lines, reason = "one arm per fault")]
async fn observe(fault: FaultId, client: &mut Client, listed_first: &Value, way: Way) {
    let healthy = "mock search";
    let call = json!({"name": "search", "arguments": {}});
    match fault {
        FaultId::None => assert_eq!(text(&client.call("search", json!({})).await), healthy),
        FaultId::Hang | FaultId::Wedged | FaultId::Drop => {
            client.start("tools/call", call).await;
            assert!(client.is_quiet(5_000).await, "{fault:?}");
            // With `drop:1` and the others alike, the connection itself is well.
            assert!(client.ask("tools/list", Value::Null).await["result"].is_object(), "{fault:?}");
        }
        FaultId::Slow => {
            let began = Instant::now();
            assert_eq!(text(&client.call("search", json!({})).await), healthy);
            assert_eq!(began.elapsed().as_millis(), 1_500);
        }
        FaultId::RecoverAfter => {
            for _ in 0..2 {
                client.start("tools/call", call.clone()).await;
                assert!(client.is_quiet(5_000).await);
            }
            assert_eq!(text(&client.call("search", json!({})).await), healthy);
        }
        FaultId::Disconnect => {
            client.start("tools/call", call).await;
            let rest = client.rest().await;
            assert!(!rest.is_empty() && serde_json::from_str::<Value>(&rest).is_err(), "{rest}");
        }
        FaultId::Malformed | FaultId::Truncated => {
            client.start("tools/call", call).await;
            let line = client.next_line().await;
            assert!(serde_json::from_str::<Value>(&line).is_err(), "{line}");
            assert!(client.ask("tools/list", Value::Null).await["result"].is_object(), "{fault:?}");
        }
        FaultId::WrongId => {
            let id = client.start("tools/call", call).await;
            let reply = client.next().await;
            assert!(reply["result"].is_object() && reply["id"] != id, "{reply}");
        }
        FaultId::Duplicate => {
            let id = client.start("tools/call", call).await;
            let (one, two) = (client.next().await, client.next().await);
            assert_eq!(one, two);
            assert_eq!(one["id"], id);
        }
        FaultId::AfterCancel => {
            let id = client.start("tools/call", call).await;
            assert!(client.is_quiet(60_000).await);
            let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
            client.send(&cancel).await;
            assert_eq!(client.next().await["id"], id);
        }
        FaultId::Oversized => {
            let reply = client.call("search", json!({})).await;
            assert!(reply.to_string().len() > 4_096 * 1_024);
        }
        FaultId::Error => {
            assert_eq!(client.call("search", json!({})).await["error"]["code"], -32_603);
        }
        FaultId::Flaky => {
            let mut failed = 0;
            for _ in 0..100 {
                failed += usize::from(client.call("search", json!({})).await["error"].is_object());
            }
            assert!((15..45).contains(&failed), "{failed} of 100 at 30 %");
        }
        FaultId::RateLimit => {
            let reply = client.call("search", json!({})).await;
            assert_eq!(reply["error"]["code"], -32_000);
            let wait = reply["error"]["data"]["retryAfterMs"].as_u64().expect("a time");
            tokio::time::sleep(Duration::from_millis(wait - 1)).await;
            assert!(client.call("search", json!({})).await["error"].is_object());
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert_eq!(text(&client.call("search", json!({})).await), healthy);
        }
        FaultId::ExpiredAuth => {
            assert_eq!(client.call("search", json!({})).await["error"]["code"], -32_001);
        }
        FaultId::RenamedTool => {
            assert_eq!(client.call("search", json!({})).await["error"]["code"], -32_602);
            assert_eq!(listed(client).await["name"], "search_v2");
            assert_eq!(text(&client.call("search_v2", json!({})).await), healthy);
        }
        FaultId::AddedArgument => {
            assert_eq!(client.call("search", json!({})).await["error"]["code"], -32_602);
            assert_eq!(listed(client).await["inputSchema"]["required"], json!(["confirm"]));
            assert_eq!(text(&client.call("search", json!({"confirm": true})).await), healthy);
        }
        FaultId::ChangedDescription => {
            assert_eq!(listed_first["description"], "Finds things.");
            assert_ne!(listed(client).await["description"], "Finds things.");
        }
        FaultId::ListChangedStorm | FaultId::NotificationFlood => {
            client.call("search", json!({})).await;
            let (method, count) = match fault {
                FaultId::ListChangedStorm => ("notifications/tools/list_changed", 100),
                _ => ("notifications/message", 1_000),
            };
            assert_eq!(client.heard_methods().iter().filter(|heard| **heard == method).count(), count);
        }
        FaultId::SlowDrip => {
            let began = Instant::now();
            assert_eq!(text(&client.call("search", json!({})).await), healthy);
            assert!(began.elapsed() > Duration::from_secs(1), "{:?}", began.elapsed());
        }
        FaultId::OutOfOrder => {
            let held = client.start("tools/call", call.clone()).await;
            let next = client.start("tools/call", json!({"name": "other"})).await;
            assert_eq!([client.next().await["id"].clone(), client.next().await["id"].clone()], [next, held]);
            // Without another request it is late, not lost.
            assert_eq!(text(&client.call("search", json!({})).await), healthy);
        }
        FaultId::ResetAfter => {
            for _ in 0..2 {
                assert_eq!(text(&client.call("search", json!({})).await), healthy);
            }
            client.start("tools/call", call).await;
            assert_eq!(client.rest().await, "");
        }
        FaultId::HalfOpen => {
            client.start("tools/call", call).await;
            // Over HTTP, another request has another connection.
            if way == Way::Pipes {
                client.start("tools/list", Value::Null).await;
            }
            assert!(client.is_quiet(600_000).await);
        }
        FaultId::InjectedResult => {
            let reply = client.call("search", json!({})).await;
            assert!(reply.to_string().contains(&canary(7, "search")), "{reply}");
        }
        FaultId::InjectedDescription => {
            assert!(listed_first["description"].as_str().expect("text").contains(&canary(7, "search")));
        }
        FaultId::UnexpectedSampling => {
            let id = client.start("tools/call", call).await;
            let asked = client.next().await;
            assert_eq!(asked["method"], "sampling/createMessage");
            let refusal = json!({"code": -32_601, "message": "no sampling"});
            client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": refusal})).await;
            assert_eq!(client.next().await["id"], id);
        }
    }
}

/// What came in answer to a POST, as bytes; `None` if nothing came in time.
async fn post(mock: &Mock, message: &Value) -> Option<String> {
    let mut stream = (mock.http_connections())();
    let method = message["method"].as_str().unwrap_or_default();
    let name = message["params"]["name"].as_str().unwrap_or_default();
    let body = message.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, \
         text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\nmcp-name: {name}\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("the mock reads");
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_mins(2), stream.read_to_end(&mut answer)).await;
    read.ok()?.expect("a readable answer");
    Some(String::from_utf8(answer).expect("text"))
}

#[tokio::test(start_paused = true)]
async fn every_fault_is_seen_in_a_response_as_it_is() {
    let call = |name: &str| {
        json!({
            "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": name, "arguments": {}, "_meta": meta(&json!({}))},
        })
    };
    for row in FAULTS {
        let mock = mock(&row.example());
        let answer = post(&mock, &call("search")).await;
        let seen = answer.as_deref().unwrap_or("(nothing)");
        let body = seen.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let json = serde_json::from_str::<Value>(body);
        let fits = match row.id {
            FaultId::None
            | FaultId::ChangedDescription
            | FaultId::InjectedDescription
            | FaultId::ResetAfter
            | FaultId::Slow
            | FaultId::SlowDrip
            | FaultId::OutOfOrder => json.is_ok_and(|reply| text(&reply) == "mock search"),
            FaultId::Flaky => json.is_ok(),
            FaultId::Hang
            | FaultId::Wedged
            | FaultId::RecoverAfter
            | FaultId::Drop
            | FaultId::AfterCancel
            | FaultId::HalfOpen => answer.is_none(),
            FaultId::Disconnect => {
                let length = seen.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
                length.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > body.len())
            }
            FaultId::Malformed | FaultId::Truncated => json.is_err() && seen.starts_with("HTTP/1.1 200"),
            FaultId::WrongId => json.is_ok_and(|reply| reply["id"] == 1_000_005),
            FaultId::Duplicate => seen.matches("\"id\":5").count() == 2 && seen.contains("text/event-stream"),
            FaultId::Oversized => json.is_ok() && body.len() > 4_096 * 1_024,
            FaultId::Error => json.is_ok_and(|reply| reply["error"]["code"] == -32_603),
            FaultId::RateLimit => seen.starts_with("HTTP/1.1 429") && seen.contains("retry-after: 2\r\n"),
            FaultId::ExpiredAuth => seen.starts_with("HTTP/1.1 401") && seen.contains("www-authenticate: Bearer"),
            FaultId::RenamedTool | FaultId::AddedArgument => json.is_ok_and(|reply| reply["error"]["code"] == -32_602),
            FaultId::ListChangedStorm => seen.matches("list_changed").count() == 100,
            FaultId::NotificationFlood => seen.matches("notifications/message").count() == 1_000,
            FaultId::InjectedResult => seen.contains(&canary(7, "search")),
            FaultId::UnexpectedSampling => seen.contains("sampling/createMessage") && seen.contains("\"id\":5"),
        };
        assert!(fits, "{}: {}", row.name, &seen[..seen.len().min(600)]);
        // The fault is that of one tool.
        let healthy = post(&mock, &call("other")).await.unwrap_or_default();
        assert!(healthy.contains("mock other"), "{}: {healthy}", row.name);
    }
}

#[tokio::test(start_paused = true)]
async fn chance_is_the_same_for_the_same_seed() {
    let mut runs = Vec::new();
    for seed in [1, 1, 2] {
        let faults = vec!["flaky:50".parse().expect("a fault")];
        let mock = Mock::new(offer(MANIFEST), MockOptions { faults, seed, ..MockOptions::default() });
        let mut client = Client::modern(&mock, &json!({}));
        let mut run = Vec::new();
        for _ in 0..40 {
            run.push(client.call("search", json!({})).await["error"].is_object());
        }
        runs.push(run);
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
}

/// The names of all pages of a list.
async fn names(client: &mut Client) -> Vec<String> {
    let mut names = Vec::new();
    let mut params = Value::Null;
    loop {
        let page = client.ask("tools/list", params).await["result"].clone();
        let tools = page["tools"].as_array().expect("tools");
        names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()));
        let Some(cursor) = page.get("nextCursor") else { return names };
        params = json!({"cursor": cursor});
    }
}

#[tokio::test(start_paused = true)]
async fn further_pages_are_no_later_list() {
    let manifest = "{ page_size: 1, tools: [{ name: other }, { name: search }] }";
    let faults = vec!["search=renamed-tool".parse().expect("a fault")];
    let mock = Mock::new(offer(manifest), MockOptions { faults, ..MockOptions::default() });
    let mut client = Client::modern(&mock, &json!({}));
    assert_eq!(names(&mut client).await, ["other", "search"]);
    assert_eq!(names(&mut client).await, ["other", "search_v2"]);
}

#[tokio::test(start_paused = true)]
async fn who_lists_again_before_the_call_has_met_the_drift() {
    for (fault, tool, args) in
        [("renamed-tool", "search_v2", json!({})), ("added-argument", "search", json!({"confirm": true}))]
    {
        let mock = mock(fault);
        let mut client = Client::modern(&mock, &json!({}));
        listed(&mut client).await;
        listed(&mut client).await;
        assert!(mock.strikes().is_empty(), "{fault}: a list alone proves nothing");
        for _ in 0..2 {
            assert_eq!(text(&client.call(tool, args.clone()).await), "mock search", "{fault}");
        }
        assert_eq!(mock.strikes().len(), 1, "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_changes_is_declared() {
    for (fault, declared) in [("list-changed-storm", true), ("hang", false)] {
        let mut client = Client::new(&mock(fault));
        let reply = client.initialize("2025-11-25", json!({})).await;
        assert_eq!(reply["result"]["capabilities"]["tools"].get("listChanged").is_some(), declared, "{fault}");
    }
}
