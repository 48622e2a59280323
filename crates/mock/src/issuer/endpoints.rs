//! The endpoints of the issuer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcprove_model::oauth::{query_pairs, split_scopes};
use mcprove_model::{is_unreserved, percent_encoded};
use mcprove_wire::oauth::{code_challenge, decode_claims, random_text};
use serde_json::{Value, json};

use super::state::{Client, Code, Grant};
use super::tokens::now;
use super::{Ask, Issuer, IssuerReply};

/// The person who is logged in, unless a request hints at another.
const SUBJECT: &str = "user-1";

impl Issuer {
    /// Approves every user, and sends the browser back with a code.
    pub(super) fn authorize(&self, ask: &Ask<'_>) -> IssuerReply {
        let (Some(id), Some(redirect)) = (ask.query("client_id"), ask.query("redirect_uri")) else {
            return IssuerReply::text(400, "`client_id` and `redirect_uri` are missing");
        };
        let mut memory = self.state.open();
        let Some(client) = memory.clients.get(id) else {
            return IssuerReply::text(400, "the client is not known: register it first");
        };
        // Never to a place that was not registered.
        if !client.redirect_uris.is_empty() && !client.redirect_uris.iter().any(|known| known == redirect) {
            return IssuerReply::text(400, "`redirect_uri` is not registered for this client");
        }
        let issuer = match () {
            () if self.has("missing-iss") => None,
            () if self.has("wrong-iss") => Some("https://evil.example.com".to_owned()),
            () => Some(self.base.clone()),
        };
        let state = ask.query("state").map(|state| if self.has("wrong-state") { "another" } else { state });
        let mut answer: Vec<(&str, String)> = Vec::new();
        let error = if self.has("denied") {
            Some(("access_denied", "the person said no"))
        } else if ask.query("response_type") != Some("code") {
            Some(("unsupported_response_type", "only `code` is supported"))
        } else if ask.query("code_challenge_method") != Some("S256") || ask.query("code_challenge").is_none() {
            Some(("invalid_request", "PKCE with S256 is required"))
        } else {
            None
        };
        if let Some((error, description)) = error {
            answer.push(("error", error.to_owned()));
            answer.push(("error_description", description.to_owned()));
        } else {
            let code = random_text();
            let asked = ask.query("scope").map(split_scopes);
            let grant = Grant {
                client: id.to_owned(),
                subject: ask.query("login_hint").unwrap_or(SUBJECT).to_owned(),
                scopes: if self.has("no-scope") {
                    Vec::new()
                } else {
                    asked.unwrap_or_else(|| vec![self.options.scope.clone()])
                },
                resource: ask.query("resource").map(str::to_owned),
            };
            let challenge = ask.query("code_challenge").unwrap_or_default().to_owned();
            memory.codes.insert(code.clone(), Code { grant, redirect_uri: redirect.to_owned(), challenge });
            answer.push(("code", code));
        }
        answer.extend(state.map(|state| ("state", state.to_owned())));
        answer.extend(issuer.map(|issuer| ("iss", issuer)));
        let query = answer.iter().map(|(name, value)| format!("{name}={}", percent_encoded(value, is_unreserved)));
        let separator = if redirect.contains('?') { '&' } else { '?' };
        let location = format!("{redirect}{separator}{}", query.collect::<Vec<_>>().join("&"));
        IssuerReply::text(302, "go back").with("location", location)
    }

    /// Issues tokens.
    pub(super) fn token(&self, ask: &Ask<'_>) -> IssuerReply {
        if self.has("token-refused") {
            return refuse(401, "invalid_client", "this client may not have tokens");
        }
        let client = match self.client_of(ask) {
            Ok(client) => client,
            Err(reply) => return reply,
        };
        let mut memory = self.state.open();
        let grant = match ask.form("grant_type") {
            Some("authorization_code") => {
                // A code works once.
                let code = ask.form("code").and_then(|code| memory.codes.remove(code));
                let Some(code) = code.filter(|code| code.grant.client == client) else {
                    return refuse(400, "invalid_grant", "the code is not known, or was used before");
                };
                if ask.form("redirect_uri") != Some(&code.redirect_uri) {
                    return refuse(400, "invalid_grant", "`redirect_uri` is not that of the authorization");
                }
                if ask.form("code_verifier").map(code_challenge).as_ref() != Some(&code.challenge) {
                    return refuse(400, "invalid_grant", "`code_verifier` does not fit the challenge");
                }
                code.grant
            }
            Some("refresh_token") => {
                // Refresh tokens of public clients are rotated: each works once.
                let grant = ask.form("refresh_token").and_then(|token| memory.refresh_tokens.remove(token));
                match grant.filter(|grant| grant.client == client) {
                    Some(grant) => grant,
                    None => return refuse(400, "invalid_grant", "the refresh token is not known, or was used before"),
                }
            }
            Some("client_credentials") => {
                if memory.clients.get(&client).is_none_or(|client| client.secret.is_none()) {
                    return refuse(400, "unauthorized_client", "a client without a secret cannot do this");
                }
                let scopes = ask.form("scope").map_or_else(|| vec![self.options.scope.clone()], split_scopes);
                let resource = ask.form("resource").map(str::to_owned);
                Grant { client: client.clone(), subject: client.clone(), scopes, resource }
            }
            _ => return refuse(400, "unsupported_grant_type", "this grant is not supported"),
        };
        if ask.form("resource").is_some_and(|resource| grant.resource.as_deref() != Some(resource)) {
            return refuse(400, "invalid_target", "`resource` is not that of the authorization");
        }
        let lifetime = i64::try_from(self.options.lifetime.as_secs()).unwrap_or(i64::MAX);
        let mut reply = json!({
            "access_token": self.access_token(&grant, lifetime),
            "token_type": "Bearer",
            "expires_in": lifetime,
            "scope": grant.scopes.join(" "),
        });
        if ask.form("grant_type") != Some("client_credentials") && !self.has("no-refresh") {
            let token = random_text();
            reply["refresh_token"] = token.as_str().into();
            memory.refresh_tokens.insert(token, grant);
        }
        IssuerReply::json(200, &reply)
    }

    /// The client that a request comes from.
    fn client_of(&self, ask: &Ask<'_>) -> Result<String, IssuerReply> {
        let header = ask.head.headers.get("authorization").and_then(|value| value.to_str().ok());
        let basic = header.and_then(|text| text.strip_prefix("Basic "));
        let pair = basic.and_then(|text| STANDARD.decode(text).ok()).and_then(|bytes| String::from_utf8(bytes).ok());
        let decoded = |text: &str| query_pairs(&format!("x={text}")).pop().map(|(_, value)| value).unwrap_or_default();
        let (id, secret) = match pair.as_deref().and_then(|pair| pair.split_once(':')) {
            Some((id, secret)) => (decoded(id), Some(decoded(secret))),
            None => {
                (ask.form("client_id").unwrap_or_default().to_owned(), ask.form("client_secret").map(str::to_owned))
            }
        };
        let memory = self.state.open();
        let is_known = memory.clients.get(&id).is_some_and(|client: &Client| client.secret == secret);
        if is_known {
            Ok(id)
        } else {
            Err(refuse(401, "invalid_client", "the client is not known, or its secret is wrong"))
        }
    }

    /// Registers a client.
    pub(super) fn register(&self, ask: &Ask<'_>) -> IssuerReply {
        if self.has("registration-refused") {
            return refuse(403, "access_denied", "registration is closed");
        }
        let wanted: Value = serde_json::from_slice(ask.body).unwrap_or_default();
        let uris = wanted["redirect_uris"].as_array().cloned().unwrap_or_default();
        let redirect_uris: Vec<String> = uris.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if redirect_uris.is_empty() {
            return refuse(400, "invalid_redirect_uri", "`redirect_uris` is missing");
        }
        let id = random_text();
        let is_public = wanted["token_endpoint_auth_method"] == "none";
        let secret = (!is_public).then(random_text);
        let mut reply = wanted;
        reply["client_id"] = id.as_str().into();
        if let Some(secret) = &secret {
            reply["client_secret"] = secret.as_str().into();
            reply["client_secret_expires_at"] = 0.into();
        }
        self.state.open().clients.insert(id, Client { secret, redirect_uris });
        IssuerReply::json(201, &reply)
    }

    /// Says what a token is good for (RFC 7662).
    pub(super) fn introspect(&self, ask: &Ask<'_>) -> IssuerReply {
        let reply = match self.check(ask.form("token").unwrap_or_default(), None) {
            Ok(mut claims) => {
                claims["active"] = true.into();
                claims
            }
            Err(_) => json!({"active": false}),
        };
        IssuerReply::json(200, &reply)
    }

    /// Revokes a token (RFC 7009); one that is not known is as good as revoked.
    pub(super) fn revoke(&self, ask: &Ask<'_>) -> IssuerReply {
        let token = ask.form("token").unwrap_or_default();
        let mut memory = self.state.open();
        memory.refresh_tokens.remove(token);
        if let Some(id) = decode_claims(token).and_then(|(_, claims)| claims["jti"].as_str().map(str::to_owned)) {
            memory.revoked.insert(id);
        }
        IssuerReply::json(200, &json!({}))
    }

    /// A token with the claims of the request, for tests of servers that trust this issuer.
    pub(super) fn mint(&self, ask: &Ask<'_>) -> IssuerReply {
        let wanted: Value = serde_json::from_slice(ask.body).unwrap_or_default();
        let Some(wanted) = wanted.as_object() else {
            return refuse(400, "invalid_request", "send the claims of the token as a JSON object");
        };
        let now = now();
        let mut claims = json!({
            "iss": self.base, "sub": SUBJECT, "client_id": "minted", "scope": self.options.scope, "jti": random_text(),
            "iat": now, "exp": now + 3600,
        });
        for (name, value) in wanted {
            claims[name.as_str()] = value.clone();
        }
        IssuerReply::json(200, &json!({"access_token": self.signed(&claims)}))
    }
}

fn refuse(status: u16, error: &str, description: &str) -> IssuerReply {
    IssuerReply::json(status, &json!({"error": error, "error_description": description}))
}
