//! A login as it is kept between commands.

use serde::{Deserialize, Serialize};

use super::token_reply::TokenReply;

/// Longest time before its expiry at which a token is renewed, in seconds.
const MARGIN: u64 = 30;

/// A client as an authorization server knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredClient {
    /// Its id.
    pub id: String,
    /// Its secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Its authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_method: Option<String>,
    /// The port of its redirect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_port: Option<u16>,
    /// The scopes that it may ask for; any if none are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// When its secret expires, in seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_expires_at: Option<u64>,
}

impl RegisteredClient {
    /// True if its secret has expired (RFC 7591 section 3.2.1): it has to register again.
    pub fn has_expired(&self, now: u64) -> bool {
        self.secret.is_some() && self.secret_expires_at.is_some_and(|at| at <= now)
    }

    /// True if it may ask for all of these scopes.
    pub fn may_ask_for(&self, scopes: &[String]) -> bool {
        self.scopes.is_empty() || scopes.iter().all(|scope| self.scopes.contains(scope))
    }
}

/// The login at one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoginRecord {
    /// The URL of the server.
    pub server: String,
    /// The audience of the tokens.
    pub resource: String,
    /// The authorization server.
    pub issuer: String,
    /// Where tokens are refreshed.
    pub token_endpoint: String,
    /// Where tokens are revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<String>,
    /// Authentication of clients there, by its metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_auth_methods: Option<Vec<String>>,
    /// The client.
    pub client: RegisteredClient,
    /// The access token; empty once it was refused.
    pub access_token: String,
    /// Its type.
    pub token_type: String,
    /// The refresh token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// When the access token expires, in seconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// When it is renewed, a little earlier: it must still be valid when it arrives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_at: Option<u64>,
    /// The scopes that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// The scopes that were granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<String>,
    /// The key that the tokens are bound to, PKCS #8 in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpop_key: Option<String>,
}

impl LoginRecord {
    /// The same login with new tokens, which were issued at a time in seconds since the Unix epoch.
    #[must_use]
    pub fn with_tokens(self, reply: TokenReply, now: u64) -> Self {
        let until = |margin: u64| reply.expires_in.map(|seconds| now.saturating_add(seconds.saturating_sub(margin)));
        let margin = MARGIN.min(reply.expires_in.unwrap_or(0) / 10);
        Self {
            expires_at: until(0),
            renew_at: until(margin),
            access_token: reply.access_token,
            token_type: reply.token_type,
            refresh_token: reply.refresh_token.or(self.refresh_token),
            granted: reply.scopes.unwrap_or(self.granted),
            ..self
        }
    }

    /// Its secrets, none of which is ever shown.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let all = [
            Some(&self.access_token),
            self.refresh_token.as_ref(),
            self.client.secret.as_ref(),
            self.dpop_key.as_ref(),
        ];
        all.into_iter().flatten().map(String::as_str).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_expire_with_their_secrets() {
        let client = |secret: Option<&str>, secret_expires_at| {
            let secret = secret.map(str::to_owned);
            RegisteredClient { secret, secret_expires_at, ..RegisteredClient::default() }.has_expired(1000)
        };
        assert!(client(Some("s"), Some(1000)));
        assert!(!client(Some("s"), Some(1001)) && !client(Some("s"), None) && !client(None, Some(1)));
    }

    #[test]
    fn tokens_are_renewed_a_little_before_they_expire() {
        let until = |expires_in| {
            let reply = TokenReply { expires_in, ..TokenReply::default() };
            let record = LoginRecord::default().with_tokens(reply, 1000);
            (record.renew_at, record.expires_at)
        };
        assert_eq!(until(Some(3600)), (Some(4570), Some(4600)));
        assert_eq!(until(Some(10)), (Some(1009), Some(1010)));
        assert_eq!(until(None), (None, None));
        // For ever, as some write it.
        assert_eq!(until(Some(u64::MAX)).1, Some(u64::MAX));
    }
}
