//! Mutations of HTTP requests and responses.

use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use mcprove_wire::oauth::decode_claims;
use serde_json::{Value, json};

use super::{Mutant, newest};

/// The token that a protected server takes.
const TOKEN: &str = "Bearer mcprove-good-token";

/// Fate of a request.
pub(crate) enum Web {
    /// It goes on.
    Pass,
    /// It is never answered.
    Hang,
    /// It is answered with this.
    Answer(StatusCode, Vec<(&'static str, String)>, String),
}

impl Mutant {
    /// Changes a request.
    pub(crate) fn request_in(&self, head: &mut Parts, body: &Bytes) -> Web {
        let message: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let named = |name: &str| message["params"][name].as_str().map(str::to_owned);
        if self.name.starts_with("auth-")
            && let Some(answer) = self.guard(head, &message)
        {
            return answer;
        }
        let headers = &mut head.headers;
        match self.name {
            "any-origin" => {
                headers.remove("origin");
            }
            "get-404" if head.method == Method::GET => {
                return Web::Answer(StatusCode::NOT_FOUND, Vec::new(), String::new());
            }
            "any-version" => {
                let is_named = message
                    .pointer("/params/_meta")
                    .is_some_and(|meta| meta.get(crate::era::PROTOCOL_VERSION).is_some());
                if is_named && headers.get("mcp-protocol-version").is_some_and(|value| value == "1900-01-01") {
                    set(headers, "mcp-protocol-version", newest());
                }
            }
            "version-header-ignored" => {
                let version = message.pointer("/params/_meta").and_then(|meta| meta.get(crate::era::PROTOCOL_VERSION));
                if let Some(version) = version.and_then(Value::as_str) {
                    set(headers, "mcp-protocol-version", version);
                }
            }
            "method-header-ignored" => {
                if let Some(method) = message["method"].as_str() {
                    set(headers, "mcp-method", method);
                }
            }
            "name-header-ignored" => {
                if let Some(name) = named("name").or_else(|| named("uri")) {
                    set(headers, "mcp-name", &name);
                }
            }
            "upper-values" => {
                let lower =
                    headers.get("mcp-method").and_then(|value| value.to_str().ok()).map(str::to_ascii_lowercase);
                if let Some(lower) = lower {
                    set(headers, "mcp-method", &lower);
                }
            }
            "param-header-ignored" => {
                headers.remove("mcp-param-region");
                if let Some(region) = message["params"]["arguments"]["region"].as_str() {
                    set(headers, "mcp-param-region", region);
                }
            }
            "any-version-header" if headers.get("mcp-protocol-version").is_some_and(|value| value == "1900-01-01") => {
                headers.remove("mcp-protocol-version");
            }
            "no-session-needed" if headers.get("mcp-session-id").is_none() && message["method"] != "initialize" => {
                let last = self.state().sessions.last().map(|(_, id)| id.clone());
                if let Some(last) = last {
                    set(headers, "mcp-session-id", &last);
                }
            }
            "counter-sessions" => {
                let shown = headers.get("mcp-session-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
                let real = shown.and_then(|shown| {
                    self.state().sessions.iter().find(|(known, _)| *known == shown).map(|(_, real)| real.clone())
                });
                if let Some(real) = real {
                    set(headers, "mcp-session-id", &real);
                }
            }
            "drops-concurrent" if message["id"] == "many-3" => return Web::Hang,
            _ => {}
        }
        Web::Pass
    }

    /// A protected server: only the right token passes, and its metadata is public.
    fn guard(&self, head: &Parts, message: &Value) -> Option<Web> {
        let host = head.headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1");
        let origin = format!("http://{host}");
        let found = |document: Value| {
            let kind = vec![("content-type", "application/json".to_owned())];
            Some(Web::Answer(StatusCode::OK, kind, document.to_string()))
        };
        let path = head.uri.path();
        if path.starts_with("/.well-known/oauth-protected-resource") && !self.is("auth-no-metadata") {
            let methods = if self.is("auth-query") { json!(["header", "query"]) } else { json!(["header"]) };
            let resource = match self.name {
                "auth-other-resource" => "https://other.example.com/mcp".to_owned(),
                "auth-parent-resource" => origin.clone(),
                _ => format!("{origin}/mcp"),
            };
            return found(json!({"resource": resource, "authorization_servers": [origin],
                                "bearer_methods_supported": methods}));
        }
        if path.starts_with("/.well-known/oauth-authorization-server") {
            let mut document = json!({
                "issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"), "registration_endpoint": format!("{origin}/register"),
                "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
            });
            if self.is("auth-no-pkce") {
                document["code_challenge_methods_supported"] = json!([]);
            }
            if self.is("auth-http-registration") {
                document["registration_endpoint"] = json!("http://login.example.com/register");
            }
            return found(document);
        }
        if path.starts_with("/.well-known/") {
            return Some(Web::Answer(StatusCode::NOT_FOUND, Vec::new(), String::new()));
        }
        if head.headers.get("authorization").is_some_and(|token| token == TOKEN) {
            return None;
        }
        if self.is("auth-open-notifications") && message.get("method").is_some() && message.get("id").is_none() {
            return Some(Web::Answer(StatusCode::ACCEPTED, Vec::new(), String::new()));
        }
        let token = head.headers.get("authorization").and_then(|value| value.to_str().ok());
        let decoded = token.and_then(|token| decode_claims(token.strip_prefix("Bearer ")?));
        let is_for_us = decoded.is_some_and(|(header, claims)| {
            header["alg"] == "none" && claims["aud"] == format!("{origin}/mcp") && claims["iss"] == origin
        });
        if self.is("auth-unsigned") && is_for_us {
            return None;
        }
        let status = if self.is("auth-403") { StatusCode::FORBIDDEN } else { StatusCode::UNAUTHORIZED };
        let metadata = format!("{origin}/.well-known/oauth-protected-resource/mcp");
        let challenge = if self.is("auth-no-metadata") {
            "Bearer scope=\"tools\"".to_owned()
        } else {
            format!("Bearer scope=\"tools\", resource_metadata=\"{metadata}\"")
        };
        // A proxy in front of it has a challenge of its own.
        let proxy = ("www-authenticate", "Basic realm=\"a, b\"".to_owned());
        Some(Web::Answer(status, vec![proxy, ("www-authenticate", challenge)], String::new()))
    }

    /// Changes the head of a response.
    pub(crate) fn response_out(
        &self,
        request: &Parts,
        message: &Value,
        status: &mut StatusCode,
        headers: &mut HeaderMap,
    ) {
        match self.name {
            "text-plain" if headers.get("content-type").is_some_and(|kind| kind == "application/json") => {
                set(headers, "content-type", "text/plain");
            }
            "notification-200" if *status == StatusCode::ACCEPTED => *status = StatusCode::OK,
            "unknown-200" if message["method"] == "x/unknown" => *status = StatusCode::OK,
            "dead-session-400"
                if *status == StatusCode::NOT_FOUND && request.headers.contains_key("mcp-session-id") =>
            {
                *status = StatusCode::BAD_REQUEST;
            }
            "mints-session" if message["method"] == "tools/list" => {
                set(headers, "mcp-session-id", "0123456789abcdef0123456789abcdef");
            }
            "no-session-needed" | "counter-sessions" => {
                let real = headers.get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
                if let Some(real) = real {
                    let mut state = self.state();
                    let shown = format!("session-{}", state.sessions.len() + 1);
                    state.sessions.push((shown.clone(), real));
                    if self.is("counter-sessions") {
                        set(headers, "mcp-session-id", &shown);
                    }
                }
            }
            _ => {}
        }
    }

    /// True if streams stay open after their last event.
    pub(crate) fn keeps_streams_open(&self) -> bool {
        self.is("open-stream")
    }

    /// The id of every event, if events have one.
    pub(crate) fn event_id(&self) -> Option<&'static str> {
        self.is("repeated-event-ids").then_some("1")
    }

    /// The first message of a GET stream, if it is wrong.
    pub(crate) fn on_get(&self) -> Option<Value> {
        self.is("reply-on-get").then(|| json!({"jsonrpc": "2.0", "id": 1, "result": {}}))
    }
}

fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}
