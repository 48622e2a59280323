//! Correct clients that few would write.

use std::time::Duration;

use serde_json::{Value, json};

use super::wire::{LEGACY, MODERN, Wire, cancel, initialize, modern, notification, request};
use super::{Client, http, meets, stdio};

pub(super) const CLIENTS: &[Client] = &[
    stdio("pings early", "", pings_early),
    stdio("string ids", "", string_ids),
    stdio("ids out of order", "", ids_out_of_order),
    stdio("batches", "", batches),
    meets("search=after-cancel", stdio("cancels twice", "", cancels_twice)),
    meets("search=hang", stdio("pings while it waits", "", pings_while_it_waits)),
    meets("search=duplicate", stdio("polls a tool", "", polls_a_tool)),
    meets("search=recover-after:2", stdio("retries, then polls", "", retries_then_polls)),
    stdio("lists often, all pages", "", lists_often),
    stdio("declares roots", "", declares_roots),
    meets("search=list-changed-storm", stdio("never lists", "", never_lists)),
    stdio("closes at once", "", closes_at_once),
    stdio("many calls in parallel", "", parallel),
    stdio("probes, then shakes hands", "", probes),
    meets("sampled=unexpected-sampling", stdio("refuses with a code of its own", "", refuses)),
    stdio("reuses ids in 2026-07-28", "", reuses_ids),
    stdio("answers two questions in parallel", "", two_questions),
    stdio("other capabilities in each request", "", other_capabilities),
    meets("search=list-changed-storm", stdio("did not ask for changes", "", did_not_ask)),
    meets("search=wrong-id", http("goes on after a reply with another id", "", wrong_id)),
    http("listens again with Last-Event-ID", "", listens_again),
    http("deletes its session", "", deletes),
    http("two Accept headers", "", two_accepts),
    http("the same id from several clients", "", same_ids_http),
    http("encodes the name", "", encoded_name),
    http("a new session after 404", "", new_session),
];

fn call(id: impl Into<Value>, tool: &str) -> Value {
    request(&id.into(), "tools/call", json!({"name": tool, "arguments": {}}))
}

fn pings_early(wire: &mut Wire) {
    wire.ask(json!("p1"), "ping", json!({}));
    wire.ask(json!(0), "initialize", initialize(LEGACY, json!({})));
    wire.ask(json!("p2"), "ping", json!({}));
    wire.send(&notification("notifications/initialized"));
    wire.ask(json!("p3"), "ping", json!({}));
    wire.ask(json!(1), "tools/list", json!({}));
}

fn string_ids(wire: &mut Wire) {
    wire.ask(json!("0f8c-\u{e9}"), "initialize", initialize("2024-11-05", json!({})));
    wire.send(&notification("notifications/initialized"));
    for id in ["", "1", "a b", "tools/list"] {
        wire.ask(json!(id), "tools/list", json!({}));
    }
    // The number is another id than the string.
    wire.ask(json!(1), "tools/call", json!({"name": "search"}));
}

fn ids_out_of_order(wire: &mut Wire) {
    wire.ask(json!(i64::from(i32::MAX)), "initialize", initialize("2025-06-18", json!({})));
    wire.send(&notification("notifications/initialized"));
    for id in [9, 3, -7, 0, 9_007_199_254_740_991_i64] {
        wire.ask(json!(id), "tools/list", json!({}));
    }
}

fn batches(wire: &mut Wire) {
    wire.ask(json!(0), "initialize", initialize("2025-03-26", json!({})));
    let first = [notification("notifications/initialized"), request(&json!(1), "tools/list", json!({}))];
    wire.send(&json!(first));
    let list = wire.next();
    let cursor = &list[0]["result"]["nextCursor"];
    assert!(cursor.is_string(), "{list}");
    wire.send(&json!([request(&json!(2), "tools/list", json!({"cursor": cursor})), call(3, "search")]));
    wire.next();
    wire.send(&json!([call(4, "plain"), cancel(&json!(4))]));
    wire.ask(json!(5), "ping", json!({}));
}

fn cancels_twice(wire: &mut Wire) {
    wire.shake(LEGACY, json!({}));
    wire.send(&call(1, "search"));
    wire.send(&cancel(&json!(1)));
    wire.reply(&json!(1));
    std::thread::sleep(Duration::from_millis(1_200));
    wire.send(&cancel(&json!(1)));
    wire.ask(json!(2), "tools/call", json!({"name": "plain"}));
}

fn pings_while_it_waits(wire: &mut Wire) {
    wire.shake(LEGACY, json!({}));
    wire.send(&call(1, "search"));
    for id in 2..6 {
        wire.ask(json!(id), "ping", json!({}));
    }
    wire.ask(json!(6), "tools/call", json!({"name": "plain"}));
    wire.send(&cancel(&json!(1)));
    wire.ask(json!(7), "tools/call", json!({"name": "plain"}));
}

fn polls_a_tool(wire: &mut Wire) {
    wire.shake(LEGACY, json!({}));
    for id in 1..9 {
        wire.ask(json!(id), "tools/call", json!({"name": "search", "arguments": {}}));
    }
}

fn retries_then_polls(wire: &mut Wire) {
    wire.shake(LEGACY, json!({}));
    for id in 1..3 {
        wire.send(&call(id, "search"));
        std::thread::sleep(Duration::from_millis(150));
        wire.send(&cancel(&json!(id)));
    }
    for id in 3..10 {
        wire.ask(json!(id), "tools/call", json!({"name": "search", "arguments": {}}));
    }
}

fn lists_often(wire: &mut Wire) {
    wire.shake(LEGACY, json!({}));
    let mut id = 0;
    for _ in 0..12 {
        let mut params = json!({});
        loop {
            id += 1;
            let page = wire.ask(json!(id), "tools/list", params);
            let Some(cursor) = page["result"].get("nextCursor") else { break };
            params = json!({"cursor": cursor});
        }
    }
}

fn declares_roots(wire: &mut Wire) {
    wire.shake(LEGACY, json!({"roots": {"listChanged": true}, "experimental": {"x": {}}}));
    wire.send(&notification("notifications/roots/list_changed"));
    wire.send(&notification("notifications/roots/list_changed"));
    wire.ask(json!(1), "tools/list", json!({}));
}

fn never_lists(wire: &mut Wire) {
    wire.shake(LEGACY, json!({}));
    for id in 1..4 {
        wire.ask(json!(id), "tools/call", json!({"name": "search"}));
        std::thread::sleep(Duration::from_millis(300));
    }
}

fn closes_at_once(wire: &mut Wire) {
    wire.shake(LEGACY, json!({}));
    wire.send(&call(1, "search"));
    wire.close();
}

fn parallel(wire: &mut Wire) {
    wire.shake(LEGACY, json!({}));
    for id in 1..40 {
        let args = json!({"name": "search", "arguments": {"at": id}, "_meta": {"progressToken": id}});
        wire.send(&request(&json!(id), "tools/call", args));
    }
    for id in 40..50 {
        wire.send(&call(id, "plain"));
    }
    for _ in 1..50 {
        wire.next();
    }
}

fn probes(wire: &mut Wire) {
    wire.ask(json!(0), "server/discover", modern(json!({}), json!({})));
    wire.shake(LEGACY, json!({}));
    wire.ask(json!(1), "tools/list", json!({}));
}

fn refuses(wire: &mut Wire) {
    wire.shake(LEGACY, json!({}));
    wire.send(&call(1, "sampled"));
    let asked = wire.next();
    let error = json!({"code": -1, "message": "the user said no", "data": {"why": "no"}});
    wire.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}));
    wire.reply(&json!(1));
    wire.ask(json!(2), "tools/call", json!({"name": "plain"}));
}

fn reuses_ids(wire: &mut Wire) {
    for _ in 0..3 {
        wire.ask(json!(1), "tools/list", modern(json!({}), json!({})));
        wire.ask(json!("1"), "tools/call", modern(json!({"name": "search"}), json!({})));
    }
}

fn two_questions(wire: &mut Wire) {
    let able = || json!({"elicitation": {}});
    let asked = || modern(json!({"name": "asked"}), able());
    wire.send(&request(&json!(1), "tools/call", asked()));
    wire.send(&request(&json!(2), "tools/call", asked()));
    let states: Vec<Value> = (0..2).map(|_| wire.next()["result"]["requestState"].clone()).collect();
    for (id, state) in [3, 4].into_iter().zip(states.into_iter().rev()) {
        let mut params = asked();
        params["inputResponses"] = json!({"who": {"action": "decline"}});
        params["requestState"] = state;
        wire.ask(json!(id), "tools/call", params);
    }
}

fn other_capabilities(wire: &mut Wire) {
    wire.ask(json!(1), "server/discover", modern(json!({}), json!({})));
    wire.ask(json!(2), "tools/call", modern(json!({"name": "plain"}), json!({"elicitation": {}, "sampling": {}})));
    wire.ask(json!(3), "tools/list", modern(json!({}), json!({})));
    wire.ask(json!(4), "tools/call", modern(json!({"name": "search"}), json!({"elicitation": {}})));
}

fn did_not_ask(wire: &mut Wire) {
    wire.ask(json!(1), "tools/list", modern(json!({}), json!({})));
    wire.ask(json!(2), "tools/call", modern(json!({"name": "search"}), json!({})));
    std::thread::sleep(Duration::from_millis(300));
    wire.ask(json!(3), "tools/call", modern(json!({"name": "plain"}), json!({})));
}

fn wrong_id(wire: &mut Wire) {
    for (id, tool) in [(1, "search"), (2, "plain")] {
        let params = modern(json!({"name": tool}), json!({}));
        assert_eq!(wire.post(MODERN, &request(&json!(id), "tools/call", params)).messages.len(), 1);
    }
}

fn listens_again(wire: &mut Wire) {
    wire.shake_http(LEGACY, json!({}));
    let session = wire.session.clone().expect("a session");
    let deleted = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", LEGACY)];
    for last in ["0", "unknown"] {
        let own = [("Accept", "text/event-stream"), ("Last-Event-ID", last)];
        wire.listen(&[&deleted[..], &own].concat());
    }
    wire.post(LEGACY, &call(1, "search"));
    wire.exchange("DELETE", &deleted, "");
}

fn deletes(wire: &mut Wire) {
    wire.shake_http("2025-06-18", json!({}));
    wire.post("2025-06-18", &call("one", "search"));
    let session = wire.session.clone().expect("a session");
    wire.exchange("DELETE", &[("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-06-18")], "");
}

fn two_accepts(wire: &mut Wire) {
    wire.shake_http(LEGACY, json!({}));
    let session = wire.session.clone().expect("a session");
    let headers = [
        ("accept", "text/event-stream;q=0.5"),
        ("ACCEPT", "application/json"),
        ("content-type", "application/json; charset=utf-8"),
        ("MCP-SESSION-ID", session.as_str()),
        ("mcp-protocol-version", LEGACY),
    ];
    let response = wire.exchange("POST", &headers, &call(1, "search").to_string());
    assert_eq!(response.status, 200);
}

fn same_ids_http(wire: &mut Wire) {
    for tool in ["search", "plain", "search"] {
        let params = modern(json!({"name": tool, "_meta": {"progressToken": 1}}), json!({}));
        wire.post(MODERN, &request(&json!(1), "tools/call", params));
    }
}

fn encoded_name(wire: &mut Wire) {
    let body = request(&json!(1), "tools/call", modern(json!({"name": "search"}), json!({})));
    let headers = [
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "=?base64?c2VhcmNo?="),
    ];
    let response = wire.exchange("POST", &headers, &body.to_string());
    assert_eq!(response.status, 200);
}

fn new_session(wire: &mut Wire) {
    wire.shake_http(LEGACY, json!({}));
    let session = wire.session.clone().expect("a session");
    wire.exchange("DELETE", &[("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", LEGACY)], "");
    assert_eq!(wire.post(LEGACY, &call(1, "search")).status, 404);
    wire.session = None;
    wire.shake_http(LEGACY, json!({}));
    assert_eq!(wire.post(LEGACY, &call(1, "search")).status, 200);
}
