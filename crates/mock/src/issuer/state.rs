//! State of an issuer: clients, codes, refresh tokens, and tokens that were revoked.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A grant: who gave which access to which resource.
#[derive(Clone, Debug, Default)]
pub(super) struct Grant {
    pub(super) client: String,
    pub(super) subject: String,
    pub(super) scopes: Vec<String>,
    pub(super) resource: Option<String>,
}

/// A code that was not redeemed yet.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) grant: Grant,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
}

/// A client.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) secret: Option<String>,
    /// Its redirects; any if empty.
    pub(super) redirect_uris: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) clients: HashMap<String, Client>,
    pub(super) codes: HashMap<String, Code>,
    pub(super) refresh_tokens: HashMap<String, Grant>,
    /// Ids of access tokens that were revoked.
    pub(super) revoked: HashSet<String>,
    /// The subject of each session of the protected endpoint.
    pub(super) sessions: HashMap<String, String>,
}

#[derive(Debug)]
pub(super) struct State(Mutex<Memory>);

impl State {
    pub(super) fn new(clients: &[(String, Option<String>)]) -> Self {
        let client = |secret: &Option<String>| Client { secret: secret.clone(), redirect_uris: Vec::new() };
        let clients = clients.iter().map(|(id, secret)| (id.clone(), client(secret))).collect();
        Self(Mutex::new(Memory { clients, ..Memory::default() }))
    }

    pub(super) fn open(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
