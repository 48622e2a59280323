//! An authorization server for tests: metadata, registration, authorization, tokens, keys, introspection, revocation.
//!
//! Every user is logged in and approved, and everything can be broken in one way at a time ([`ISSUER_FAULTS`]).

mod documents;
mod endpoints;
mod faults;
mod guard;
mod state;
mod tokens;

use std::time::Duration;

use bytes::Bytes;
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use mcprove_model::oauth::query_pairs;
use mcprove_wire::oauth::JwtKey;
use serde_json::Value;

pub use faults::{ISSUER_FAULTS, IssuerFault};
use state::State;

/// Time that a slow token endpoint takes: longer than clients wait.
const SLOW: Duration = Duration::from_secs(30);

/// Options of an issuer.
#[derive(Clone, Debug)]
pub struct IssuerOptions {
    /// Names of its faults.
    pub faults: Vec<&'static str>,
    /// The scope that the protected endpoint asks for.
    pub scope: String,
    /// Tools that take one more scope.
    pub tool_scopes: Vec<(String, String)>,
    /// Lifetime of access tokens.
    pub lifetime: Duration,
    /// Clients that are registered already, with their secrets.
    pub clients: Vec<(String, Option<String>)>,
}

impl Default for IssuerOptions {
    fn default() -> Self {
        Self {
            faults: Vec::new(),
            scope: "mcp".to_owned(),
            tool_scopes: Vec::new(),
            lifetime: Duration::from_hours(1),
            clients: Vec::new(),
        }
    }
}

/// An authorization server, and the guard of the endpoint next to it.
#[derive(Debug)]
pub(crate) struct Issuer {
    options: IssuerOptions,
    /// Its URL.
    base: String,
    key: JwtKey,
    state: State,
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct IssuerReply {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) kind: &'static str,
    pub(crate) body: String,
}

impl IssuerReply {
    fn json(status: u16, value: &Value) -> Self {
        let headers = vec![("cache-control", "no-store".to_owned())];
        Self { status: status_of(status), headers, kind: "application/json", body: value.to_string() }
    }

    fn text(status: u16, text: &str) -> Self {
        Self {
            status: status_of(status),
            headers: Vec::new(),
            kind: "text/plain; charset=utf-8",
            body: text.to_owned(),
        }
    }

    fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}

fn status_of(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A request to one of the endpoints.
struct Ask<'a> {
    /// The pairs of the query.
    query: Vec<(String, String)>,
    /// The pairs of the form.
    form: Vec<(String, String)>,
    head: &'a Parts,
    body: &'a Bytes,
}

impl Ask<'_> {
    fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn form(&self, name: &str) -> Option<&str> {
        self.form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Issuer {
    /// An issuer at a URL.
    pub(crate) fn new(base: &str, options: &IssuerOptions) -> Self {
        let state = State::new(&options.clients);
        Self { options: options.clone(), base: base.to_owned(), key: JwtKey::generate(), state }
    }

    fn has(&self, fault: &str) -> bool {
        self.options.faults.contains(&fault)
    }

    /// The answer to a request, unless it is for the MCP endpoint and may pass.
    pub(crate) async fn answer(&self, head: &Parts, body: &Bytes, endpoint: &str) -> Option<IssuerReply> {
        let path = head.uri.path();
        if path == endpoint {
            return self.guard(head, body);
        }
        let form = match std::str::from_utf8(body) {
            Ok(text) if is_form(head) => query_pairs(text),
            _ => Vec::new(),
        };
        let ask = Ask { query: query_pairs(head.uri.query().unwrap_or_default()), form, head, body };
        if let Some(reply) = self.document(path, endpoint, &ask) {
            return Some(reply);
        }
        let reply = match (head.method == Method::POST, path) {
            (false, "/authorize") => self.authorize(&ask),
            (true, "/token") => {
                if self.has("slow-token") {
                    tokio::time::sleep(SLOW).await;
                }
                self.token(&ask)
            }
            (true, "/register") => self.register(&ask),
            (true, "/introspect") => self.introspect(&ask),
            (true, "/revoke") => self.revoke(&ask),
            (true, "/mint") => self.mint(&ask),
            _ => return None,
        };
        Some(reply)
    }
}

fn is_form(head: &Parts) -> bool {
    let kind = head.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.starts_with("application/x-www-form-urlencoded")
}
