//! The mock as a client sees it.

use mcprove_mock::{Mock, read};
use mcprove_model::SourceFile;
use serde_json::{Value, json};

const MANIFEST: &str = r#"
mock_server:
  name: demo
  tools:
    - name: greet
      description: Greets somebody.
      inputSchema:
        type: object
        properties: { name: { type: string }, times: { type: integer } }
        required: [name]
        additionalProperties: false
      response: { content: [{ type: text, text: "Hello, ${args.name}!" }] }
    - name: data
      response: { id: 7 }
  resources:
    - { uri: "test://a", text: hello, mimeType: text/plain }
  prompts:
    - { name: ask, text: "About ${args.topic}" }
"#;

fn ask(method: &str, params: Value) -> Value {
    let (manifest, findings) = read(&SourceFile::new("m.yml", MANIFEST));
    assert!(findings.is_empty(), "{findings:?}");
    let manifest = manifest.expect("a manifest");
    let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
    message["params"] = params;
    Mock::new(&manifest).answer(&message).expect("an answer")
}

#[test]
fn it_negotiates_any_revision_with_a_handshake() {
    for (wanted, got) in [("2024-11-05", "2024-11-05"), ("2026-07-28", "2025-11-25"), ("1999-01-01", "2025-11-25")] {
        let reply = ask("initialize", json!({"protocolVersion": wanted}));
        assert_eq!(reply["result"]["protocolVersion"], got);
    }
}

#[test]
fn it_answers_from_the_manifest() {
    let reply = ask("tools/call", json!({"name": "greet", "arguments": {"name": "Ada"}}));
    assert_eq!(reply["result"]["content"][0]["text"], "Hello, Ada!");
    assert_eq!(ask("tools/call", json!({"name": "data"}))["result"]["structuredContent"], json!({"id": 7}));
    assert_eq!(ask("resources/read", json!({"uri": "test://a"}))["result"]["contents"][0]["text"], "hello");
    let prompt = ask("prompts/get", json!({"name": "ask", "arguments": {"topic": "x"}}));
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "About x");
    assert_eq!(ask("tools/list", Value::Null)["result"]["tools"][0]["name"], "greet");
}

#[test]
fn it_rejects_what_its_schema_rejects() {
    for arguments in
        [json!({}), json!({"name": 5}), json!({"name": "a", "times": "x"}), json!({"name": "a", "x": 1}), json!([])]
    {
        let reply = ask("tools/call", json!({"name": "greet", "arguments": arguments}));
        assert_eq!(reply["error"]["code"], -32602, "{arguments}: {reply}");
    }
    assert_eq!(ask("tools/call", json!({"name": "nope"}))["error"]["code"], -32602);
    assert_eq!(ask("no/such", Value::Null)["error"]["code"], -32601);
}

#[test]
fn mistakes_in_a_manifest_are_told_with_their_place() {
    let (_, findings) = read(&SourceFile::new("m.yml", "mock_server:\n  tols: []\n"));
    assert_eq!(findings[0].rule, "unknown-key");
    assert_eq!(findings[0].help.as_deref(), Some("did you mean `tools`?"));
}
