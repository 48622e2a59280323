//! Servers that do not answer, on purpose, in real and in virtual time.

use std::sync::Arc;
use std::time::Duration;

use mcprove_mock::{HANG, Mock, MockOptions, VirtualClock, connect};
use mcprove_model::{Outcome, Protocol};
use mcprove_wire::{Limits, Session, SessionOptions};
use serde_json::{Value, json};

use crate::client::{Client, offer};

const MANIFEST: &str = "tools: [{ name: search }, { name: other }, { name: late, fault: 'slow:30' }]";

fn faulty(faults: &[&str], clock: Option<VirtualClock>) -> Mock {
    let mut options = MockOptions {
        faults: faults.iter().map(|text| text.parse().expect("a fault")).collect(),
        ..MockOptions::default()
    };
    if let Some(clock) = clock {
        options.clock = Arc::new(clock);
    }
    Mock::new(offer(MANIFEST), options)
}

#[tokio::test]
async fn only_calls_are_touched() {
    for fault in ["hang", "wedged", "recover-after:9"] {
        for mut client in Client::both(&faulty(&[fault], None)).await {
            let hung = client.start("tools/call", json!({"name": "search"})).await;
            assert!(client.is_quiet(30).await, "{fault}");
            assert!(client.ask("tools/list", Value::Null).await["result"]["tools"].is_array(), "{fault}");
            client
                .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": hung}}))
                .await;
            assert!(client.is_quiet(30).await, "{fault}");
        }
    }
}

#[tokio::test]
async fn a_fault_may_be_that_of_one_tool() {
    let mock = faulty(&["search=hang"], None);
    for mut client in Client::both(&mock).await {
        client.start("tools/call", json!({"name": "search"})).await;
        assert_eq!(client.call("other", json!({})).await["result"]["content"][0]["text"], "mock other");
        assert_eq!(client.call("late", json!({})).await["result"]["content"][0]["text"], "mock late");
    }
    let mut client = Client::legacy(&faulty(&["late=none", "hang"], None), json!({})).await;
    assert_eq!(client.call("late", json!({})).await["result"]["content"][0]["text"], "mock late");
}

#[tokio::test]
async fn a_server_recovers_for_whoever_comes_next() {
    let mock = faulty(&["search=recover-after:2"], None);
    let mut client = Client::legacy(&mock, json!({})).await;
    client.start("tools/call", json!({"name": "search"})).await;
    assert!(client.is_quiet(20).await);
    let mut client = Client::legacy(&mock, json!({})).await;
    client.start("tools/call", json!({"name": "search"})).await;
    assert!(client.is_quiet(20).await);
    assert_eq!(client.call("search", json!({})).await["result"]["content"][0]["text"], "mock search");
}

#[tokio::test]
async fn a_hung_call_keeps_nothing_alive() {
    for mut client in Client::both(&faulty(&["hang"], None)).await {
        client.start("tools/call", json!({"name": "search"})).await;
        client.start("tools/call", json!({"name": "late"})).await;
        assert!(client.is_quiet(20).await);
        // What could not be written to a client that is gone is no fault either.
        let _ = client.close().await;
    }
}

#[tokio::test]
async fn virtual_time_passes_in_no_time() {
    let clock = VirtualClock::new();
    let mut client = Client::legacy(&faulty(&["slow:600000"], Some(clock.clone())), json!({})).await;
    assert_eq!(client.call("search", json!({})).await["result"]["content"][0]["text"], "mock search");
    assert_eq!(clock.elapsed(), Duration::from_mins(10));
}

#[tokio::test]
async fn a_hang_ends_with_a_sentinel() {
    for fault in ["hang", "wedged"] {
        let clock = VirtualClock::new();
        let mut client = Client::legacy(&faulty(&[fault], Some(clock.clone())), json!({})).await;
        let reply = client.call("search", json!({})).await;
        assert_eq!(reply["error"]["data"], json!({"sentinel": "hang"}), "{reply}");
        assert_eq!(clock.elapsed(), HANG);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_mock_stands_in_for_a_server_without_a_process() {
    for protocol in [Protocol::Legacy, Protocol::Modern, Protocol::Auto] {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
        let clock = VirtualClock::new();
        let transport = connect(offer(MANIFEST), Arc::new(clock.clone()));
        let options = SessionOptions { protocol, ..SessionOptions::default() };
        let mut session = Session::open(transport, &options, deadline).await.expect("an open session");
        let call = json!({"name": "late", "arguments": {}});
        let exchange = session.request("tools/call", call, deadline).await;
        assert!(matches!(exchange.outcome, Outcome::Result(_)), "{exchange:?}");
        assert_eq!(clock.elapsed(), Duration::from_millis(30), "{protocol:?}");
        let closing = session.close().await;
        assert!(closing.oddities.is_empty(), "{:?}", closing.oddities);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_in_virtual_time_is_kept_exactly() {
    let far = tokio::time::Instant::now() + Duration::from_secs(10);
    for (fault, in_time) in [("hang", false), ("slow:2999", true), ("slow:3001", false), ("recover-after:1", false)] {
        let clock = VirtualClock::new();
        let transport = faulty(&[fault], Some(clock.clone())).connect(&Limits::default());
        let mut session = Session::open(transport, &SessionOptions::default(), far).await.expect("an open session");
        let _standstill;
        let answered = tokio::select! {
            exchange = session.request("tools/call", json!({"name": "search"}), far) => {
                assert!(matches!(exchange.outcome, Outcome::Result(_)), "{exchange:?}");
                true
            }
            standstill = clock.deadline(Duration::from_secs(3)) => {
                _standstill = standstill;
                false
            }
        };
        assert_eq!(answered, in_time, "{fault}");
        assert_eq!(clock.elapsed(), Duration::from_millis(if in_time { 2_999 } else { 3_000 }), "{fault}");
    }
}
