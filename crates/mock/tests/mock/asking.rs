//! Tools that ask their client something first, in the way of each era.

use serde_json::{Value, json};

use crate::client::{Client, mock};

const MANIFEST: &str = r#"
tools:
  - name: summarise
    inputSchema: { type: object, properties: { text: { type: string } } }
    sampling: { messages: [{ role: user, content: { type: text, text: "Sum up ${args.text}" } }], maxTokens: 9 }
    response: "In short: ${sampling.content.text}"
  - name: confirm
    elicitation: &form
      message: Sure?
      requestedSchema: { type: object, properties: { ok: { type: boolean } }, required: [ok] }
    response: "${elicitation.action} ${elicitation.content.ok}"
  - name: where
    roots_list: true
    response: "${roots.roots.0.uri}"
  - name: steps
    input_required:
      - requests: { first: { method: elicitation/create, params: *form } }
      - requests: { second: { method: roots/list } }
    response: "${input.first.content.ok} ${input.second.roots.0.uri}"
  - name: stated
    input_required:
      state: my-state
      requests: { first: { method: elicitation/create, params: *form } }
    response: "${input.first.action}"
  - name: link
    elicitation: { mode: url, message: Log in, url: "https://example.com", elicitationId: "1" }
prompts:
  - name: ask
    input_required: { requests: { why: { method: sampling/createMessage, params: { messages: [], maxTokens: 1 } } } }
    text: "Because ${input.why.content.text}"
resources:
  - uri: test://a
    input_required: { requests: { who: { method: roots/list } } }
    text: "for ${input.who.roots.0.uri}"
"#;

fn capabilities() -> Value {
    json!({"sampling": {}, "elicitation": {}, "roots": {}})
}

fn answer_to(method: &str) -> Value {
    match method {
        "sampling/createMessage" => {
            json!({"role": "assistant", "content": {"type": "text", "text": "short"}, "model": "m"})
        }
        "elicitation/create" => json!({"action": "accept", "content": {"ok": true}}),
        "roots/list" => json!({"roots": [{"uri": "file:///r"}]}),
        other => panic!("{other} was asked"),
    }
}

fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// Answers what a legacy server asks until the request is answered; which methods were asked.
async fn answer_all(client: &mut Client, id: &Value) -> (Value, Vec<String>) {
    let mut asked = Vec::new();
    loop {
        let message = client.next().await;
        let Some(method) = message["method"].as_str() else {
            assert_eq!(message["id"], *id, "{message}");
            return (message, asked);
        };
        asked.push(method.to_owned());
        client.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer_to(method)})).await;
    }
}

#[tokio::test]
async fn legacy_clients_are_asked_by_requests() {
    let mut client = Client::legacy(&mock(MANIFEST), capabilities()).await;
    for (tool, expected, wanted) in [
        ("summarise", "In short: short", vec!["sampling/createMessage"]),
        ("confirm", "accept true", vec!["elicitation/create"]),
        ("where", "file:///r", vec!["roots/list"]),
        ("steps", "true file:///r", vec!["elicitation/create", "roots/list"]),
    ] {
        let id = client.start("tools/call", json!({"name": tool, "arguments": {"text": "x"}})).await;
        let (reply, asked) = answer_all(&mut client, &id).await;
        assert_eq!((text(&reply), asked), (expected, wanted.into_iter().map(str::to_owned).collect()));
    }
    let id = client.start("prompts/get", json!({"name": "ask"})).await;
    let (reply, _) = answer_all(&mut client, &id).await;
    assert_eq!(reply["result"]["messages"][0]["content"]["text"], "Because short");
    let id = client.start("resources/read", json!({"uri": "test://a"})).await;
    let (reply, _) = answer_all(&mut client, &id).await;
    assert_eq!(reply["result"]["contents"][0]["text"], "for file:///r");
}

#[tokio::test]
async fn questions_carry_the_arguments() {
    let mut client = Client::legacy(&mock(MANIFEST), capabilities()).await;
    client.start("tools/call", json!({"name": "summarise", "arguments": {"text": "war and peace"}})).await;
    let asked = client.next().await;
    assert_eq!(asked["params"]["messages"][0]["content"]["text"], "Sum up war and peace");
}

#[tokio::test]
async fn a_legacy_client_that_cannot_or_will_not_is_told_by_the_tool() {
    let mut client = Client::legacy(&mock(MANIFEST), json!({"elicitation": {}})).await;
    let reply = client.call("summarise", json!({})).await;
    assert_eq!(
        (text(&reply), &reply["result"]["isError"]),
        ("this needs a client that declares `sampling`", &json!(true))
    );
    let reply = client.call("link", json!({})).await;
    assert_eq!(text(&reply), "this needs a client that declares `elicitation`");
    let id = client.start("tools/call", json!({"name": "confirm"})).await;
    let asked = client.next().await["id"].clone();
    client.send(&json!({"jsonrpc": "2.0", "id": asked, "error": {"code": -1, "message": "not now"}})).await;
    assert_eq!(text(&client.reply_to(&id).await), "the client refused `elicitation/create`: not now");
}

#[tokio::test]
async fn modern_clients_are_asked_by_results() {
    let mut client = Client::modern(&mock(MANIFEST), &capabilities());
    let asked = client.call("confirm", json!({})).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(asked["inputRequests"]["elicitation"]["method"], "elicitation/create");
    assert_eq!(asked.get("requestState"), None);
    let answers = json!({"elicitation": answer_to("elicitation/create"), "extra": 1});
    let again = client.ask("tools/call", json!({"name": "confirm", "inputResponses": answers})).await;
    assert_eq!((text(&again), &again["result"]["resultType"]), ("accept true", &json!("complete")));
    for wrong in
        [json!({}), json!({"elicitation": 3}), json!({"elicitation": {"action": "accept", "content": {"ok": 3}}})]
    {
        let reply = client.ask("tools/call", json!({"name": "confirm", "inputResponses": wrong})).await;
        assert_eq!(reply["result"]["resultType"], "input_required", "what is missing is asked for again: {wrong}");
    }
    let reply = client.ask("tools/call", json!({"name": "confirm", "inputResponses": null})).await;
    assert_eq!(reply["error"]["code"], -32602);
    let read = client.ask("resources/read", json!({"uri": "test://a"})).await;
    assert_eq!(read["result"]["resultType"], "input_required");
    assert_eq!(read["result"].get("ttlMs"), None, "what asks may not be kept");
}

#[tokio::test]
async fn rounds_are_told_apart_by_a_state_that_cannot_be_forged() {
    let mut client = Client::modern(&mock(MANIFEST), &capabilities());
    let call = |arguments: Value, answers: Value, state: &Value| json!({"name": "steps", "arguments": arguments, "inputResponses": answers, "requestState": state});
    let first = client.call("steps", json!({"a": 1})).await["result"].clone();
    let answers = json!({"first": answer_to("elicitation/create")});
    let second = client.ask("tools/call", call(json!({"a": 1}), answers.clone(), &first["requestState"])).await;
    let state = &second["result"]["requestState"];
    assert_eq!(second["result"]["inputRequests"]["second"]["method"], "roots/list");
    assert_ne!(*state, first["requestState"]);
    let answers = json!({"second": answer_to("roots/list")});
    let last = client.ask("tools/call", call(json!({"a": 1}), answers.clone(), state)).await;
    assert_eq!(text(&last), "true file:///r");

    let tampered = json!(format!("{}x", state.as_str().expect("text")));
    for (arguments, state) in
        [(json!({"a": 1}), &tampered), (json!({"a": 2}), state), (json!({"a": 1}), &json!("made up"))]
    {
        let reply = client.ask("tools/call", call(arguments, answers.clone(), state)).await;
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
    }
}

#[tokio::test]
async fn a_written_state_must_come_back() {
    let mut client = Client::modern(&mock(MANIFEST), &capabilities());
    assert_eq!(client.call("stated", json!({})).await["result"]["requestState"], "my-state");
    let call = |state: Value| json!({"name": "stated", "inputResponses": {"first": {"action": "decline"}}, "requestState": state});
    assert_eq!(text(&client.ask("tools/call", call(json!("my-state"))).await), "decline");
    assert_eq!(client.ask("tools/call", call(json!("yours"))).await["error"]["code"], -32602);
    assert_eq!(client.ask("tools/call", call(json!(3))).await["error"]["code"], -32602);
    let without = json!({"name": "stated", "inputResponses": {"first": {"action": "decline"}}});
    assert_eq!(client.ask("tools/call", without).await["result"]["resultType"], "input_required");
}

#[tokio::test]
async fn modern_clients_must_have_declared_what_is_needed() {
    let mut client = Client::modern(&mock(MANIFEST), &json!({"elicitation": {}}));
    let reply = client.call("summarise", json!({})).await;
    assert_eq!(
        (&reply["error"]["code"], &reply["error"]["data"]),
        (&json!(-32021), &json!({"requiredCapabilities": {"sampling": {}}}))
    );
    let reply = client.call("link", json!({})).await;
    assert_eq!(reply["error"]["data"], json!({"requiredCapabilities": {"elicitation": {"url": {}}}}));
}
