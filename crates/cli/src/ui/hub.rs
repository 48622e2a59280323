//! The events of all connections, for every page that listens, and for those that come later.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The bounds of what is kept for pages that come later.
const EVENTS: usize = 4_000;
const BYTES: usize = 32 << 20;

/// Events with their numbers.
#[derive(Default)]
pub(super) struct Hub {
    last: Cell<u64>,
    kept: RefCell<VecDeque<(u64, Bytes)>>,
    bytes: Cell<usize>,
    listeners: RefCell<Vec<UnboundedSender<Bytes>>>,
}

impl Hub {
    /// Publishes an event of a connection.
    pub(super) fn publish(&self, connection: u64, kind: &str, detail: Value) {
        let number = self.last.get() + 1;
        self.last.set(number);
        let mut event = json!({"number": number, "connection": connection, "event": kind});
        if let (Some(event), Value::Object(detail)) = (event.as_object_mut(), detail) {
            event.extend(detail);
        }
        let bytes = Bytes::from(format!("data: {event}\n\n"));
        self.bytes.set(self.bytes.get() + bytes.len());
        let mut kept = self.kept.borrow_mut();
        kept.push_back((number, bytes.clone()));
        while kept.len() > EVENTS || self.bytes.get() > BYTES && kept.len() > 1 {
            if let Some((_, old)) = kept.pop_front() {
                self.bytes.set(self.bytes.get() - old.len());
            }
        }
        self.listeners.borrow_mut().retain(|listener| listener.send(bytes.clone()).is_ok());
    }

    /// All events after a number: those that are kept, then new ones.
    pub(super) fn listen(&self, after: u64) -> UnboundedReceiver<Bytes> {
        let (send, receive) = unbounded_channel();
        // The first bytes show the page that it is connected.
        let _ = send.send(Bytes::from_static(b": events\n\n"));
        for (number, bytes) in self.kept.borrow().iter() {
            if *number > after {
                let _ = send.send(bytes.clone());
            }
        }
        self.listeners.borrow_mut().push(send);
        receive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_listeners_get_what_is_kept_and_the_rest_is_bounded() {
        let hub = Hub::default();
        for _ in 0..EVENTS + 10 {
            hub.publish(1, "frame", json!({"text": "x"}));
        }
        let mut events = hub.listen(EVENTS as u64 + 8);
        hub.publish(1, "done", json!({}));
        let mut seen = Vec::new();
        while let Ok(bytes) = events.try_recv() {
            seen.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        assert_eq!(seen.len(), 4, "{seen:?}");
        assert!(seen[3].contains("\"event\":\"done\"") && seen[3].ends_with("\n\n"));
        assert_eq!(hub.kept.borrow().len(), EVENTS);
    }
}
