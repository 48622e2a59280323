//! Lists, resources, templates, prompts and completion.

use crate::client::{Client, mock};
use serde_json::{Value, json};

const MANIFEST: &str = r#"
page_size: 2
cache: { ttl_ms: 300, scope: private }
tools: [{ name: a, title: A, annotations: { readOnlyHint: true } }, { name: b }, { name: c }, { name: d }, { name: e }]
resources:
  - { uri: "test://a", text: "I am ${uri}", mime_type: text/plain, description: first }
  - { uri: "test://b", blob: AAEC, mimeType: application/octet-stream }
resource_templates:
  - uriTemplate: "test://users/{id}/{+path}"
    text: "${args.id}: ${args.path}"
    complete: { id: [Ada, Alan, Grace] }
prompts:
  - name: ask
    description: Asks.
    arguments: [{ name: topic, required: true, values: [rust, ruby] }, tone]
    text: "About ${args.topic}"
  - name: talk
    messages: [hello, { role: assistant, content: "hi" }]
"#;

async fn all(client: &mut Client, method: &str, member: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut params = json!({});
    loop {
        let reply = client.ask(method, params).await;
        let names = reply["result"][member].as_array().expect("a list").iter();
        pages.push(names.map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect());
        match reply["result"].get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn lists_come_in_pages() {
    let mock = mock(MANIFEST);
    for mut client in Client::both(&mock).await {
        assert_eq!(all(&mut client, "tools/list", "tools").await, [vec!["a", "b"], vec!["c", "d"], vec!["e"]]);
        assert_eq!(all(&mut client, "resources/list", "resources").await, [["test://a", "test://b"]]);
        assert_eq!(all(&mut client, "prompts/list", "prompts").await, [["ask", "talk"]]);
        for cursor in [json!(""), json!("tools-from-1"), json!("tools-from-6"), json!("prompts-from-2"), json!(2)] {
            let reply = client.ask("tools/list", json!({"cursor": cursor})).await;
            assert_eq!(reply["error"]["code"], -32602, "{cursor}: {reply}");
        }
    }
}

#[tokio::test]
async fn entries_show_what_the_manifest_says() {
    let mut client = Client::modern(&mock(MANIFEST), &json!({}));
    let tools = client.ask("tools/list", Value::Null).await;
    assert_eq!(
        tools["result"]["tools"][0],
        json!({"name": "a", "title": "A", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}})
    );
    assert_eq!((&tools["result"]["ttlMs"], &tools["result"]["cacheScope"]), (&json!(300), &json!("private")));
    let templates = client.ask("resources/templates/list", Value::Null).await;
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "test://users/{id}/{+path}");
    let prompts = client.ask("prompts/list", Value::Null).await;
    assert_eq!(
        prompts["result"]["prompts"][0],
        json!({"name": "ask", "description": "Asks.", "arguments": [{"name": "topic", "required": true}, {"name": "tone"}]})
    );
}

#[tokio::test]
async fn resources_are_read_by_address_or_by_pattern() {
    let mock = mock(MANIFEST);
    for (mut client, missing) in Client::both(&mock).await.into_iter().zip([-32002, -32602]) {
        let read = |uri: &str| json!({"uri": uri});
        let text = client.ask("resources/read", read("test://a")).await;
        assert_eq!(
            text["result"]["contents"],
            json!([{"uri": "test://a", "mimeType": "text/plain", "text": "I am test://a"}])
        );
        let blob = client.ask("resources/read", read("test://b")).await;
        assert_eq!(blob["result"]["contents"][0]["blob"], "AAEC");
        let by_pattern = client.ask("resources/read", read("test://users/7/a/b")).await;
        assert_eq!(by_pattern["result"]["contents"][0]["text"], "7: a/b");
        assert_eq!(client.ask("resources/read", read("test://c")).await["error"]["code"], missing);
        assert_eq!(client.ask("resources/read", json!({})).await["error"]["code"], -32602);
    }
}

#[tokio::test]
async fn prompts_take_arguments() {
    let mock = mock(MANIFEST);
    for mut client in Client::both(&mock).await {
        let get = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
        let ask = client.ask("prompts/get", get("ask", json!({"topic": "x"}))).await;
        assert_eq!(ask["result"]["messages"][0]["content"]["text"], "About x");
        assert_eq!(ask["result"]["description"], "Asks.");
        let talk = client.ask("prompts/get", json!({"name": "talk"})).await;
        assert_eq!(
            talk["result"]["messages"][1],
            json!({"role": "assistant", "content": {"type": "text", "text": "hi"}})
        );
        for params in [get("ask", json!({})), get("ask", json!({"topic": 1})), get("no", json!({})), json!({})] {
            assert_eq!(client.ask("prompts/get", params.clone()).await["error"]["code"], -32602, "{params}");
        }
    }
}

#[tokio::test]
async fn values_are_completed_from_what_was_typed() {
    let mock = mock(MANIFEST);
    for mut client in Client::both(&mock).await {
        let complete =
            |of: Value, name: &str, typed: &str| json!({"ref": of, "argument": {"name": name, "value": typed}});
        let prompt = json!({"type": "ref/prompt", "name": "ask"});
        let template = json!({"type": "ref/resource", "uri": "test://users/{id}/{+path}"});
        let reply = client.ask("completion/complete", complete(prompt.clone(), "topic", "RU")).await;
        assert_eq!(reply["result"]["completion"], json!({"values": ["rust", "ruby"], "total": 2, "hasMore": false}));
        let reply = client.ask("completion/complete", complete(template, "id", "a")).await;
        assert_eq!(reply["result"]["completion"]["values"], json!(["Ada", "Alan"]));
        for wrong in [
            complete(prompt, "nope", ""),
            complete(json!({"type": "ref/prompt", "name": "nope"}), "x", ""),
            complete(json!({"type": "ref/what"}), "x", ""),
            json!({}),
        ] {
            assert_eq!(client.ask("completion/complete", wrong.clone()).await["error"]["code"], -32602, "{wrong}");
        }
    }
}
