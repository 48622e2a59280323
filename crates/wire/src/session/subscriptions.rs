//! Subscriptions: resource updates and log messages, in the way of each era.

use bytes::Bytes;
use mcprove_model::{Exchange, Notification, Outcome};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Session;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl Session {
    /// Subscribes to changes of a resource.
    pub async fn subscribe(&mut self, uri: &str, deadline: Instant) -> Exchange {
        if !self.is_modern() {
            return self.request("resources/subscribe", json!({"uri": uri}), deadline).await;
        }
        // The modern era has one long-lived request instead; its first message is an acknowledgement.
        let params = json!({"notifications": {"resourceSubscriptions": [uri]}});
        let began = self.notifications.len();
        let id = self.start("subscriptions/listen", &params);
        if let Some(pending) = self.pending.iter_mut().find(|p| p.id == id) {
            pending.stands = true;
        }
        self.subscriptions.push((uri.to_owned(), id));
        loop {
            let answered = self.pending.iter().any(|p| p.id == id && p.answer.is_some());
            if answered || self.closed.is_some() || Instant::now() >= deadline {
                return self.finish(id, deadline).await;
            }
            if self.notifications[began..].iter().any(|n| acknowledges(n, id)) {
                let request = self.pending.iter().find(|p| p.id == id).map(|p| p.request.clone()).unwrap_or_default();
                return Exchange {
                    method: "subscriptions/listen".to_owned(),
                    request,
                    reply: None,
                    outcome: Outcome::Result(json!({})),
                    elapsed_us: 0,
                };
            }
            self.take_next(deadline).await;
        }
    }

    /// Unsubscribes from changes of a resource.
    pub async fn unsubscribe(&mut self, uri: &str, deadline: Instant) -> Exchange {
        if !self.is_modern() {
            return self.request("resources/unsubscribe", json!({"uri": uri}), deadline).await;
        }
        let ids: Vec<u64> = self.subscriptions.iter().filter(|(of, _)| of == uri).map(|(_, id)| *id).collect();
        self.subscriptions.retain(|(of, _)| of != uri);
        for id in ids {
            self.cancel(id, "unsubscribed").await;
            self.pending.retain(|p| p.id != id);
        }
        Exchange {
            method: "notifications/cancelled".to_owned(),
            request: Bytes::new(),
            reply: None,
            outcome: Outcome::Result(json!({})),
            elapsed_us: 0,
        }
    }

    /// Says which log messages are wanted; `None` when the era says it with every request instead.
    pub async fn set_log_level(&mut self, level: &str, deadline: Instant) -> Option<Exchange> {
        if self.is_modern() {
            self.log_level = Some(level.to_owned());
            return None;
        }
        Some(self.request("logging/setLevel", json!({"level": level}), deadline).await)
    }

    /// Processes arrivals until `done` is true, the deadline passes, or the server is gone; returns true if `done` was
    /// true.
    pub async fn listen_until(&mut self, deadline: Instant, done: impl Fn(&Self) -> bool) -> bool {
        loop {
            if done(self) {
                return true;
            }
            if self.closed.is_some() {
                return false;
            }
            if !self.take_next(deadline).await {
                return done(self);
            }
        }
    }

    /// True if a reply arrived after its request was cancelled.
    pub fn answered_after_cancel(&self, id: u64) -> bool {
        self.late_replies.contains(&id)
    }

    /// True if a request that was started has its answer.
    pub fn is_answered(&self, id: u64) -> bool {
        self.pending.iter().any(|p| p.id == id && p.answer.is_some())
    }

    /// Forgets a request that was started; a late answer is recognised by its id.
    pub fn give_up(&mut self, id: u64) -> Exchange {
        let Some(at) = self.pending.iter().position(|p| p.id == id) else {
            unreachable!("a request is given up once");
        };
        self.take_exchange(at, Some((Outcome::Cancelled, None)))
    }

    /// Pings the server, in the way of each era.
    pub async fn ping(&mut self, deadline: Instant) -> Exchange {
        let method = if self.is_modern() { "server/discover" } else { "ping" };
        self.request(method, Value::Null, deadline).await
    }

    /// Sends bytes as they are and takes the next reply that answers nothing else.
    pub async fn exchange_raw(&mut self, bytes: Bytes, deadline: Instant) -> Exchange {
        let id = self.start_raw(bytes);
        self.finish(id, deadline).await
    }
}

/// True if a notification acknowledges this subscription. One that does not say which is taken for the one awaited.
fn acknowledges(notification: &Notification, id: u64) -> bool {
    let tag = notification.params.get("_meta").and_then(|meta| meta.get(SUBSCRIPTION));
    let is_other = tag.is_some_and(|tag| *tag != json!(id) && *tag != json!(id.to_string()));
    notification.method == ACKNOWLEDGED && !is_other
}
