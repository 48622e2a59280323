//! Calls that become tasks.

use serde_json::{Value, json};

use crate::client::{Client, mock};

const MANIFEST: &str = r#"
tools:
  - name: build
    task: { poll_count: 2, pollIntervalMs: 40, ttl_ms: 1000 }
    response: "built ${args.what}"
  - name: must
    task: { required: true }
    responses: [{ error: { code: -5, message: no } }]
  - name: fails
    task: {}
    responses: [{ error: no }]
  - name: asks
    task: { requests: { two: { method: roots/list } } }
    elicitation: { message: Sure? }
    response: "${elicitation.action}"
"#;

fn capable() -> Value {
    json!({"elicitation": {}, "roots": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

async fn get(client: &mut Client, id: &Value) -> Value {
    client.ask("tasks/get", json!({"taskId": id})).await["result"].clone()
}

#[tokio::test]
async fn a_task_works_and_is_done() {
    let mut client = Client::modern(&mock(MANIFEST), &capable());
    let discovered = client.ask("server/discover", Value::Null).await;
    assert_eq!(discovered["result"]["capabilities"]["extensions"], json!({"io.modelcontextprotocol/tasks": {}}));
    let handle = client.call("build", json!({"what": "it"})).await["result"].clone();
    assert_eq!((&handle["resultType"], &handle["status"]), (&json!("task"), &json!("working")));
    assert_eq!((&handle["ttlMs"], &handle["pollIntervalMs"]), (&json!(1000), &json!(40)));
    let id = &handle["taskId"];
    let listen = json!({"notifications": {"taskIds": [id, "other"]}});
    client.start("subscriptions/listen", listen).await;
    assert_eq!(client.next().await["params"]["notifications"], json!({"taskIds": [id]}));
    for _ in 0..2 {
        assert_eq!(get(&mut client, id).await["status"], "working");
    }
    let done = get(&mut client, id).await;
    assert_eq!((&done["status"], &done["resultType"]), (&json!("completed"), &json!("complete")));
    assert_eq!(done["result"]["content"][0]["text"], "built it");
    assert_eq!(get(&mut client, id).await["status"], "completed");
    assert_eq!(client.heard.len(), 1, "whoever listens is told once: {:?}", client.heard);
    assert_eq!((&client.heard[0]["method"], &client.heard[0]["params"]["taskId"]), (&json!("notifications/tasks"), id));
}

#[tokio::test]
async fn failing_is_not_breaking() {
    let mut client = Client::modern(&mock(MANIFEST), &capable());
    let id = client.call("fails", json!({})).await["result"]["taskId"].clone();
    let failed = get(&mut client, &id).await;
    assert_eq!((&failed["status"], &failed["result"]["isError"]), (&json!("completed"), &json!(true)));
    let id = client.call("must", json!({})).await["result"]["taskId"].clone();
    let broken = get(&mut client, &id).await;
    assert_eq!((&broken["status"], &broken["error"]["code"]), (&json!("failed"), &json!(-5)));
}

#[tokio::test]
async fn a_task_can_be_cancelled() {
    let mut client = Client::modern(&mock(MANIFEST), &capable());
    let id = client.call("build", json!({})).await["result"]["taskId"].clone();
    let ack = client.ask("tasks/cancel", json!({"taskId": id})).await["result"].clone();
    assert_eq!((&ack["resultType"], ack.get("taskId")), (&json!("complete"), None));
    assert_eq!(get(&mut client, &id).await["status"], "cancelled");
    assert_eq!(client.ask("tasks/get", json!({"taskId": "no"})).await["error"]["code"], -32602);
    assert_eq!(client.ask("tasks/list", Value::Null).await["error"]["code"], -32601);
}

#[tokio::test]
async fn a_task_may_ask() {
    let mut client = Client::modern(&mock(MANIFEST), &capable());
    let id = client.call("asks", json!({})).await["result"]["taskId"].clone();
    let asking = get(&mut client, &id).await;
    assert_eq!(asking["status"], "input_required");
    assert_eq!(asking["inputRequests"].as_object().expect("a map").len(), 2);
    client.ask("tasks/update", json!({"taskId": id, "inputResponses": {"two": {"roots": []}}})).await;
    let asking = get(&mut client, &id).await;
    assert_eq!(asking["inputRequests"].as_object().expect("a map").keys().collect::<Vec<_>>(), ["elicitation"]);
    client.ask("tasks/update", json!({"taskId": id, "inputResponses": {"elicitation": {"action": "cancel"}}})).await;
    assert_eq!(get(&mut client, &id).await["result"]["content"][0]["text"], "cancel");
}

#[tokio::test]
async fn clients_without_the_extension_are_answered_at_once_or_refused() {
    let mock = mock(MANIFEST);
    let mut client = Client::modern(&mock, &json!({}));
    assert_eq!(client.call("build", json!({"what": "it"})).await["result"]["content"][0]["text"], "built it");
    for (method, params) in [("tools/call", json!({"name": "must"})), ("tasks/get", json!({"taskId": "x"}))] {
        let reply = client.ask(method, params).await;
        assert_eq!(reply["error"]["code"], -32021, "{reply}");
        let required = &reply["error"]["data"]["requiredCapabilities"]["extensions"];
        assert_eq!(*required, json!({"io.modelcontextprotocol/tasks": {}}));
    }
    let mut client = Client::legacy(&mock, json!({})).await;
    assert_eq!(client.call("build", json!({"what": "it"})).await["result"]["content"][0]["text"], "built it");
    assert_eq!(client.ask("tasks/get", json!({"taskId": "x"})).await["error"]["code"], -32601);
}
