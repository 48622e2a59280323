//! How tools answer, in both eras.

use crate::client::{Client, mock};
use serde_json::{Value, json};

const MANIFEST: &str = r#"
mock_server:
  name: demo
  tools:
    - name: greet
      inputSchema:
        type: object
        properties: { name: { type: string }, times: { type: integer } }
        required: [name]
        additionalProperties: false
      response: { content: [{ type: text, text: "Hello, ${args.name}!" }] }
    - name: data
      response: { id: 7 }
    - name: list
      response: [1, 2]
    - name: plain
    - name: find
      responses:
        - when: args.id == "42"
          result: { found: true }
        - when: args.id == "0"
          error: { code: -32050, message: "no ${args.id}", data: { id: "${args.id}" } }
        - when: has(args.broken) && args.broken
          error: { message: "broken: ${args.id}" }
        - when: args.id == "pic"
          error: { content: [{ type: image, data: "", mimeType: image/png }] }
        - default: true
          result: nothing
    - name: flaky
      responses:
        - sequence: [first, { error: { message: second fails } }, { result: third }]
"#;

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn answers_are_results_text_or_data() {
    let mock = mock(MANIFEST);
    for mut client in Client::both(&mock).await {
        assert_eq!(text(&client.call("greet", json!({"name": "Ada"})).await), "Hello, Ada!");
        assert_eq!(text(&client.call("plain", json!({})).await), "mock plain");
        let data = client.call("data", json!({})).await;
        assert_eq!((text(&data), &data["result"]["structuredContent"]), (r#"{"id":7}"#, &json!({"id": 7})));
    }
}

#[tokio::test]
async fn structured_content_that_is_no_object_is_for_the_modern_era() {
    let mock = mock(MANIFEST);
    let [mut legacy, mut modern] = Client::both(&mock).await;
    let (old, new) = (legacy.call("list", json!({})).await, modern.call("list", json!({})).await);
    assert_eq!((text(&old), old["result"].get("structuredContent")), ("[1,2]", None));
    assert_eq!(new["result"]["structuredContent"], json!([1, 2]));
}

#[tokio::test]
async fn the_first_answer_that_fits_is_given() {
    let mock = mock(MANIFEST);
    for mut client in Client::both(&mock).await {
        let found = client.call("find", json!({"id": "42"})).await;
        assert_eq!(found["result"]["structuredContent"], json!({"found": true}));
        let refused = client.call("find", json!({"id": "0"})).await;
        assert_eq!(refused["error"], json!({"code": -32050, "message": "no 0", "data": {"id": "0"}}));
        let broken = client.call("find", json!({"id": "1", "broken": true})).await;
        assert_eq!((text(&broken), &broken["result"]["isError"]), ("broken: 1", &json!(true)));
        let picture = client.call("find", json!({"id": "pic"})).await;
        assert_eq!(picture["result"]["content"][0]["type"], "image");
        assert_eq!(text(&client.call("find", json!({})).await), "nothing");
    }
}

#[tokio::test]
async fn a_sequence_goes_on_call_by_call_and_stays_at_its_end() {
    let mock = mock(MANIFEST);
    for mut client in Client::both(&mock).await {
        let mut texts = Vec::new();
        for _ in 0..4 {
            texts.push(text(&client.call("flaky", json!({})).await).to_owned());
        }
        assert_eq!(texts, ["first", "second fails", "third", "third"], "each connection begins anew");
    }
}

#[tokio::test]
async fn calls_that_were_sent_together_are_answered_in_order() {
    let mock = mock(MANIFEST);
    let mut client = Client::legacy(&mock, json!({})).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(client.start("tools/call", json!({"name": "flaky"})).await);
    }
    let mut texts = Vec::new();
    for id in ids {
        texts.push(text(&client.reply_to(&id).await).to_owned());
    }
    assert_eq!(texts, ["first", "second fails", "third"]);
}

#[tokio::test]
async fn arguments_are_checked_to_the_last_keyword() {
    let mock = mock(MANIFEST);
    for mut client in Client::both(&mock).await {
        for (arguments, pointer) in [
            (json!({}), "(at the top)"),
            (json!({"name": 5}), "(at /name)"),
            (json!({"name": "a", "times": "x"}), "(at /times)"),
            (json!({"name": "a", "x": 1}), "(at the top)"),
            (json!([]), "(at /arguments)"),
        ] {
            let reply = client.call("greet", arguments.clone()).await;
            assert_eq!(reply["error"]["code"], -32602, "{arguments}: {reply}");
            assert!(reply["error"]["message"].as_str().expect("text").contains(pointer), "{arguments}: {reply}");
        }
        let reply = client.call("great", json!({})).await;
        assert_eq!(reply["error"]["code"], -32602);
        assert_eq!(reply["error"]["message"], "unknown tool `great` (at /name); did you mean `greet`?");
    }
}
