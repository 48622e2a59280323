//! Access tokens of the issuer: signed, for one resource, and checked.

use std::time::{SystemTime, UNIX_EPOCH};

use mcprove_wire::oauth::{decode_claims, random_text, verify_es256};
use serde_json::{Value, json};

use super::Issuer;
use super::state::Grant;

/// Why a token is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenFlaw {
    Malformed,
    Signature,
    Issuer,
    Audience,
    Expired,
    Revoked,
}

impl TokenFlaw {
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Malformed => "the token is not a JWT",
            Self::Signature => "the signature is wrong",
            Self::Issuer => "the token is from another issuer",
            Self::Audience => "the token is for another server",
            Self::Expired => "the token has expired",
            Self::Revoked => "the token was revoked",
        }
    }
}

/// Seconds since the Unix epoch.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

impl Issuer {
    /// A signed access token for a grant.
    pub(super) fn access_token(&self, grant: &Grant, lifetime: i64) -> String {
        let audience = match (&grant.resource, self.has("wrong-audience")) {
            (_, true) => Some("https://other.example.com/mcp"),
            (Some(resource), false) => Some(resource.as_str()),
            (None, false) => None,
        };
        let now = now();
        let lifetime = if self.has("expired-tokens") { -60 } else { lifetime };
        let claims = json!({
            "iss": self.base,
            "sub": grant.subject,
            "aud": audience,
            "client_id": grant.client,
            "scope": grant.scopes.join(" "),
            "jti": random_text(),
            "iat": now,
            "exp": now + lifetime,
        });
        self.signed(&claims)
    }

    /// A token with any claims.
    pub(super) fn signed(&self, claims: &Value) -> String {
        self.key.sign(json!({"typ": "at+jwt", "kid": self.key.thumbprint()}), claims)
    }

    /// The claims of a token that is good for a resource.
    pub(super) fn check(&self, token: &str, resource: Option<&str>) -> Result<Value, TokenFlaw> {
        let Some((header, claims)) = decode_claims(token) else { return Err(TokenFlaw::Malformed) };
        let is_unchecked = self.has("accepts-tampered") && header["alg"] == "ES256";
        if !is_unchecked && !verify_es256(token, &self.key.public_jwk()) {
            return Err(TokenFlaw::Signature);
        }
        if claims["iss"] != self.base.as_str() {
            return Err(TokenFlaw::Issuer);
        }
        let is_for = |resource: &str| match &claims["aud"] {
            Value::Array(all) => all.iter().any(|one| one == resource),
            one => one == resource,
        };
        if resource.is_some_and(|resource| !is_for(resource)) && !self.has("accepts-other-audience") {
            return Err(TokenFlaw::Audience);
        }
        if claims["exp"].as_i64().is_none_or(|at| at <= now()) && !self.has("accepts-expired") {
            return Err(TokenFlaw::Expired);
        }
        let id = claims["jti"].as_str().unwrap_or_default();
        if self.state.open().revoked.contains(id) && !self.has("accepts-revoked") {
            return Err(TokenFlaw::Revoked);
        }
        Ok(claims)
    }
}
