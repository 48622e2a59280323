//! The events of all connections, for every page that listens, and for those that come later.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use serde_json::{Value, json};

/// The bounds of what is kept, for pages that come later and for those that read slowly.
const EVENTS: usize = 4_000;
const BYTES: usize = 32 << 20;

/// Events with their numbers.
#[derive(Default)]
pub(super) struct Hub {
    last: Cell<u64>,
    kept: RefCell<VecDeque<(u64, Bytes)>>,
    bytes: Cell<usize>,
    waiting: RefCell<Vec<Waker>>,
}

/// A page that listens. It takes from what the hub keeps, so one that does not read costs nothing and misses events.
pub(super) struct Listener {
    hub: Rc<Hub>,
    /// The number of the last event that it has; none before the first bytes.
    after: Option<u64>,
    from: u64,
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
        kept.push_back((number, bytes));
        while kept.len() > EVENTS || self.bytes.get() > BYTES && kept.len() > 1 {
            if let Some((_, old)) = kept.pop_front() {
                self.bytes.set(self.bytes.get() - old.len());
            }
        }
        self.waiting.borrow_mut().drain(..).for_each(Waker::wake);
    }

    /// All events after a number: those that are kept, then new ones.
    pub(super) fn listen(self: &Rc<Self>, after: u64) -> Listener {
        Listener { hub: Rc::clone(self), after: None, from: after }
    }
}

impl Listener {
    /// The next event.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Bytes> {
        let Some(after) = self.after else {
            self.after = Some(self.from);
            // The first bytes show the page that it is connected.
            return Poll::Ready(Bytes::from_static(b": events\n\n"));
        };
        let kept = self.hub.kept.borrow();
        let at = kept.partition_point(|(number, _)| *number <= after);
        if let Some((number, bytes)) = kept.get(at) {
            self.after = Some(*number);
            return Poll::Ready(bytes.clone());
        }
        let mut waiting = self.hub.waiting.borrow_mut();
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(listener: &mut Listener) -> Vec<String> {
        let mut context = Context::from_waker(Waker::noop());
        let mut seen = Vec::new();
        while let Poll::Ready(bytes) = listener.poll_next(&mut context) {
            seen.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        seen
    }

    #[test]
    fn late_listeners_get_what_is_kept_and_the_rest_is_bounded() {
        let hub = Rc::new(Hub::default());
        for _ in 0..EVENTS + 10 {
            hub.publish(1, "frame", json!({"text": "x"}));
        }
        let mut events = hub.listen(EVENTS as u64 + 8);
        hub.publish(1, "done", json!({}));
        let seen = taken(&mut events);
        assert_eq!(seen.len(), 4, "{seen:?}");
        assert!(seen[3].contains("\"event\":\"done\"") && seen[3].ends_with("\n\n"));
        assert_eq!(hub.kept.borrow().len(), EVENTS);
    }

    #[test]
    fn a_listener_that_does_not_read_keeps_nothing_for_itself() {
        let hub = Rc::new(Hub::default());
        let mut events = hub.listen(0);
        for _ in 0..100 {
            hub.publish(1, "frame", json!({"text": "x".repeat(1 << 20)}));
        }
        assert!(hub.bytes.get() <= BYTES);
        let seen = taken(&mut events);
        assert!(seen.iter().map(String::len).sum::<usize>() <= BYTES + 100, "the newest are left");
        assert!(seen.last().is_some_and(|event| event.contains("\"number\":100,")));
    }
}
