//! Mocks that are made from what was recorded: lists of tools, cassettes, logs of runs.

use mcprove_mock::{Mock, MockOptions, Offer, read};
use mcprove_model::SourceFile;
use serde_json::{Value, json};

use crate::client::Client;

fn load(path: &str, text: &str) -> Mock {
    let (offer, findings) = read(&SourceFile::new(path, text));
    assert!(findings.is_empty(), "{findings:?}");
    Mock::new(offer.expect("an offer"), MockOptions::default())
}

#[tokio::test]
async fn a_recorded_list_of_tools_is_shown_as_it_was() {
    let entry = json!({
        "name": "add", "vendor": {"x": 1}, "execution": {"taskSupport": "optional"},
        "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]},
    });
    let lists =
        [json!({"tools": [entry]}), json!([entry]), json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [entry]}})];
    for list in lists {
        let mut client = Client::legacy(&load("tools.json", &list.to_string()), json!({})).await;
        assert_eq!(client.ask("tools/list", Value::Null).await["result"]["tools"], json!([entry]));
        assert_eq!(client.call("add", json!({"a": 1})).await["result"]["content"][0]["text"], "mock add");
        assert_eq!(client.call("add", json!({})).await["error"]["code"], -32602);
    }
    let answered = json!({"tools": [{"name": "now", "inputSchema": {"type": "object"}, "response": "noon"}]});
    let mut client = Client::modern(&load("tools.json", &answered.to_string()), &json!({}));
    assert_eq!(client.call("now", json!({})).await["result"]["content"][0]["text"], "noon");
    assert_eq!(client.ask("tools/list", Value::Null).await["result"]["tools"][0].get("response"), None);
}

#[tokio::test]
async fn a_manifest_may_be_written_in_json() {
    let manifest = json!({"mock_server": {"name": "j", "tools": [{"name": "t", "response": "hi"}]}});
    let mut client = Client::legacy(&load("m.json", &manifest.to_string()), json!({})).await;
    assert_eq!(client.call("t", json!({})).await["result"]["content"][0]["text"], "hi");
}

#[tokio::test]
async fn a_cassette_is_given_again() {
    let exchange = |method: &str, params: Value, result: Value| {
        json!({
            "request": {"jsonrpc": "2.0", "id": 99, "method": method, "params": params},
            "response": {"jsonrpc": "2.0", "id": 99, "result": result},
        })
    };
    let initialized =
        json!({"protocolVersion": "2025-03-26", "capabilities": {}, "serverInfo": {"name": "was", "version": "1"}});
    let cassette = json!({"version": 1, "meta": {"command": "x"}, "exchanges": [
        exchange("initialize", json!({"protocolVersion": "2025-03-26"}), initialized),
        exchange("tools/call", json!({"name": "t", "arguments": {"n": 1}}), json!({"content": [], "turn": 1})),
        exchange("tools/call", json!({"name": "t", "arguments": {"n": 1}}), json!({"content": [], "turn": 2})),
    ]});
    let mock = load("c.json", &cassette.to_string());
    for _ in 0..2 {
        let mut client = Client::new(&mock);
        let reply = client.initialize("2025-11-25", json!({})).await;
        assert_eq!((&reply["id"], &reply["result"]["serverInfo"]["name"]), (&json!(1), &json!("was")));
        for turn in 1..=2 {
            let params = json!({"arguments": {"n": 1}, "name": "t", "_meta": {"progressToken": 1}});
            assert_eq!(client.ask("tools/call", params).await["result"]["turn"], turn);
        }
        let reply = client.call("t", json!({"n": 1})).await;
        assert_eq!(reply["error"]["message"], "all 2 recorded answers to this `tools/call` were given");
        assert_eq!(client.ask("ping", Value::Null).await["result"], json!({}), "it is still there");
    }
}

#[tokio::test]
async fn faults_strike_recordings_too() {
    let exchange = json!({"request": {"method": "tools/call", "params": {"name": "t"}}, "response": {"result": {}}});
    let (offer, _) = read(&SourceFile::new("c.json", json!({"exchanges": [exchange]}).to_string()));
    let options = MockOptions { faults: vec!["hang".parse().expect("a fault")], ..MockOptions::default() };
    let mut client = Client::new(&Mock::new(offer.expect("an offer"), options));
    client.start("tools/call", json!({"name": "t"})).await;
    assert!(client.is_quiet(30).await);
}

#[tokio::test]
async fn the_log_of_a_run_is_given_again() {
    let frame = |direction: &str, kind: &str, message: Value| {
        let frame = json!({"at_us": 1, "direction": direction, "kind": kind, "text": message.to_string()});
        json!({"event": "frame", "index": 0, "session": 0, "frame": frame}).to_string()
    };
    let log = [
        json!({"event": "run_started", "format": 1, "program": "mcprove", "started_unix_ms": 0, "total": 1, "jobs": 1})
            .to_string(),
        frame("sent", "request", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})),
        frame("received", "notification", json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})),
        frame("received", "reply", json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "t"}]}})),
        frame("sent", "request", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "t"}})),
        frame(
            "received",
            "reply",
            json!({"jsonrpc": "2.0", "id": 2, "error": {"code": 7, "message": "no", "data": [1]}}),
        ),
    ];
    let mock = load("run.ndjson", &log.join("\n"));
    let mut client = Client::new(&mock);
    assert_eq!(client.ask("tools/list", Value::Null).await["result"]["tools"][0]["name"], "t");
    let reply = client.ask("tools/call", json!({"name": "t"})).await;
    assert_eq!(reply["error"], json!({"code": 7, "message": "no", "data": [1]}));
}

#[test]
fn files_that_are_nothing_say_so() {
    let whole = r#"{"event":"run_started","format":1,"program":"m","started_unix_ms":0,"total":0,"jobs":1}"#;
    for (path, text, rule) in [
        ("a.json", "{", "bad-json"),
        ("a.json", "{}", "unknown-file"),
        ("a.json", r#"{"tools": [{"description": "no name"}]}"#, "unknown-file"),
        ("a.yml", "", "empty-file"),
        ("a.ndjson", whole, "empty-recording"),
        ("a.ndjson", &format!("{whole}\n{{\"event\":\"fr"), "bad-event"),
        ("a.ndjson", &whole.replace("\"format\":1", "\"format\":99"), "bad-event"),
    ] {
        let (offer, findings) = read(&SourceFile::new(path, text));
        assert!(offer.is_none() || matches!(offer, Some(Offer::Manifest(_))) && rule.is_empty(), "{text}");
        assert_eq!(findings[0].rule, rule, "{text}: {findings:?}");
        assert!(findings[0].help.is_some() || rule == "empty-file", "{text}");
    }
}
