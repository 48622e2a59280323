//! Authorization without a login: requests without a token and with bad ones, and the documents that lead to a login.

use mcprove_judge::conformance::{Recording, Step, What};
use serde_json::{Value, json};

use super::Scene;
use super::link::{Endpoint, Header, Link};

/// An unsigned JWT: `{"alg":"none"}` and a subject.
const UNSIGNED: &[u8] = b"Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJtY3Byb3ZlIiwiZXhwIjo0MTAyNDQ0ODAwfQ.";

pub(super) async fn run(scene: &Scene<'_>) -> Result<Option<Recording>, String> {
    let Endpoint::Http { url, .. } = scene.endpoint else { return Ok(None) };
    let mut link = scene.open("auth")?;
    probe(&mut link, "auth-none", &[("authorization", None)]).await;
    let status = step(&link, "auth-none").and_then(|step| step.status());
    if !matches!(status, Some(401 | 403)) {
        return Ok(Some(link.close().await));
    }
    probe(&mut link, "auth-garbage", &[("authorization", Some(b"Bearer garbage"))]).await;
    probe(&mut link, "auth-unsigned", &[("authorization", Some(UNSIGNED))]).await;
    let session: &[u8] = b"00000000-0000-4000-8000-000000000000";
    probe(&mut link, "auth-session", &[("authorization", None), ("mcp-session-id", Some(session))]).await;
    link.ask("GET", "auth-get", None, &[("authorization", None)]).await;
    let (origin, path) = split(url);
    let query = format!("{url}?access_token=garbage");
    link.ask("GET", "auth-query", Some(&query), &[("authorization", None)]).await;
    let named = step(&link, "auth-none").and_then(|step| step.header("www-authenticate").map(str::to_owned));
    let named = named
        .as_deref()
        .and_then(|header| header.split_once("resource_metadata="))
        .map(|(_, rest)| rest.trim_start_matches('"').split(['"', ',', ' ']).next().unwrap_or_default().to_owned());
    let well_known = format!("{origin}/.well-known/oauth-protected-resource");
    let candidates: Vec<String> = named.into_iter().chain([format!("{well_known}{path}"), well_known]).collect();
    let document = fetch(&mut link, "auth-resource", &candidates).await;
    let issuer =
        document.as_ref().and_then(|document| document["authorization_servers"].get(0)?.as_str().map(str::to_owned));
    if let Some(issuer) = issuer {
        let (origin, path) = split(&issuer);
        let path = path.trim_end_matches('/');
        let candidates = [
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
            format!("{origin}/.well-known/openid-configuration{path}"),
            format!("{issuer}/.well-known/openid-configuration"),
        ];
        fetch(&mut link, &format!("auth-server:{issuer}"), &candidates).await;
    }
    Ok(Some(link.close().await))
}

pub(super) async fn probe(link: &mut Link, label: &str, headers: &[Header<'_>]) {
    let message = first_message(link);
    link.exchange(label, &message, headers).await;
    link.session = None;
}

/// The first message of a client.
pub(super) fn first_message(link: &mut Link) -> Value {
    let id = json!(link.fresh_id());
    let info = json!({"name": "mcprove", "version": env!("CARGO_PKG_VERSION")});
    let (method, params) = if link.is_modern() {
        ("server/discover", json!({}))
    } else {
        let params = json!({"protocolVersion": link.revision.as_str(), "capabilities": {}, "clientInfo": info});
        ("initialize", params)
    };
    link.message(&id, method, params)
}

/// The first document of several URLs that is there.
async fn fetch(link: &mut Link, label: &str, candidates: &[String]) -> Option<Value> {
    for url in candidates {
        let exchange = link.ask("GET", label, Some(url), &[("authorization", None)]).await?;
        let is_found =
            link.recording.entries.iter().any(|entry| {
                entry.exchange == exchange && matches!(entry.what, What::ResponseHead { status: 200, .. })
            });
        let body = link.recording.entries.iter().find_map(|entry| match &entry.what {
            What::Received(payload) if entry.exchange == exchange => payload.json.clone(),
            _ => None,
        });
        if is_found && let Some(body) = body {
            return Some(body);
        }
    }
    None
}

fn step<'l>(link: &'l Link, label: &str) -> Option<Step<'l>> {
    link.recording.steps(0).find(|step| step.entry.step == label)
}

/// The origin and the path of a URL.
fn split(url: &str) -> (String, String) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let (host, path) = rest.split_once('/').map_or((rest, String::new()), |(host, path)| (host, format!("/{path}")));
    (format!("{scheme}://{host}"), path)
}
