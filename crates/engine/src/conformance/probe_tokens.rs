//! Authorization with a login: tokens that are good, and tokens that a server must refuse.
//!
//! With a test issuer (`mcprove mock --issuer`) that the server trusts, tokens with any claims can be made. With the login
//! of a person, there is one token, and what can be done to it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use mcprove_judge::conformance::{Payload, Recording, What};
use mcprove_model::oauth::{ResourceMetadata, resource_metadata_urls};
use mcprove_model::{Revision, is_unreserved, percent_encoded};
use mcprove_wire::oauth::decode_claims;
use mcprove_wire::{HttpRoute, RawReply, RawRequest, Tokens, send_raw};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::link::{Endpoint, Link, REPLIES};
use super::probe_auth::{first_message, last_challenge, probe, with_query};
use super::{ProbeOptions, Scene};

/// Maximum size of an answer of the issuer.
const LIMIT: usize = 256 << 10;

/// Where the tokens of the tests come from.
#[derive(Clone, Debug, Default)]
pub struct TokenProbe {
    /// The test issuer.
    pub issuer: Option<String>,
    /// The tokens of this process: those that are made here must not be shown.
    pub tokens: Tokens,
}

/// The endpoint with a token of the test issuer, if there is one and the user gives no other.
pub async fn authorized(endpoint: Endpoint, options: &ProbeOptions) -> Result<Endpoint, String> {
    let Some(wanted) = options.tokens.as_ref().filter(|wanted| wanted.issuer.is_some()) else { return Ok(endpoint) };
    let Endpoint::Http { route, url, mut headers } = endpoint else { return Ok(endpoint) };
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
        let bare = Endpoint::Http { route: route.clone(), url: url.clone(), headers: headers.clone() };
        let mut link = Link::open(&bare, "tokens", Revision::NEWEST_LEGACY, options.pace, &options.memory)?;
        probe(&mut link, "token-none", &[]).await;
        let scope = challenged_scope(&link);
        link.close().await;
        let issuer = Issuer { route: &route, wanted, patience: options.pace.timeout };
        let claims = json!({"aud": issuer.resource(&url).await, "scope": scope});
        headers.push(("authorization".to_owned(), format!("Bearer {}", issuer.mint(&claims).await?)));
    }
    Ok(Endpoint::Http { route, url, headers })
}

pub(super) async fn run(scene: &Scene<'_>, wanted: &TokenProbe) -> Result<Option<Recording>, String> {
    let Endpoint::Http { route, url, headers } = scene.endpoint else { return Ok(None) };
    let mut link = scene.open("tokens")?;
    probe(&mut link, "token-none", &[("authorization", None)]).await;
    let scope = challenged_scope(&link);
    let issuer = Issuer { route, wanted, patience: scene.options.pace.timeout };
    let given = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    let given = given.and_then(|(_, value)| value.split_once(' ')).map(|(_, token)| token.to_owned());
    let resource = issuer.resource(url).await;
    let claims = json!({"aud": resource, "scope": scope});
    let good = match &wanted.issuer {
        Some(_) => issuer.mint(&claims).await?,
        None => match given {
            Some(token) => token,
            None => return Ok(Some(link.close().await)),
        },
    };
    present(&mut link, "token-good", &good).await;
    let session = link.session.take();
    present(&mut link, "token-tampered", &tampered(&good)).await;
    let query = with_query(url, "access_token", &percent_encoded(&good, is_unreserved));
    let message = first_message(&mut link);
    let (usual, payload) = (link.usual_headers(&message), Payload::new(Bytes::from(message.to_string())));
    let exchange = link.post("POST", "token-query", usual, &[("authorization", None)], Some(payload), Some(&query));
    link.reply(&message["id"], exchange, link.pace.timeout).await;
    link.session = None;
    if wanted.issuer.is_none() {
        return Ok(Some(link.close().await));
    }
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        claims
    };
    let other = issuer.mint(&with("aud", json!("https://other.example.com/mcp"))).await?;
    present(&mut link, "token-audience", &other).await;
    let expired = issuer.mint(&with("exp", json!(1_000_000_000))).await?;
    present(&mut link, "token-expired", &expired).await;
    if scope.is_some() {
        let narrow = issuer.mint(&with("scope", json!("mcprove:nothing"))).await?;
        present(&mut link, "token-scope", &narrow).await;
    }
    let revoked = issuer.mint(&claims).await?;
    issuer.revoke(&revoked).await;
    present(&mut link, "token-revoked", &revoked).await;
    if let Some(session) = session {
        // The session of one user with the token of another.
        let stranger = issuer.mint(&with("sub", json!("mcprove-stranger"))).await?;
        let (token, id) = (format!("Bearer {stranger}"), json!(link.fresh_id()));
        let message = link.message(&id, "ping", json!({}));
        let headers = [("authorization", Some(token.as_bytes())), ("mcp-session-id", Some(session.as_bytes()))];
        link.exchange("token-session", &message, &headers).await;
    }
    Ok(Some(link.close().await))
}

async fn present(link: &mut Link, label: &str, token: &str) {
    let header = format!("Bearer {token}");
    // The first request of a session; the good one's session is used later.
    link.session = None;
    probe_keeping_session(link, label, header.as_bytes()).await;
}

async fn probe_keeping_session(link: &mut Link, label: &str, header: &[u8]) {
    let before = link.recording.entries.len();
    probe(link, label, &[("authorization", Some(header))]).await;
    let opened = link.recording.entries[before..].iter().find_map(|entry| match &entry.what {
        What::ResponseHead { headers, .. } => {
            headers.iter().find(|(name, _)| name == "mcp-session-id").map(|(_, value)| value.clone())
        }
        _ => None,
    });
    link.session = opened;
}

/// The scope that the last response asks for.
fn challenged_scope(link: &Link) -> Option<String> {
    last_challenge(link)?.parameter("scope").map(str::to_owned)
}

/// Another token with the same signature: with one more claim, or with another character where it cannot be read. A JWT must
/// stay readable, so that only its signature gives it away.
fn tampered(token: &str) -> String {
    if let (Some((_, mut claims)), [header, _, signature]) =
        (decode_claims(token), token.split('.').collect::<Vec<_>>().as_slice())
    {
        claims["mcprove"] = "changed".into();
        return format!("{header}.{}.{signature}", URL_SAFE_NO_PAD.encode(claims.to_string()));
    }
    let at = match token.split('.').collect::<Vec<_>>().as_slice() {
        // In the middle of the claims of a JWT.
        [header, claims, _] => header.len() + 1 + claims.len() / 2,
        _ => token.len() / 2,
    };
    let swap = |(position, character): (usize, char)| match character {
        'A' if position == at => 'B',
        _ if position == at => 'A',
        other => other,
    };
    token.char_indices().map(swap).collect()
}

/// The test issuer, and the documents of the server.
struct Issuer<'i> {
    route: &'i HttpRoute,
    wanted: &'i TokenProbe,
    patience: std::time::Duration,
}

impl Issuer<'_> {
    /// The audience that the server publishes; its URL otherwise.
    async fn resource(&self, url: &str) -> String {
        for place in resource_metadata_urls(url, None) {
            let document = self.ask("GET", &place, "", "").await.unwrap_or_default();
            if let Some(resource) = ResourceMetadata::read(&document).resource {
                return resource;
            }
        }
        url.to_owned()
    }

    /// A token with these claims.
    async fn mint(&self, claims: &Value) -> Result<String, String> {
        let base = self.wanted.issuer.as_deref().unwrap_or_default().trim_end_matches('/');
        let place = format!("{base}/mint");
        let mut claims = claims.clone();
        if let Some(fields) = claims.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        let reply = self.ask("POST", &place, "application/json", &claims.to_string()).await?;
        let token = reply["access_token"].as_str();
        let token = token.ok_or_else(|| {
            format!("`{place}` makes no tokens: give `--test-issuer` the URL of `mcprove mock --issuer`")
        })?;
        self.wanted.tokens.hide(token);
        Ok(token.to_owned())
    }

    async fn revoke(&self, token: &str) {
        let base = self.wanted.issuer.as_deref().unwrap_or_default().trim_end_matches('/');
        let form = format!("token={}", percent_encoded(token, is_unreserved));
        let kind = "application/x-www-form-urlencoded";
        // Whether it worked shows when the token is used.
        let _ = self.ask("POST", &format!("{base}/revoke"), kind, &form).await;
    }

    async fn ask(&self, method: &str, url: &str, kind: &str, body: &str) -> Result<Value, String> {
        let headers =
            if kind.is_empty() { Vec::new() } else { vec![("content-type".to_owned(), kind.as_bytes().to_vec())] };
        let body = Bytes::from(body.to_owned());
        let request = RawRequest { method: method.to_owned(), url: url.to_owned(), headers, body };
        let (sender, mut replies) = mpsc::channel(REPLIES);
        let exchange = send_raw(self.route.clone(), request, 0, LIMIT, sender);
        let waited = timeout(self.patience, async {
            while let Some((_, reply)) = replies.recv().await {
                match reply {
                    RawReply::Body(bytes) => return Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
                    RawReply::Failed(why) => return Err(format!("`{url}`: {why}")),
                    RawReply::Ended => break,
                    RawReply::Head { .. } | RawReply::Event(_) => {}
                }
            }
            Ok(Value::Null)
        });
        let answered = waited.await;
        exchange.abort();
        answered.unwrap_or_else(|_| Err(format!("`{url}` does not answer")))
    }
}

#[cfg(test)]
mod tests {
    use mcprove_wire::oauth::{JwtKey, decode_claims, verify_es256};
    use serde_json::json;

    use super::tampered;

    #[test]
    fn a_tampered_token_differs_in_its_claims_alone() {
        let key = JwtKey::generate();
        let token = key.sign(json!({"typ": "JWT"}), &json!({"sub": "me", "jti": "1"}));
        let changed = tampered(&token);
        let (_, claims) = decode_claims(&changed).expect("it can be read");
        assert_eq!(claims, json!({"sub": "me", "jti": "1", "mcprove": "changed"}));
        assert_eq!(changed.rsplit('.').next(), token.rsplit('.').next());
        assert!(!verify_es256(&changed, &key.public_jwk()));
        assert_eq!(tampered("aaa.bbbb.ccc"), "aaa.bbAb.ccc");
        assert_eq!(tampered("opaque"), "opaAue");
        assert_ne!(tampered("AAAA"), "AAAA");
    }
}
