//! Authorization without a login: requests without a token and with bad ones, and the documents that lead to a login.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use mcprove_judge::conformance::{Recording, What};
use mcprove_model::oauth::{
    Challenge, ResourceMetadata, bearer_challenge, resource_metadata_urls, server_metadata_urls,
};
use serde_json::{Value, json};

use super::Scene;
use super::link::{Endpoint, Header, Link, Send};

/// A session id that no server gave out.
const SESSION: &[u8] = b"00000000-0000-4000-8000-000000000000";

pub(super) async fn run(scene: &Scene<'_>) -> Result<Option<Recording>, String> {
    let Endpoint::Http { url, .. } = scene.endpoint else { return Ok(None) };
    let mut link = scene.open("auth")?;
    probe(&mut link, "auth-none", &[("authorization", None)]).await;
    let status = link.recording.steps(0).find(|step| step.entry.step == "auth-none").and_then(|step| step.status());
    if !matches!(status, Some(401 | 403)) {
        return Ok(Some(link.close().await));
    }
    let challenge = last_challenge(&link).unwrap_or_default();
    probe(&mut link, "auth-garbage", &[("authorization", Some(b"Bearer garbage"))]).await;
    let session: [Header<'_>; 2] = [("authorization", None), ("mcp-session-id", Some(SESSION))];
    probe(&mut link, "auth-session", &session).await;
    link.ask("GET", "auth-get", None, &[("authorization", None)]).await;
    link.ask("DELETE", "auth-delete", None, &session).await;
    let message = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let body = Bytes::from(message.to_string());
    link.send_and_wait(Send { label: "auth-notification".to_owned(), body, headers: &session, id: None }).await;
    let query = with_query(url, "access_token", "garbage");
    link.ask("GET", "auth-query", Some(&query), &[("authorization", None)]).await;
    let named = challenge.parameter("resource_metadata");
    let usual = resource_metadata_urls(url, None).into_iter().filter(|place| Some(place.as_str()) != named);
    let candidates: Vec<String> = named.map(str::to_owned).into_iter().chain(usual).collect();
    let document = fetch(&mut link, "auth-resource", &candidates).await;
    let metadata = document.as_ref().map(ResourceMetadata::read).unwrap_or_default();
    let issuer = metadata.authorization_servers.first();
    if let Some(issuer) = issuer {
        fetch(&mut link, &format!("auth-server:{issuer}"), &server_metadata_urls(issuer)).await;
    }
    // Tokens that say the right things and are not signed.
    for (name, expiry) in [("future", 4_102_444_800_u64), ("past", 1_000_000_000)] {
        let resource = metadata.resource.as_ref().unwrap_or(url);
        let claims = json!({"iss": issuer, "aud": resource, "sub": "mcprove", "exp": expiry});
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let token = format!("Bearer {}.{}.", encode(&json!({"alg": "none", "typ": "JWT"})), encode(&claims));
        let label = format!("auth-unsigned:{name}");
        probe(&mut link, &label, &[("authorization", Some(token.as_bytes()))]).await;
    }
    Ok(Some(link.close().await))
}

/// The challenge of the last response that has one.
pub(super) fn last_challenge(link: &Link) -> Option<Challenge> {
    let entries = link.recording.entries.iter().rev();
    let mut challenges = entries.filter_map(|entry| match &entry.what {
        What::ResponseHead { headers, .. } => {
            let values = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"));
            bearer_challenge(values.map(|(_, value)| value.as_str()))
        }
        _ => None,
    });
    challenges.next()
}

/// A URL with one more pair in its query.
pub(super) fn with_query(url: &str, name: &str, value: &str) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}{name}={value}")
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
