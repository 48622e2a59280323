//! Wrong clients that no mutant of the scripted client is like.

use std::time::Duration;

use serde_json::json;

use super::wire::{LEGACY, MODERN, initialize, modern, notification, request};
use super::{Client, http, meets, stdio};

pub(super) const CLIENTS: &[Client] = &[
    stdio("null id", "client-request-id", |wire| {
        wire.shake(LEGACY, json!({}));
        wire.send(&request(&json!(null), "tools/list", json!({})));
    }),
    stdio("logs to the server", "client-readable", |wire| {
        wire.line("INFO starting");
        wire.shake(LEGACY, json!({}));
    }),
    stdio("version as a number", "client-initialize-params", |wire| {
        let params =
            json!({"protocolVersion": 2025, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}});
        wire.send(&request(&json!(0), "initialize", params));
        wire.next();
    }),
    stdio("arguments as a list", "client-arguments", |wire| {
        wire.shake(LEGACY, json!({}));
        wire.ask(json!(1), "tools/call", json!({"name": "search", "arguments": ["x"]}));
    }),
    stdio("cancels nothing in particular", "client-cancel-known", |wire| {
        wire.shake(LEGACY, json!({}));
        wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"reason": "bored"}}));
        wire.ask(json!(1), "ping", json!({}));
    }),
    meets(
        "sampled=unexpected-sampling",
        stdio("error without a message", "client-reply-shape", |wire| {
            wire.shake(LEGACY, json!({}));
            wire.send(&request(&json!(1), "tools/call", json!({"name": "sampled"})));
            let asked = wire.next();
            wire.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32_601}}));
            wire.ask(json!(2), "ping", json!({}));
        }),
    ),
    meets(
        "sampled=unexpected-sampling",
        stdio("reply with another id", "client-known-reply", |wire| {
            wire.shake(LEGACY, json!({}));
            wire.send(&request(&json!(1), "tools/call", json!({"name": "sampled"})));
            wire.next();
            wire.send(&json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32_601, "message": "no"}}));
            wire.ask(json!(2), "ping", json!({}));
        }),
    ),
    stdio("completes without the capability", "client-declared-capability", |wire| {
        wire.shake(LEGACY, json!({}));
        let of = json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}});
        wire.ask(json!(1), "completion/complete", of);
    }),
    stdio("token that is a fraction", "client-progress-token", |wire| {
        wire.shake(LEGACY, json!({}));
        wire.ask(json!(1), "tools/call", json!({"name": "search", "_meta": {"progressToken": 0.5}}));
    }),
    stdio("waits for nothing", "client-waits-for-initialize", |wire| {
        wire.send(&request(&json!(0), "initialize", initialize(LEGACY, json!({}))));
        wire.send(&request(&json!(1), "prompts/list", json!({})));
        wire.reply(&json!(0));
    }),
    stdio("initialized in 2026-07-28", "client-known-method", |wire| {
        wire.ask(json!(1), "tools/list", modern(json!({}), json!({})));
        wire.send(&notification("notifications/initialized"));
        wire.ask(json!(2), "tools/list", modern(json!({}), json!({})));
    }),
    stdio("retries with the same id", "client-unique-ids", |wire| {
        let asked = || modern(json!({"name": "asked"}), json!({"elicitation": {}}));
        let state = wire.ask(json!(1), "tools/call", asked())["result"]["requestState"].clone();
        let mut params = asked();
        params["inputResponses"] = json!({"who": {"action": "decline"}});
        params["requestState"] = state;
        wire.ask(json!(1), "tools/call", params);
    }),
    stdio("state for another request", "client-request-state", |wire| {
        let able = || json!({"elicitation": {}});
        let state =
            wire.ask(json!(1), "tools/call", modern(json!({"name": "asked"}), able()))["result"]["requestState"]
                .clone();
        wire.ask(json!(2), "tools/call", modern(json!({"name": "search", "requestState": state}), able()));
    }),
    meets(
        "search=error",
        stdio("repeats a failed call", "host-retry-storm", |wire| {
            wire.shake(LEGACY, json!({}));
            for id in 1..9 {
                wire.ask(json!(id), "tools/call", json!({"name": "search"}));
            }
        }),
    ),
    meets(
        "search=hang",
        stdio("repeats a hung call", "host-retry-storm", |wire| {
            wire.shake(LEGACY, json!({}));
            for id in 1..7 {
                wire.send(&request(&json!(id), "tools/call", json!({"name": "search"})));
                std::thread::sleep(Duration::from_millis(150));
            }
        }),
    ),
    stdio("pings without a pause", "host-request-storm", |wire| {
        wire.shake(LEGACY, json!({}));
        for id in 1..60 {
            wire.ask(json!(id), "ping", json!({}));
        }
    }),
    http("batch over HTTP", "client-no-batch", |wire| {
        wire.shake_http("2025-06-18", json!({}));
        wire.post("2025-06-18", &json!([request(&json!(1), "ping", json!({}))]));
    }),
    http("accepts anything", "client-accept", |wire| {
        let body = request(&json!(0), "initialize", initialize(LEGACY, json!({})));
        wire.exchange("POST", &[("Accept", "*/*"), ("Content-Type", "application/json")], &body.to_string());
    }),
    http("GET without Accept", "client-get-accept", |wire| {
        wire.shake_http(LEGACY, json!({}));
        let session = wire.session.clone().expect("a session");
        wire.listen(&[("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", LEGACY)]);
    }),
    http("goes on with another version", "client-version-header", |wire| {
        wire.shake_http(LEGACY, json!({}));
        wire.post("2024-11-05", &request(&json!(1), "tools/list", json!({})));
    }),
    http("uses a deleted session", "client-session-restart", |wire| {
        wire.shake_http(LEGACY, json!({}));
        let session = wire.session.clone().expect("a session");
        wire.exchange("DELETE", &[("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", LEGACY)], "");
        for id in 1..3 {
            wire.post(LEGACY, &request(&json!(id), "tools/list", json!({})));
            std::thread::sleep(Duration::from_millis(150));
        }
    }),
    http("names another tool in the header", "client-name-header", |wire| {
        let body = request(&json!(1), "tools/call", modern(json!({"name": "search"}), json!({})));
        let headers = [
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
            ("MCP-Protocol-Version", MODERN),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "plain"),
        ];
        wire.exchange("POST", &headers, &body.to_string());
    }),
    meets(
        "sampled=unexpected-sampling",
        stdio("answers in 2026-07-28", "client-no-replies", |wire| {
            wire.send(&request(&json!(1), "tools/call", modern(json!({"name": "sampled"}), json!({}))));
            let asked = wire.next();
            wire.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}}));
            wire.reply(&json!(1));
        }),
    ),
];
