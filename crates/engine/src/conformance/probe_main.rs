//! The main conversation: a client that declares nothing and tries everything that is safe.

use std::time::Duration;

use bytes::Bytes;
use mcprove_judge::conformance::{CallPlan, Recording};
use mcprove_model::Revision;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::link::{Link, Send};
use super::{MOST_ITEMS, Scene, probe_lists, probe_modern};

pub(super) async fn run(
    scene: &mut Scene<'_>,
    uncalled: &mut Vec<(String, String)>,
) -> Result<(Recording, bool), String> {
    let mut link = scene.open("main")?;
    let Some(opening) = link.begin(json!({})).await else { return Ok((link.close().await, false)) };
    scene.catalog.capabilities = opening["capabilities"].clone();
    scene.catalog.instructions = opening["instructions"].as_str().map(str::to_owned);
    if !link.is_modern() {
        link.request("ping", "ping", Value::Null).await;
    }
    probe_lists::read(&mut link, &mut scene.catalog).await;
    scene.choose(uncalled);
    scene.give_schemas(&mut link);
    ids(&mut link).await;
    notifications(&mut link).await;
    link.request("unknown-method", "x/unknown", json!({})).await;
    meta(&mut link).await;
    if link.is_modern() {
        probe_modern::run(&mut link, scene, &opening).await;
    }
    let slow = tools(&mut link, scene).await;
    resources(&mut link, scene).await;
    prompts(&mut link, scene).await;
    completion(&mut link, scene).await;
    if !link.is_modern() && scene.catalog.capabilities.get("logging").is_some() {
        levels(&mut link, scene).await;
    }
    many(&mut link).await;
    if let Some((tool, took)) = slow {
        cancel(&mut link, scene, &tool, took).await;
    }
    for kind in probe_lists::KINDS.into_iter().take(3) {
        if scene.catalog.capabilities.get(kind.0).is_some() {
            probe_lists::walk_again(&mut link, "list-late", kind, &scene.catalog).await;
        }
    }
    let is_open = true;
    Ok((link.close().await, is_open))
}

/// The method that every server answers quickly.
pub(super) fn simple(link: &Link) -> &'static str {
    if link.is_modern() { "server/discover" } else { "ping" }
}

async fn ids(link: &mut Link) {
    let method = simple(link);
    let long = "x".repeat(200);
    for (name, id) in [
        ("text", json!("424242")),
        ("zero", json!(0)),
        ("negative", json!(-1)),
        ("large", json!((1_i64 << 53) - 1)),
        ("long", json!(long)),
    ] {
        link.request_as(format!("id:{name}"), id, method, Value::Null).await;
    }
}

async fn notifications(link: &mut Link) {
    link.notify("notify:unknown", "notifications/x-unknown", Value::Null).await;
    if !(link.is_modern() && link.is_http()) {
        let cancelled = "notifications/cancelled";
        link.notify("notify:cancel-unknown", cancelled, json!({"requestId": "no-such-request"})).await;
        let last = link.fresh_id() - 1;
        link.notify("notify:cancel-late", cancelled, json!({"requestId": last})).await;
    }
    let method = simple(link);
    link.request("after-cancel", method, Value::Null).await;
}

async fn meta(link: &mut Link) {
    let method = simple(link);
    link.request("meta-extra", method, json!({"_meta": {"com.example/x": 1}})).await;
}

/// Calls the tools that may be called; the slowest that took long enough to be cancelled.
async fn tools(link: &mut Link, scene: &mut Scene<'_>) -> Option<(String, Duration)> {
    scene.catalog.capabilities.get("tools")?;
    let mut slow: Option<(String, Duration)> = None;
    for plan in &scene.tools {
        let began = Instant::now();
        let token = 1000 + link.fresh_id();
        let params = json!({"name": plan.tool, "arguments": plan.input, "_meta": {"progressToken": token}});
        let reply = link.request(format!("call:{}", plan.tool), "tools/call", params).await;
        let took = began.elapsed();
        if reply.is_none() {
            scene.silent.insert(plan.tool.clone());
        }
        let is_fine = reply.is_some_and(|reply| reply["result"]["content"].is_array());
        let is_slow = took >= Duration::from_millis(400) && took < Duration::from_secs(4);
        if is_fine && is_slow && slow.as_ref().is_none_or(|(_, longest)| took > *longest) {
            slow = Some((plan.tool.clone(), took));
        }
    }
    for plan in scene.answering().filter(|plan| plan.is_bare).take(2) {
        // The same call with empty arguments shows if leaving them out is what fails.
        link.request(format!("call:{}", plan.tool), "tools/call", json!({"name": plan.tool, "arguments": {}})).await;
        link.request(format!("call-bare:{}", plan.tool), "tools/call", json!({"name": plan.tool})).await;
    }
    for plan in scene.answering().take(5) {
        for (what, input) in &plan.wrong {
            let label = format!("wrong-input:{}, {what}", plan.tool);
            link.request(label, "tools/call", json!({"name": plan.tool, "arguments": input})).await;
        }
    }
    link.request("unknown-tool", "tools/call", json!({"name": "no_such_tool_x", "arguments": {}})).await;
    link.request("malformed-call:no name", "tools/call", json!({"arguments": {}})).await;
    link.request("malformed-call:name is a number", "tools/call", json!({"name": 5, "arguments": {}})).await;
    if let Some(plan) = scene.answering().next() {
        let params = json!({"name": plan.tool, "arguments": [1]});
        link.request("malformed-call:arguments is a list", "tools/call", params).await;
    }
    // Where tasks are not declared, the parameter is ignored; where they are, the tool has to support them.
    let declared = scene.catalog.capabilities.pointer("/tasks/requests/tools/call").is_some();
    let fits = |plan: &&CallPlan| {
        let mut tools = scene.catalog.tools.iter().filter(|tool| tool["name"] == plan.tool.as_str());
        tools.any(|tool| matches!(tool["execution"]["taskSupport"].as_str(), Some("optional" | "required")) == declared)
    };
    if let Some(plan) = scene.answering().find(fits).filter(|_| link.revision == Revision::V2025_11_25) {
        let params = json!({"name": plan.tool, "arguments": plan.input, "task": {"ttl": 60000}});
        link.request("task-call", "tools/call", params).await;
        if scene.catalog.capabilities.get("tasks").is_some() {
            link.request("task-unknown", "tasks/get", json!({"taskId": "no-such-task"})).await;
        }
    }
    slow
}

async fn resources(link: &mut Link, scene: &Scene<'_>) {
    if scene.catalog.capabilities.get("resources").is_none() {
        return;
    }
    let read = "resources/read";
    for uri in scene.catalog.resources.iter().rev().take(MOST_ITEMS).filter_map(|resource| resource["uri"].as_str()) {
        link.request(format!("read:{uri}"), read, json!({"uri": uri})).await;
    }
    link.request("read-missing:no-scheme", read, json!({"uri": "x-none://mcprove/no-such-resource"})).await;
    link.request("read-bad:a number", read, json!({"uri": 5})).await;
    link.request("read-bad:empty", read, json!({"uri": ""})).await;
    link.request("read-bad:not a URI", read, json!({"uri": "not a uri"})).await;
    let file = scene
        .catalog
        .resources
        .iter()
        .filter_map(|resource| resource["uri"].as_str())
        .find(|uri| uri.starts_with("file://"));
    if let Some(file) = file {
        for (name, up) in [("plain", ".."), ("escaped", "%2e%2e")] {
            let uri = format!("{file}/{}etc/passwd", format!("{up}/").repeat(12));
            link.request(format!("read-bad:traversal {name}"), read, json!({"uri": uri})).await;
        }
    }
    let first = scene.catalog.resources.first().and_then(|resource| resource["uri"].as_str());
    if let Some(uri) =
        first.filter(|_| !link.is_modern() && scene.catalog.capabilities["resources"]["subscribe"] == true)
    {
        link.request("subscribe", "resources/subscribe", json!({"uri": uri})).await;
        link.request("unsubscribe", "resources/unsubscribe", json!({"uri": uri})).await;
    }
}

/// Arguments for a prompt.
pub(super) fn prompt_arguments(prompt: &Value) -> Value {
    let names = prompt["arguments"].as_array().into_iter().flatten().filter_map(|argument| argument["name"].as_str());
    Value::Object(names.map(|name| (name.to_owned(), json!("test"))).collect())
}

async fn prompts(link: &mut Link, scene: &Scene<'_>) {
    if scene.catalog.capabilities.get("prompts").is_none() {
        return;
    }
    for prompt in scene.catalog.prompts.iter().take(MOST_ITEMS) {
        let Some(name) = prompt["name"].as_str() else { continue };
        let params = json!({"name": name, "arguments": prompt_arguments(prompt)});
        link.request(format!("get:{name}"), "prompts/get", params).await;
        let required = prompt["arguments"].as_array().is_some_and(|all| all.iter().any(|one| one["required"] == true));
        if required {
            link.request(format!("get-without:{name}"), "prompts/get", json!({"name": name})).await;
        }
    }
    link.request("unknown-prompt", "prompts/get", json!({"name": "no_such_prompt_x"})).await;
}

async fn completion(link: &mut Link, scene: &Scene<'_>) {
    let prompt = scene.catalog.prompts.iter().find_map(|prompt| {
        let argument = prompt["arguments"].get(0)?["name"].as_str()?;
        Some((json!({"type": "ref/prompt", "name": prompt["name"]}), argument.to_owned()))
    });
    let template = scene.catalog.templates.iter().find_map(|template| {
        let uri = template["uriTemplate"].as_str()?;
        let name = uri.split_once('{')?.1.split_once('}')?.0.trim_start_matches(['+', '#', '/', '?', '&', '.', ';']);
        Some((json!({"type": "ref/resource", "uri": uri}), name.split(',').next()?.to_owned()))
    });
    let Some((reference, argument)) = prompt.or(template) else { return };
    let complete = "completion/complete";
    let argument = json!({"name": argument, "value": ""});
    let params = json!({"ref": reference, "argument": argument});
    let reply = link.request("complete:first", complete, params.clone()).await;
    if reply.is_none_or(|reply| reply.get("result").is_none()) {
        return;
    }
    let mut context = params;
    context["context"] = json!({"arguments": {"other": "value"}});
    link.request("complete:context", complete, context).await;
    let unknown = json!({"type": "ref/prompt", "name": "no_such_prompt_x"});
    link.request("complete:unknown", complete, json!({"ref": unknown, "argument": argument})).await;
    link.request("complete:bad-ref", complete, json!({"ref": {"type": "ref/x"}, "argument": argument})).await;
    link.request("complete:bad-argument", complete, json!({"ref": reference})).await;
}

async fn levels(link: &mut Link, scene: &Scene<'_>) {
    for level in mcprove_judge::log_level::LEVELS {
        link.request(format!("level:{level}"), "logging/setLevel", json!({"level": level})).await;
    }
    link.request("bad-level", "logging/setLevel", json!({"level": "verbose"})).await;
    link.request("level:emergency", "logging/setLevel", json!({"level": "emergency"})).await;
    for plan in scene.answering().take(5) {
        let params = json!({"name": plan.tool, "arguments": plan.input});
        link.request(format!("call-quiet:{}", plan.tool), "tools/call", params).await;
    }
}

async fn many(link: &mut Link) {
    let method = simple(link);
    let mut sent = Vec::new();
    for number in 0..10 {
        let id = json!(format!("many-{number}"));
        let message = link.message(&id, method, Value::Null);
        let body = Bytes::from(message.to_string());
        let send = Send { label: format!("many:{number}"), body, headers: &[], id: None };
        let Some(exchange) = link.send(&send) else { return };
        sent.push((id, exchange));
    }
    for (id, exchange) in sent {
        let within = link.pace.timeout;
        link.reply(&id, exchange, within).await;
    }
}

/// Cancels a call while it runs, and waits for what should not come.
async fn cancel(link: &mut Link, scene: &Scene<'_>, tool: &str, took: Duration) {
    if link.is_modern() && link.is_http() {
        return;
    }
    let Some(plan) = scene.tools.iter().find(|plan| plan.tool == tool) else { return };
    let id = json!(link.fresh_id());
    let token = 1000 + link.fresh_id();
    let params = json!({"name": tool, "arguments": plan.input, "_meta": {"progressToken": token}});
    let message = link.message(&id, "tools/call", params);
    let send =
        Send { label: "cancelled-call".to_owned(), body: Bytes::from(message.to_string()), headers: &[], id: None };
    if link.send(&send).is_none() {
        return;
    }
    link.pause(took / 4).await;
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let send =
        Send { label: "cancel-now".to_owned(), body: Bytes::from(cancelled.to_string()), headers: &[], id: None };
    link.send(&send);
    link.pause(took + Duration::from_millis(300)).await;
}
