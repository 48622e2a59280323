//! HTTP itself: sessions, streams, origins, and headers that differ from the body.

use std::time::Duration;

use mcprove_judge::conformance::Recording;
use serde_json::{Value, json};

use super::client::encoded;
use super::link::{Header, Link};
use super::{Scene, probe_main};

pub(super) async fn run(scene: &Scene<'_>) -> Result<Option<Recording>, String> {
    let mut link = scene.open("http")?;
    if link.begin(json!({})).await.is_none() {
        return Ok(Some(link.close().await));
    }
    let method = probe_main::simple(&link);
    plain(&mut link, "foreign-origin", method, &[("origin", Some(b"http://evil.example"))]).await;
    if link.is_modern() {
        modern(&mut link, scene).await;
    } else {
        legacy(&mut link, scene, method).await;
    }
    Ok(Some(link.close().await))
}

/// The simple request with other headers.
async fn plain(link: &mut Link, label: &str, method: &str, headers: &[Header<'_>]) {
    let id = json!(link.fresh_id());
    let message = link.message(&id, method, Value::Null);
    link.exchange(label, &message, headers).await;
}

async fn legacy(link: &mut Link, scene: &Scene<'_>, method: &str) {
    plain(link, "header:bad-version", method, &[("mcp-protocol-version", Some(b"1900-01-01"))]).await;
    plain(link, "header:no-version", method, &[("mcp-protocol-version", None)]).await;
    let stream = link.ask("GET", "get-stream", None, &[]).await;
    // What should not come on the stream has a chance to.
    link.request("with-stream", method, Value::Null).await;
    if let Some(plan) = scene.answering().next() {
        link.request(format!("call:{}", plan.tool), "tools/call", json!({"name": plan.tool, "arguments": plan.input}))
            .await;
    }
    link.pause(Duration::from_millis(200)).await;
    if let Some(stream) = stream {
        link.abandon(stream);
    }
    if link.session.is_none() {
        return;
    }
    plain(link, "no-session", method, &[("mcp-session-id", None)]).await;
    plain(link, "unissued-post", method, &[("mcp-session-id", Some(b"00000000-0000-4000-8000-000000000000"))]).await;
    link.ask("DELETE", "delete", None, &[]).await;
    plain(link, "dead-post", method, &[]).await;
    link.notify("dead-notify", "notifications/initialized", Value::Null).await;
}

async fn modern(link: &mut Link, scene: &Scene<'_>) {
    let list = "server/discover";
    let version = "mcp-protocol-version";
    plain(link, "header:no-version", list, &[(version, None)]).await;
    plain(link, "header:other-version", list, &[(version, Some(b"2025-11-25"))]).await;
    plain(link, "header:no-method", list, &[("mcp-method", None)]).await;
    plain(link, "header:other-method", list, &[("mcp-method", Some(b"prompts/list"))]).await;
    plain(link, "header:upper-value", list, &[("mcp-method", Some(b"SERVER/DISCOVER"))]).await;
    plain(link, "header:blanks", list, &[("mcp-method", Some(b" server/discover  "))]).await;
    let session: &[u8] = b"00000000-0000-4000-8000-000000000000";
    plain(link, "session-ignored", list, &[("mcp-session-id", Some(session)), ("last-event-id", Some(b"1"))]).await;
    link.ask("GET", "modern-get", None, &[]).await;
    link.ask("DELETE", "modern-delete", None, &[]).await;
    if let Some((method, params, name)) = named(scene) {
        let message = |link: &mut Link| {
            let id = json!(link.fresh_id());
            link.message(&id, method, params.clone())
        };
        let sent = message(link);
        link.exchange("header:no-name", &sent, &[("mcp-name", None)]).await;
        let sent = message(link);
        link.exchange("header:other-name", &sent, &[("mcp-name", Some(b"another-name"))]).await;
        let sent = message(link);
        let value = encoded(&name);
        link.exchange("header:base64-name", &sent, &[("mcp-name", Some(value.as_bytes()))]).await;
        let sent = message(link);
        link.exchange("header:non-ascii", &sent, &[("mcp-name", Some("n\u{e4}me".as_bytes()))]).await;
    }
    parameters(link, scene).await;
}

/// Something safe that `Mcp-Name` names.
fn named(scene: &Scene<'_>) -> Option<(&'static str, Value, String)> {
    if let Some(resource) = scene.catalog.resources.first().and_then(|resource| resource["uri"].as_str()) {
        return Some(("resources/read", json!({"uri": resource}), resource.to_owned()));
    }
    let plan = scene.answering().next()?;
    Some(("tools/call", json!({"name": plan.tool, "arguments": plan.input}), plan.tool.clone()))
}

/// Arguments that are mirrored in headers.
async fn parameters(link: &mut Link, scene: &Scene<'_>) {
    let found = scene.answering().find_map(|plan| {
        let schema = link.schemas.get(&plan.tool)?;
        let (name, property) = schema["properties"].as_object()?.iter().find(|(_, property)| {
            property["type"] == "string"
                && property["x-mcp-header"].as_str().is_some_and(|h| h.bytes().all(|b| b.is_ascii_graphic()))
        })?;
        let is_required = schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        Some((plan, name.clone(), property["x-mcp-header"].as_str()?.to_ascii_lowercase(), is_required))
    });
    let Some((plan, name, header, is_required)) = found else { return };
    let header = format!("mcp-param-{header}");
    let mut arguments = plan.input.clone();
    arguments[&name] = json!("eu");
    let call = |link: &mut Link, arguments: &Value| {
        let id = json!(link.fresh_id());
        link.message(&id, "tools/call", json!({"name": plan.tool, "arguments": arguments}))
    };
    let wrapped = encoded("eu");
    let cases: [(&str, Option<&[u8]>); 5] = [
        ("match", Some(b"eu")),
        ("base64", Some(wrapped.as_bytes())),
        ("other", Some(b"us")),
        ("missing", None),
        ("bad-base64", Some(b"=?base64?SGVs!!!bG8=?=")),
    ];
    for (label, value) in cases {
        let message = call(link, &arguments);
        link.exchange(format!("param:{label}"), &message, &[(header.as_str(), value)]).await;
    }
    if !is_required && let Some(map) = arguments.as_object_mut() {
        map.shift_remove(&name);
        let message = call(link, &arguments);
        link.exchange("param:absent", &message, &[(header.as_str(), None)]).await;
    }
}
