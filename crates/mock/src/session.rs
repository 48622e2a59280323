//! One conversation with one client, from the server's side.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcprove_model::Revision;
use mcprove_model::bounded_json::memory_of;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use crate::era::{Caller, SUBSCRIPTION_ID, modern_caller, named_revision};
use crate::manifest::{Change, Level, Manifest, Tool};
use crate::message_sink::{MessageSink, OutgoingMessage};
use crate::methods;
use crate::mock::{Offer, Shared};
use crate::rpc::{Ended, INTERNAL_ERROR, INVALID_REQUEST, Incoming, Refusal, Request, classify};
use crate::tasks::Tasks;

/// Memory for all requests that are not answered yet.
pub(crate) const OPEN_REQUESTS: usize = 64 << 20;
/// Memory of an open request besides its parameters: at most 16,384 are open.
const ROOM_OF_REQUEST: usize = 4 << 10;

/// The work a request makes.
pub(crate) type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Kind of a session's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One client, from its first message to its last.
    Lasting,
    /// Every client of the modern era over HTTP: nothing ties their requests together.
    Stateless,
}

/// An open conversation.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) mock: Arc<Shared>,
    kind: Kind,
    state: Mutex<State>,
    closed: watch::Sender<bool>,
    /// For what belongs to no request.
    general: MessageSink,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// What `initialize` agreed on.
    pub(crate) agreed: Option<Agreed>,
    running: HashMap<String, oneshot::Sender<()>>,
    asked: HashMap<String, oneshot::Sender<Result<Value, Value>>>,
    /// Number of times each answer of each tool was given.
    given: BTreeMap<(String, usize), usize>,
    /// Resources a legacy client subscribed to.
    pub(crate) subscribed: BTreeSet<String>,
    /// Open `subscriptions/listen` requests.
    pub(crate) listeners: Vec<Listener>,
    /// True if the catalog has changed.
    changed: bool,
    /// Recorded exchanges that were given.
    pub(crate) replayed: BTreeSet<usize>,
    pub(crate) tasks: Tasks,
    serial: u64,
}

/// Result of a legacy handshake.
#[derive(Clone, Debug)]
pub(crate) struct Agreed {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Value,
    pub(crate) log_level: Level,
}

/// A client that listens (2026-07-28, "Subscriptions").
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) serial: u64,
    /// The id of its request.
    pub(crate) id: Value,
    pub(crate) wants: Wants,
    pub(crate) sink: MessageSink,
}

/// Subscriptions of a listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wants {
    pub(crate) changes: Vec<Change>,
    pub(crate) tasks: Vec<String>,
}

impl Session {
    pub(crate) fn new(mock: Arc<Shared>, kind: Kind, general: MessageSink) -> Arc<Self> {
        Arc::new(Self { mock, kind, state: Mutex::default(), closed: watch::channel(false).0, general })
    }

    /// The state; never held while anything is waited for.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends everything that waits: the client is gone.
    pub(crate) fn close(&self) {
        let _ = self.closed.send_replace(true);
    }

    /// Ends when the session is closed.
    pub(crate) async fn closed(&self) {
        let mut closed = self.closed.subscribe();
        // The sender lives as long as the session, so this ends only when it is closed.
        let _ = closed.wait_for(|closed| *closed).await;
    }

    /// Waits, but not longer than the client stays.
    pub(crate) async fn pause(&self, duration: Duration) -> Result<(), Ended> {
        tokio::select! {
            biased;
            () = self.closed() => Err(Ended::Cut),
            () = self.mock.clock.sleep(duration) => Ok(()),
        }
    }

    /// Takes a message in. A request makes work that sends its answer to `sink`.
    pub(crate) fn take(self: &Arc<Self>, message: Value, sink: &MessageSink) -> Option<Work> {
        match classify(message) {
            Incoming::Request(request) => self.work(request, sink.clone()),
            Incoming::Notification { method, params } => {
                self.notified(&method, &params);
                None
            }
            Incoming::Reply { id, outcome } => {
                let asked = id.as_str().and_then(|id| self.state().asked.remove(id));
                if let Some(asked) = asked {
                    let _ = asked.send(outcome);
                }
                None
            }
            Incoming::Batch(messages) => self.batch(messages, sink),
            Incoming::Invalid { id, refusal } => {
                sink.send(refused(&id, &refusal));
                None
            }
        }
    }

    fn work(self: &Arc<Self>, request: Request, sink: MessageSink) -> Option<Work> {
        let key = request.id.to_string();
        let Some(open) = self.mock.open.take(ROOM_OF_REQUEST + key.len() + memory_of(&request.params)) else {
            sink.send(refused(&request.id, &Refusal::new(INTERNAL_ERROR, "too many requests are open")));
            return None;
        };
        let (cancel, cancelled) = oneshot::channel();
        if self.kind == Kind::Lasting {
            let mut state = self.state();
            if state.running.contains_key(&key) {
                drop(state);
                let message = format!("the id {key} is in use by a request that is not answered yet");
                sink.send(refused(&request.id, &Refusal::new(INVALID_REQUEST, message)));
                return None;
            }
            state.running.insert(key.clone(), cancel);
        }
        let running = Running { session: Arc::clone(self), key };
        Some(Box::pin(async move {
            let _open = open;
            let outcome = tokio::select! {
                biased;
                Ok(()) = cancelled => return,
                outcome = methods::answer(&running.session, &request, &sink) => outcome,
            };
            // The id is free again before the answer is out, so that it can be used again at once.
            drop(running);
            match outcome {
                Ok(result) => {
                    let message = json!({"jsonrpc": "2.0", "id": request.id, "result": result});
                    sink.send(OutgoingMessage::Reply { message, wrong: None });
                }
                Err(Ended::Refused(refusal)) => sink.send(refused(&request.id, &refusal)),
                Err(Ended::Cut) => {}
            }
        }))
    }

    /// Several messages at once, which one revision knows (2025-03-26, "Batching").
    fn batch(self: &Arc<Self>, messages: Vec<Value>, sink: &MessageSink) -> Option<Work> {
        let revision = self.state().agreed.as_ref().map(|agreed| agreed.revision);
        if revision != Some(Revision::V2025_03_26) || messages.is_empty() {
            let why =
                if messages.is_empty() { "an empty batch is not a request" } else { "this revision has no batches" };
            sink.send(refused(&Value::Null, &Refusal::new(INVALID_REQUEST, why)));
            return None;
        }
        let (inner, mut outbox) = MessageSink::new();
        let work: Vec<Work> = messages.into_iter().filter_map(|message| self.take(message, &inner)).collect();
        drop(inner);
        let sink = sink.clone();
        Some(Box::pin(async move {
            for work in work {
                work.await;
            }
            let mut replies = Vec::new();
            while let Some(out) = outbox.recv().await {
                match out {
                    OutgoingMessage::Reply { message, .. } => replies.push(message),
                    other @ OutgoingMessage::Other(_) => sink.send(other),
                }
            }
            if !replies.is_empty() {
                sink.send(OutgoingMessage::Reply { message: Value::Array(replies), wrong: None });
            }
        }))
    }

    fn notified(&self, method: &str, params: &Value) {
        match method {
            "notifications/cancelled" => {
                let Some(id) = params.get("requestId") else { return };
                if let Some(cancel) = self.state().running.remove(&id.to_string()) {
                    let _ = cancel.send(());
                }
            }
            // The sign on which a catalog changes; the second name is the one existing suites send.
            "notifications/mcprove/rotate_catalog" | "notifications/mcptest/rotate_catalog" => {
                self.announce(&Change::Tools);
            }
            _ => {}
        }
    }

    /// The client of a request.
    pub(crate) fn caller(&self, request: &Request) -> Result<Caller, Refusal> {
        if named_revision(&request.params).is_some() {
            return modern_caller(request);
        }
        if let Some(agreed) = self.state().agreed.clone() {
            return Ok(Caller {
                revision: agreed.revision,
                capabilities: agreed.capabilities,
                log_level: Some(agreed.log_level),
            });
        }
        if self.kind == Kind::Lasting && matches!(request.method.as_str(), "initialize" | "ping") {
            return Ok(Caller { revision: Revision::NEWEST_LEGACY, capabilities: json!({}), log_level: None });
        }
        // Neither era: the session has no handshake, and the request does not state its client.
        modern_caller(request).map_err(|mut refusal| {
            if self.kind == Kind::Lasting {
                refusal.message.push_str(", and `initialize` has not been sent");
            }
            refusal
        })
    }

    /// Asks the client something, as the legacy era does, and waits for its answer.
    pub(crate) async fn ask(
        &self,
        sink: &MessageSink,
        method: &str,
        params: &Value,
    ) -> Result<Result<Value, Value>, Ended> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut state = self.state();
            state.serial += 1;
            let id = format!("mock-{}", state.serial);
            state.asked.insert(id.clone(), answer);
            id
        };
        sink.send(OutgoingMessage::Other(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})));
        let _asking = Asking { session: self, id };
        tokio::select! {
            biased;
            () = self.closed() => Err(Ended::Cut),
            answer = answered => answer.map_err(|_| Ended::Cut),
        }
    }

    /// Notifies the subscribers of a change.
    pub(crate) fn announce(&self, change: &Change) {
        let (method, params) = match change {
            Change::Tools => ("notifications/tools/list_changed", json!({})),
            Change::Prompts => ("notifications/prompts/list_changed", json!({})),
            Change::Resources => ("notifications/resources/list_changed", json!({})),
            Change::Resource(uri) => ("notifications/resources/updated", json!({"uri": uri})),
        };
        let mut state = self.state();
        state.changed |= *change == Change::Tools;
        let is_wanted = match change {
            Change::Tools | Change::Prompts | Change::Resources => true,
            Change::Resource(uri) => state.subscribed.contains(uri),
        };
        if state.agreed.is_some() && is_wanted {
            let params = if params == json!({}) { Value::Null } else { params.clone() };
            self.general.notify(method, &params);
        }
        for listener in state.listeners.iter().filter(|listener| listener.wants.changes.contains(change)) {
            listener.tell(method, &params);
        }
    }

    /// The tools as they are now.
    pub(crate) fn tools<'m>(&self, manifest: &'m Manifest) -> &'m [Tool] {
        match &manifest.changed_tools {
            Some(tools) if self.state().changed => tools,
            Some(_) | None => &manifest.tools,
        }
    }

    /// Counts an answer of a tool and returns the number of times it was given before.
    pub(crate) fn give(&self, tool: &str, arm: usize) -> usize {
        let mut state = self.state();
        let given = state.given.entry((tool.to_owned(), arm)).or_default();
        *given += 1;
        *given - 1
    }

    /// Adds a listener; it is forgotten when the guard goes away.
    pub(crate) fn listen(self: &Arc<Self>, id: Value, wants: Wants, sink: MessageSink) -> ActiveListener {
        let mut state = self.state();
        state.serial += 1;
        let serial = state.serial;
        state.listeners.push(Listener { serial, id, wants, sink });
        ActiveListener { session: Arc::clone(self), serial }
    }

    /// The manifest, when the mock has one.
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        match &self.mock.offer {
            Offer::Manifest(manifest) => Some(manifest),
            Offer::Recording(_) => None,
        }
    }
}

impl Listener {
    pub(crate) fn tell(&self, method: &str, params: &Value) {
        let mut params = params.clone();
        params["_meta"] = json!({SUBSCRIPTION_ID: self.id});
        self.sink.notify(method, &params);
    }
}

/// A request that is being worked on.
struct Running {
    session: Arc<Session>,
    key: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.session.kind == Kind::Lasting {
            self.session.state().running.remove(&self.key);
        }
    }
}

/// A question that is open; it is forgotten with the request it belongs to.
struct Asking<'s> {
    session: &'s Session,
    id: String,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.session.state().asked.remove(&self.id);
    }
}

/// A listener that is listening.
pub(crate) struct ActiveListener {
    session: Arc<Session>,
    serial: u64,
}

impl Drop for ActiveListener {
    fn drop(&mut self) {
        self.session.state().listeners.retain(|listener| listener.serial != self.serial);
    }
}

fn refused(id: &Value, refusal: &Refusal) -> OutgoingMessage {
    OutgoingMessage::Reply { message: refusal.reply(id), wrong: Some(refusal.layer) }
}
