//! What 2026-07-28 asks of every request: `_meta`, versions, removed methods, subscriptions.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::Scene;
use super::client::PREFIX;
use super::link::{Link, Send};

pub(super) async fn run(link: &mut Link, scene: &Scene<'_>, opening: &Value) {
    let discover = "server/discover";
    let meta = |remove: &str| {
        let mut meta = json!({});
        for (key, value) in [("protocolVersion", json!("2026-07-28")), ("clientCapabilities", json!({}))] {
            if key != remove {
                meta[format!("{PREFIX}{key}")] = value;
            }
        }
        meta
    };
    for what in ["_meta", "protocolVersion", "clientCapabilities"] {
        let id = link.fresh_id();
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {"_meta": meta(what)}});
        if what == "_meta" {
            message["params"] = json!({});
        }
        if scene.catalog.capabilities.get("tools").is_none() {
            message["method"] = json!(discover);
        }
        link.exchange(format!("meta-missing:{what}"), &message, &[]).await;
    }
    let id = link.fresh_id();
    let message = json!({"jsonrpc": "2.0", "id": id, "method": discover, "params": {"_meta": meta("")}});
    link.exchange("meta-no-client-info", &message, &[]).await;
    bad_version(link, "later").await;
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("resources/subscribe", json!({"uri": "test://text"})),
        ("resources/unsubscribe", json!({"uri": "test://text"})),
    ] {
        link.request(format!("removed:{method}"), method, params).await;
    }
    for version in opening["supportedVersions"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        // Older revisions are reached through `initialize`.
        if version < "2026-07-28" {
            continue;
        }
        let params = json!({"_meta": {format!("{PREFIX}protocolVersion"): version}});
        let id = json!(link.fresh_id());
        let message = link.message(&id, discover, params);
        let header = version.as_bytes();
        link.exchange(format!("listed-version:{version}"), &message, &[("mcp-protocol-version", Some(header))]).await;
    }
    if scene.catalog.capabilities.get("logging").is_some() {
        let params = json!({"_meta": {format!("{PREFIX}logLevel"): "verbose"}});
        link.request("bad-log-level", discover, params).await;
        for plan in scene.tools.iter().take(5) {
            let meta = json!({format!("{PREFIX}logLevel"): "error"});
            let params = json!({"name": plan.tool, "arguments": plan.input, "_meta": meta});
            link.request(format!("call-log:{}", plan.tool), "tools/call", params).await;
        }
    }
    if scene.catalog.capabilities.get("tools").is_some() {
        let info = json!({"name": "curl", "version": "8"});
        link.request("other-client:tools", "tools/list", json!({"_meta": {format!("{PREFIX}clientInfo"): info}})).await;
    }
    tasks(link, scene).await;
    listen(link, scene).await;
}

/// A request of a version that no server supports.
pub(super) async fn bad_version(link: &mut Link, when: &str) {
    let id = json!(link.fresh_id());
    let params = json!({"_meta": {format!("{PREFIX}protocolVersion"): "1900-01-01"}});
    let message = link.message(&id, "server/discover", params);
    link.exchange(format!("bad-version:{when}"), &message, &[("mcp-protocol-version", Some(b"1900-01-01"))]).await;
}

async fn tasks(link: &mut Link, scene: &Scene<'_>) {
    let extension = format!("{PREFIX}tasks");
    if scene.catalog.capabilities["extensions"].get(&extension).is_none() {
        return;
    }
    link.request("task-undeclared", "tasks/get", json!({"taskId": "no-such-task"})).await;
    let capabilities = json!({"extensions": {extension: {}}});
    let meta = json!({format!("{PREFIX}clientCapabilities"): capabilities});
    link.request("task-unknown", "tasks/get", json!({"taskId": "no-such-task", "_meta": meta})).await;
    link.request("task-removed", "tasks/result", json!({"taskId": "no-such-task", "_meta": meta})).await;
}

/// Listens for everything, and gives the server a moment to say what it should not.
async fn listen(link: &mut Link, scene: &Scene<'_>) {
    let capabilities = &scene.catalog.capabilities;
    let mut wanted = json!({});
    for (kind, key) in [("tools", "toolsListChanged"), ("resources", "resourcesListChanged")] {
        if capabilities[kind]["listChanged"] == true {
            wanted[key] = json!(true);
        }
    }
    let first = scene.catalog.resources.first().and_then(|resource| resource["uri"].as_str());
    if let Some(uri) = first.filter(|_| capabilities["resources"]["subscribe"] == true) {
        wanted["resourceSubscriptions"] = json!([uri]);
    }
    if wanted == json!({}) {
        return;
    }
    for id in [json!(link.fresh_id()), json!("listen-1")] {
        let message = link.message(&id, "subscriptions/listen", json!({"notifications": wanted}));
        let label = format!("listen:{}", id.to_string().trim_matches('"'));
        let send = Send { label, body: Bytes::from(message.to_string()), headers: &[], id: None };
        let Some(exchange) = link.send(&send) else { return };
        link.pause(Duration::from_millis(600)).await;
        if exchange > 0 {
            link.abandon(exchange);
        } else {
            let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
            let body = Bytes::from(cancelled.to_string());
            link.send(&Send { label: "stop-listening".to_owned(), body, headers: &[], id: None });
        }
    }
}
