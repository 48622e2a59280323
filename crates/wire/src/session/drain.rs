//! A session that several cases share, one after the other: each drains its own messages.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::Value;

use super::{Closing, Session};
use crate::memory_reservation::MemoryReservation;

/// Number of polls for a reply before waiting for it: some ten microseconds.
const LOOKS: usize = 16;
/// Maximum number of pending arrivals that are processed at once.
const AT_ONCE: usize = 1_000;

impl Session {
    /// Takes everything since the last call, so that the next case begins with an empty record.
    pub fn drain(&mut self) -> Closing {
        // Each case begins with the first of its scripted answers.
        self.elicited = 0;
        let mut oddities = std::mem::take(&mut self.oddities);
        oddities.extend(std::mem::take(&mut self.non_protocol).finding());
        self.flood.frames += self.log.take_left_out();
        oddities.extend(std::mem::take(&mut self.flood).finding());
        self.kept = MemoryReservation::default();
        Closing {
            frames: self.log.take(),
            oddities,
            notifications: std::mem::take(&mut self.notifications),
            server_requests: std::mem::take(&mut self.server_requests),
            stderr: self.transport.stderr(),
            end: None,
        }
    }

    /// Drains the session and sends the first call of the next case, as far as it can be written without waiting; its end
    /// is awaited with [`Session::finish_call`]. `None`, and nothing is sent, where the call may have to wait for anything.
    pub fn call_ahead(&mut self, name: &str, arguments: &Value) -> Option<(Closing, u64)> {
        if !self.transport.sends_at_once() {
            return None;
        }
        self.look_at_all();
        let is_known = self.has_schemas() && self.unusable(name).is_none();
        if !self.is_open() || !is_known {
            return None;
        }
        let closing = self.drain();
        let id = self.start_call(name, arguments);
        // Where nothing has come in, receiving writes what is queued.
        self.look();
        Some((closing, id))
    }

    /// True if the next case can rely on this session: the server is there and owes no answer.
    pub fn is_sound(&mut self) -> bool {
        self.look_at_all();
        self.closed.is_none() && self.cancelled.is_empty() && self.pending.iter().all(|p| p.stands)
    }

    /// Polls for a reply a few times before waiting for it: an idle core takes longer to wake up than a quick server
    /// takes to reply.
    pub async fn stay_awake_for(&mut self, id: u64) {
        // A look at a socket costs more than one at a pipe gains.
        let looks = if self.transport.has_lines() { LOOKS } else { 0 };
        for _ in 0..looks {
            self.transport.read_at_once();
            while self.closed.is_none() && !self.is_answered(id) && self.look() {}
            if self.closed.is_some() || self.is_answered(id) {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Takes in whatever has arrived by now: what followed the last answer, and above all the news that the server is gone.
    fn look_at_all(&mut self) {
        while self.closed.is_none() && self.look() {}
    }

    /// Processes the pending arrivals, up to a limit: a server may send faster than it is read.
    pub(super) fn look_at_some(&mut self) {
        for _ in 0..AT_ONCE {
            if self.closed.is_some() || !self.look() {
                return;
            }
        }
    }

    /// Processes a pending arrival; true if there was one. A caller that waits for the next arrival is still woken by
    /// it.
    fn look(&mut self) -> bool {
        let looked = pin!(self.transport.receive()).poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(arrival) = looked else { return false };
        self.take_in(arrival);
        true
    }
}
