//! A client that declares everything: what the server asks, and what it does with the answers.

use std::time::Duration;

use mcprove_judge::conformance::{Recording, What};
use serde_json::{Value, json};

use super::client::{Policy, input_for};
use super::link::Link;
use super::{MOST_ITEMS, Scene, full_client, probe_main};

/// Maximum number of rounds of questions answered.
const MOST_ROUNDS: usize = 5;

pub(super) async fn run(scene: &Scene<'_>) -> Result<Recording, String> {
    let mut link = scene.open("full")?;
    link.policy = Policy::Accept;
    if link.handshake(full_client(scene.revision)).await.is_none() {
        return Ok(link.close().await);
    }
    if !link.is_modern() {
        // A server may not ask before the client has sent `initialized`.
        link.pause(Duration::from_millis(300)).await;
        link.notify("notify:initialized", "notifications/initialized", Value::Null).await;
        link.notify("notify:roots", "notifications/roots/list_changed", Value::Null).await;
    }
    for plan in &scene.tools {
        let token = 1000 + link.fresh_id();
        let params = json!({"name": plan.tool, "arguments": plan.input, "_meta": {"progressToken": token}});
        let before = link.recording.entries.len();
        let reply = link.request(format!("call:{}", plan.tool), "tools/call", params).await;
        let was_asked = link.recording.entries[before..].iter().any(|entry| match &entry.what {
            What::Received(payload) => payload.json.as_ref().is_some_and(|json| json["method"] == "elicitation/create"),
            _ => false,
        });
        if was_asked {
            link.policy = Policy::Decline;
            let params = json!({"name": plan.tool, "arguments": plan.input});
            link.request(format!("call-declined:{}", plan.tool), "tools/call", params).await;
            link.policy = Policy::Accept;
        } else if let Some(reply) = reply.filter(|reply| reply["result"]["resultType"] == "input_required") {
            let params = json!({"name": plan.tool, "arguments": plan.input});
            rounds(&mut link, &plan.tool, "tools/call", params, reply).await;
        }
    }
    if link.is_modern() {
        for prompt in scene.catalog.prompts.iter().take(MOST_ITEMS) {
            let Some(name) = prompt["name"].as_str() else { continue };
            let params = json!({"name": name, "arguments": probe_main::prompt_arguments(prompt)});
            link.request(format!("get:{name}"), "prompts/get", params).await;
        }
    }
    Ok(link.close().await)
}

/// The retry of a request with answers.
pub(super) fn retry(params: &Value, result: &Value, responses: Value) -> Value {
    let mut params = params.clone();
    params["inputResponses"] = responses;
    if let Some(state) = result.get("requestState") {
        params["requestState"] = state.clone();
    }
    params
}

/// The answers to the questions of a result.
pub(super) fn responses(result: &Value) -> Value {
    let requests = result["inputRequests"].as_object().into_iter().flatten();
    let answers = requests.filter_map(|(key, request)| {
        let method = request["method"].as_str()?;
        Some((key.clone(), input_for(method, &request["params"], Policy::Accept)?))
    });
    Value::Object(answers.collect())
}

async fn rounds(link: &mut Link, tool: &str, method: &str, params: Value, first: Value) {
    let result = first["result"].clone();
    if result["inputRequests"].as_object().is_some_and(|map| !map.is_empty()) {
        link.request(format!("retry-empty:{tool}"), method, retry(&params, &result, json!({}))).await;
        link.request(format!("retry-malformed:{tool}"), method, retry(&params, &result, json!(5))).await;
        let mut extra = responses(&result);
        extra["zz"] = json!({"action": "accept", "content": {}});
        link.request(format!("retry-extra:{tool}"), method, retry(&params, &result, extra)).await;
    }
    if let Some(state) = result["requestState"].as_str().filter(|state| !state.is_empty()) {
        let mut changed = retry(&params, &result, responses(&result));
        changed["requestState"] = json!(tampered(state));
        link.request(format!("retry-tampered:{tool}"), method, changed).await;
    }
    let mut result = result;
    for _ in 0..MOST_ROUNDS {
        let params = retry(&params, &result, responses(&result));
        let Some(reply) = link.request(format!("retry:{tool}"), method, params).await else { return };
        if reply["result"]["resultType"] != "input_required" {
            return;
        }
        result = reply["result"].clone();
    }
}

/// A state of the same length with one character changed.
fn tampered(state: &str) -> String {
    let middle = state.len() / 2;
    state.char_indices().map(|(at, c)| if at == middle { if c == 'A' { 'B' } else { 'A' } } else { c }).collect()
}
