//! A well-behaved server: handshakes, envelopes, errors, cancellation, in every revision.

use crate::client::{Client, mock};
use serde_json::{Value, json};

const MANIFEST: &str = r"
name: demo
version: 1.2.3
instructions: Be kind.
tools:
  - name: work
    progress: { steps: [one, two, three], interval_ms: 5 }
    logs:
      - { level: debug, data: a detail }
      - { level: error, logger: core, data: { code: 7 } }
    response: done
  - { name: slow, fault: 'slow:60000' }
  - { name: grow, notifies: [tools, 'test://a'] }
list_changed:
  tools: [{ name: grown }]
resources: [{ uri: 'test://a', text: hello, mimeType: text/plain }]
";

#[tokio::test]
async fn every_revision_is_negotiated() {
    for (wanted, got) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = Client::new(&mock(MANIFEST));
        let reply = client.initialize(wanted, json!({})).await;
        assert_eq!(reply["result"]["protocolVersion"], got);
        assert_eq!(reply["result"]["serverInfo"], json!({"name": "demo", "version": "1.2.3"}));
        assert_eq!(reply["result"]["instructions"], "Be kind.");
        assert_eq!(client.ask("ping", Value::Null).await["result"], json!({}));
        assert_eq!(client.initialize(wanted, json!({})).await["error"]["code"], -32600, "a second handshake");
    }
}

#[tokio::test]
async fn the_modern_era_needs_no_handshake() {
    let mut client = Client::modern(&mock(MANIFEST), &json!({}));
    let reply = client.ask("server/discover", Value::Null).await;
    let result = &reply["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["resultType"], "complete");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("public")));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "demo");
    assert_eq!(result["capabilities"]["tools"], json!({"listChanged": true}));
    let call = client.call("work", json!({})).await;
    assert_eq!((&call["result"]["resultType"], call["result"].get("ttlMs")), (&json!("complete"), None));
    for removed in ["initialize", "ping", "logging/setLevel", "resources/subscribe"] {
        assert_eq!(client.ask(removed, Value::Null).await["error"]["code"], -32601, "{removed}");
    }
}

#[tokio::test]
async fn modern_requests_must_say_who_asks() {
    let mut client = Client::new(&mock(MANIFEST));
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    for (meta, code) in [
        (json!({}), -32602),
        (json!({version: "2026-07-28"}), -32602),
        (json!({version: "1900-01-01", capabilities: {}}), -32022),
        (json!({version: "2026-07-28", capabilities: {}, "io.modelcontextprotocol/logLevel": "loud"}), -32602),
    ] {
        let reply = client.ask("tools/list", json!({"_meta": meta})).await;
        assert_eq!(reply["error"]["code"], code, "{reply}");
    }
    let reply = client.ask("tools/list", json!({"_meta": {version: "1900-01-01", capabilities: {}}})).await;
    assert_eq!(reply["error"]["data"], json!({"supported": ["2026-07-28"], "requested": "1900-01-01"}));
    let reply = client.ask("tools/list", Value::Null).await;
    assert!(reply["error"]["message"].as_str().expect("text").contains("`initialize` has not been sent"), "{reply}");
}

#[tokio::test]
async fn what_is_no_request_is_refused() {
    let mut client = Client::legacy(&mock(MANIFEST), json!({})).await;
    for (line, id, code) in [
        ("{", Value::Null, -32700),
        ("\u{1}", Value::Null, -32700),
        ("[]", Value::Null, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(7), -32600),
        (r#"{"id":7,"method":"ping"}"#, json!(7), -32600),
        (r#"{"jsonrpc":"2.0","id":"a","method":"no/such"}"#, json!("a"), -32601),
        (r#"{"jsonrpc":"2.0","id":8,"method":"ping","params":[1]}"#, json!(8), -32602),
    ] {
        client.send_text(line).await;
        let reply = client.next().await;
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&id, &json!(code)), "{line}: {reply}");
    }
    client.send_text("\n\n").await;
    assert_eq!(client.ask("ping", Value::Null).await["result"], json!({}), "empty lines mean nothing");
}

#[tokio::test]
async fn one_revision_has_batches() {
    let mut client = Client::new(&mock(MANIFEST));
    client.initialize("2025-03-26", json!({})).await;
    client
        .send(&json!([
            {"jsonrpc": "2.0", "id": 10, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/nothing"},
            {"jsonrpc": "2.0", "id": 11, "method": "no/such"},
        ]))
        .await;
    let replies = client.next().await;
    assert_eq!(
        (&replies[0]["id"], &replies[1]["error"]["code"], &replies[2]),
        (&json!(10), &json!(-32601), &Value::Null)
    );
}

#[tokio::test]
async fn a_slow_call_blocks_nobody_and_can_be_cancelled() {
    let mut client = Client::legacy(&mock(MANIFEST), json!({})).await;
    let slow = client.start("tools/call", json!({"name": "slow"})).await;
    assert_eq!(client.ask("ping", Value::Null).await["result"], json!({}));
    client.send(&json!({"jsonrpc": "2.0", "id": slow, "method": "ping"})).await;
    let reply = client.next().await;
    assert_eq!(reply["error"]["code"], -32600, "its id is in use: {reply}");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}})).await;
    assert!(client.is_quiet(50).await, "a cancelled request is not answered");
    client.send(&json!({"jsonrpc": "2.0", "id": slow, "method": "ping"})).await;
    assert_eq!(client.next().await["result"], json!({}), "its id is free again");
}

#[tokio::test]
async fn progress_is_told_to_whoever_gives_a_token() {
    let mock = mock(MANIFEST);
    for mut client in Client::both(&mock).await {
        client.ask("tools/call", json!({"name": "work", "_meta": {"progressToken": "t"}})).await;
        let progress: Vec<&Value> =
            client.heard.iter().filter(|message| message["method"] == "notifications/progress").collect();
        assert_eq!(progress.len(), 3);
        assert_eq!(progress[1]["params"], json!({"progressToken": "t", "progress": 2, "total": 3, "message": "two"}));
        client.heard.clear();
        client.call("work", json!({})).await;
        assert!(!client.heard_methods().contains(&"notifications/progress"), "{:?}", client.heard);
    }
}

#[tokio::test]
async fn log_messages_follow_the_level_that_was_set() {
    let mock = mock(MANIFEST);
    let mut client = Client::legacy(&mock, json!({})).await;
    client.call("work", json!({})).await;
    assert_eq!(client.heard.len(), 2, "everything, until a level is set");
    client.heard.clear();
    assert_eq!(client.ask("logging/setLevel", json!({"level": "warning"})).await["result"], json!({}));
    client.call("work", json!({})).await;
    assert_eq!(client.heard[0]["params"], json!({"level": "error", "data": {"code": 7}, "logger": "core"}));
    assert_eq!(client.heard.len(), 1);
    assert_eq!(client.ask("logging/setLevel", json!({"level": "loud"})).await["error"]["code"], -32602);

    let mut client = Client::modern(&mock, &json!({}));
    client.call("work", json!({})).await;
    assert!(client.heard.is_empty(), "nothing, unless a request asks for it");
    let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
    client.ask("tools/call", json!({"name": "work", "_meta": meta})).await;
    assert_eq!(client.heard_methods(), ["notifications/message", "notifications/message"]);
}

#[tokio::test]
async fn changes_are_told_to_whoever_wants_to_know() {
    let mock = mock(MANIFEST);
    let mut client = Client::legacy(&mock, json!({})).await;
    client.call("grow", json!({})).await;
    assert_eq!(client.heard_methods(), ["notifications/tools/list_changed"], "the resource was not subscribed to");
    let tools = client.ask("tools/list", Value::Null).await;
    assert_eq!(tools["result"]["tools"][0]["name"], "grown", "the catalog has changed");

    let mut client = Client::legacy(&mock, json!({})).await;
    assert_eq!(client.ask("resources/subscribe", json!({"uri": "test://a"})).await["result"], json!({}));
    client.call("grow", json!({})).await;
    assert_eq!(client.heard[1]["params"], json!({"uri": "test://a"}));
    assert_eq!(client.ask("resources/subscribe", json!({"uri": "test://b"})).await["error"]["code"], -32002);

    let mut client = Client::legacy(&mock, json!({})).await;
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/mcptest/rotate_catalog"})).await;
    assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn modern_clients_listen_for_changes() {
    let mut client = Client::modern(&mock(MANIFEST), &json!({}));
    let wants =
        json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["test://a", "x:"]});
    let id = client.start("subscriptions/listen", json!({"notifications": wants})).await;
    let first = client.next().await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        first["params"]["notifications"],
        json!({"toolsListChanged": true, "resourceSubscriptions": ["test://a"]}),
        "only what can be given is promised"
    );
    let deaf = client.start("subscriptions/listen", json!({"notifications": {}})).await;
    assert_eq!(client.next().await["params"]["notifications"], json!({}));
    client.call("grow", json!({})).await;
    assert_eq!(client.heard_methods(), ["notifications/tools/list_changed", "notifications/resources/updated"]);
    for message in &client.heard {
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{message}");
    }
    client.heard.clear();
    for id in [id, deaf] {
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})).await;
    }
    assert_eq!(client.call("grow", json!({})).await["error"]["code"], -32602, "the catalog has changed");
    assert!(client.heard.is_empty());
    assert_eq!(client.ask("subscriptions/listen", json!({})).await["error"]["code"], -32602);
}

#[tokio::test]
async fn what_is_not_offered_is_not_known() {
    let mock = mock("prompts: [{ name: p }]");
    for mut client in Client::both(&mock).await {
        assert_eq!(client.ask("tools/list", Value::Null).await["error"]["code"], -32601);
        assert_eq!(client.ask("resources/list", Value::Null).await["error"]["code"], -32601);
        assert_eq!(client.ask("completion/complete", Value::Null).await["error"]["code"], -32601);
        assert!(client.ask("prompts/list", Value::Null).await["result"]["prompts"].is_array());
    }
}
