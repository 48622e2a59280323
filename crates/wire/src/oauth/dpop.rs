//! Proofs that the sender of a token has its key (RFC 9449).

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde_json::json;

use super::jwt::JwtKey;
use super::random::random_text;

/// Claims of the proof of one request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof<'p> {
    pub(super) method: &'p str,
    pub(super) url: &'p str,
    /// The token that the request carries.
    pub(super) token: Option<&'p str>,
    /// The nonce that the receiver asked for.
    pub(super) nonce: Option<&'p str>,
}

impl Proof<'_> {
    /// The value of the `DPoP` header.
    pub(super) fn signed(&self, key: &JwtKey) -> String {
        let place = self.url.split(['?', '#']).next().unwrap_or_default();
        let mut claims = json!({"jti": random_text(), "htm": self.method, "htu": place, "iat": unix_seconds()});
        if let Some(token) = self.token {
            claims["ath"] = URL_SAFE_NO_PAD.encode(digest(&SHA256, token.as_bytes())).into();
        }
        if let Some(nonce) = self.nonce {
            claims["nonce"] = nonce.into();
        }
        key.sign(json!({"typ": "dpop+jwt", "jwk": key.public_jwk()}), &claims)
    }
}

/// Seconds since the Unix epoch.
pub(super) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
