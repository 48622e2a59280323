//! Servers that break one rule of the protocol: the conforming profile, and a mutation of what goes in or out.
//!
//! A mutation wraps a correct mock. It sees every message on its way in and out, and over HTTP every request and response,
//! and changes what its rule is about and nothing else.

mod inward;
mod outward;
mod table;
mod web;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcprove_model::{Revision, SourceFile};
use serde_json::{Value, json};

pub(crate) use table::issuer_fault;
pub use table::{MUTATIONS, Mutation};

pub(crate) use web::Web;

use crate::mock::Offer;

/// The conforming profile.
pub fn conforming() -> Offer {
    let source = SourceFile::new("profile.yml".to_owned(), include_str!("profile.yml").to_owned());
    let (offer, findings) = crate::load::read(&source);
    offer.unwrap_or_else(|| unreachable!("the profile is valid: {findings:?}"))
}

/// A mutation at work. Clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    /// The name of the mutation; empty for none.
    name: &'static str,
    state: Arc<Mutex<State>>,
}

/// State of a mutation.
#[derive(Debug, Default)]
struct State {
    /// Requests by id, for what is done to their replies.
    requests: HashMap<String, Value>,
    connections: u64,
    /// The connection that listed tools first.
    home: Option<u64>,
    /// The capabilities of the client of the latest handshake.
    client: Value,
    is_modern: bool,
    has_called: bool,
    lists: u64,
    states: Vec<String>,
    /// The number of calls of each tool.
    calls: HashMap<String, usize>,
    sessions: Vec<(String, String)>,
}

/// Fate of an incoming message.
#[derive(Debug)]
pub(crate) enum Inward {
    /// It goes on to the mock.
    Pass(Value),
    /// It is answered with these, and the mock does not see it.
    Answer(Vec<Value>),
    /// The server dies.
    Die,
}

impl Mutant {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, state: Arc::default() }
    }

    fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// True if there is nothing to do.
    pub(crate) fn is_none(&self) -> bool {
        self.name.is_empty()
    }

    /// True if the server goes on when its input ends.
    pub(crate) fn outlives_input(&self) -> bool {
        self.is("ignores-eof")
    }

    /// Output written before anything else.
    pub(crate) fn greeting(&self) -> Option<&'static [u8]> {
        match self.name {
            "banner" => Some(b"Server ready\n"),
            "stray-json" => Some(b"{\"level\":\"info\",\"msg\":\"ready\"}\n"),
            _ => None,
        }
    }

    /// A message as it is written.
    pub(crate) fn line(&self, message: &Value) -> serde_json::Result<Vec<u8>> {
        match self.name {
            "pretty-prints" if message["result"]["prompts"].is_array() => serde_json::to_vec_pretty(message),
            _ => serde_json::to_vec(message),
        }
    }

    /// True if the server ignores SIGTERM.
    pub(crate) fn ignores_sigterm(&self) -> bool {
        self.is("ignores-sigterm")
    }

    /// Begins a connection, and gives it its number.
    pub(crate) fn connect(&self) -> u64 {
        let mut state = self.state();
        state.connections += 1;
        state.connections
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self, reply: &Value) -> Option<Value> {
        self.state().requests.get(&reply.get("id")?.to_string()).cloned()
    }
}

/// A result as the revision of a request wants it.
fn result(request: &Value, mut result: Value) -> Value {
    let is_modern =
        request.pointer("/params/_meta").is_some_and(|meta| meta.get(crate::era::PROTOCOL_VERSION).is_some());
    if is_modern {
        result["resultType"] = json!("complete");
        result["_meta"] = json!({crate::era::SERVER_INFO: {"name": "conformance-profile", "version": "1.0.0"}});
    }
    if is_modern && request["method"] == "resources/read" {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("public");
    }
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

fn error(request: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})
}

/// The newest revision.
pub(crate) fn newest() -> &'static str {
    Revision::NEWEST.as_str()
}
