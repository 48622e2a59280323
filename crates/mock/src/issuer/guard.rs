//! The guard of the MCP endpoint: who may pass, and the refusals of the others.

use std::fmt::Write as _;

use bytes::Bytes;
use hyper::http::request::Parts;
use mcprove_model::oauth::{query_pairs, split_scopes};
use serde_json::Value;

use super::{Issuer, IssuerReply};

impl Issuer {
    /// A refusal, or nothing if the request may pass.
    pub(super) fn guard(&self, head: &Parts, body: &Bytes) -> Option<IssuerReply> {
        let path = head.uri.path();
        let Some(token) = self.token_of(head) else { return Some(self.challenge(path, None)) };
        // With its host as the resource, the audience is the host.
        let resource = if self.has("parent-resource") { self.base.clone() } else { format!("{}{path}", self.base) };
        let claims = match self.check(&token, Some(&resource)) {
            Ok(claims) => claims,
            Err(flaw) => return Some(self.challenge(path, Some(&("invalid_token", flaw.what(), None)))),
        };
        let granted = split_scopes(claims["scope"].as_str().unwrap_or_default());
        let wanted = self.wanted_scopes(body);
        if !self.has("ignores-scope") && wanted.iter().any(|scope| !granted.contains(scope)) {
            let scope = Some(wanted.join(" ")).filter(|_| !self.has("hides-scope"));
            return Some(self.challenge(path, Some(&("insufficient_scope", "the token lacks a scope", scope))));
        }
        let subject = claims["sub"].as_str().unwrap_or_default();
        let session = head.headers.get("mcp-session-id").and_then(|id| id.to_str().ok())?;
        if self.has("shares-sessions") {
            return None;
        }
        let mut memory = self.state.open();
        let owner = memory.sessions.entry(session.to_owned()).or_insert_with(|| subject.to_owned());
        let is_owner = owner == subject;
        drop(memory);
        // To others, the session does not exist.
        (!is_owner).then(|| IssuerReply::text(404, "there is no such session"))
    }

    /// Remembers whose session it is.
    pub(crate) fn bind_session(&self, head: &Parts, session: &str) {
        let token = self.token_of(head).unwrap_or_default();
        let Some((_, claims)) = mcprove_wire::oauth::decode_claims(&token) else { return };
        let subject = claims["sub"].as_str().unwrap_or_default().to_owned();
        self.state.open().sessions.insert(session.to_owned(), subject);
    }

    fn token_of(&self, head: &Parts) -> Option<String> {
        let header = head.headers.get("authorization").and_then(|value| value.to_str().ok());
        let bearer =
            header.and_then(|text| text.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let in_query = || {
            let pairs = query_pairs(head.uri.query().unwrap_or_default());
            pairs.into_iter().find(|(name, _)| name == "access_token").map(|(_, value)| value)
        };
        match bearer {
            Some((_, token)) => Some(token.trim().to_owned()),
            None if self.has("query-tokens") || self.has("accepts-query") => in_query(),
            None => None,
        }
    }

    /// The scopes that a message takes.
    fn wanted_scopes(&self, body: &Bytes) -> Vec<String> {
        let mut wanted = vec![self.options.scope.clone()];
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        if message["method"] == "tools/call" {
            let tool = message["params"]["name"].as_str().unwrap_or_default();
            let scopes = self.options.tool_scopes.iter().filter(|(name, _)| name == tool);
            wanted.extend(scopes.map(|(_, scope)| scope.clone()));
        }
        wanted
    }

    fn challenge(&self, path: &str, error: Option<&(&str, &str, Option<String>)>) -> IssuerReply {
        if error.is_none() && self.has("login-page") {
            return IssuerReply::text(302, "log in").with("location", format!("{}/login", self.base));
        }
        let is_scope = matches!(error, Some(&("insufficient_scope", ..)));
        let status = if is_scope || error.is_none() && self.has("forbidden") { 403 } else { 401 };
        let reply = IssuerReply::text(status, "a token is wanted");
        if self.has("no-challenge") {
            return reply;
        }
        if self.has("basic-challenge") {
            return reply.with("www-authenticate", "Basic realm=\"mcp\"".to_owned());
        }
        let place = format!("/.well-known/oauth-protected-resource{path}");
        let metadata = match () {
            () if self.has("unquoted-challenge") => format!("resource_metadata={}{place}", self.base),
            () if self.has("relative-challenge") => format!("resource_metadata=\"{place}\""),
            () if self.has("no-resource-metadata") || self.has("appended-metadata") => "realm=\"mcp\"".to_owned(),
            () => format!("resource_metadata=\"{}{place}\"", self.base),
        };
        let mut text = format!("Bearer {metadata}");
        let scope = match error {
            None => Some(self.options.scope.clone()),
            Some((_, _, scope)) => scope.clone(),
        };
        if let Some((error, description, _)) = error {
            let _ = write!(text, ", error=\"{error}\", error_description=\"{description}\"");
        }
        if let Some(scope) = scope {
            let _ = write!(text, ", scope=\"{scope}\"");
        }
        reply.with("www-authenticate", text)
    }
}
