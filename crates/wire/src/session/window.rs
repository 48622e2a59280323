//! Calls of one tool that are in flight together: sent in one go, answered as the server gets to them.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use mcprove_model::{Direction, Exchange, FrameKind, Outcome, WirePart};
use tokio::time::Instant;

use super::{Pending, Session};
use crate::transport::Outgoing;

/// Size of a request around its arguments and the tool's name.
pub(super) const AROUND: usize = 160;

impl Session {
    /// True if calls may be in flight together without meeting each other on the way: lines keep their order, and in
    /// the legacy era a result ends its request.
    pub fn takes_calls_together(&self) -> bool {
        self.transport.has_lines() && !self.is_modern()
    }

    /// Sends calls of one tool in one go, their arguments as JSON texts, and takes the answers as they come.
    ///
    /// The exchanges are those of the calls, in their order; `None` where the outcome of a call is unknown: nothing
    /// arrived for as long as `quiet`, the server went away, or a reply could not be matched to a call. The session
    /// must then be closed, since later replies cannot be assigned.
    pub async fn call_together(&mut self, tool: &str, calls: &[&str], quiet: Duration) -> Vec<Option<Exchange>> {
        let odd = self.oddities.len();
        let first = self.send_together(tool, calls);
        let answered = |session: &Self, nth: usize| {
            let id = first + nth as u64;
            session.pending.iter().any(|pending| pending.id == id && pending.answer.is_some())
        };
        let mut open = 0;
        loop {
            while open < calls.len() && answered(self, open) {
                open += 1;
            }
            if open == calls.len() || self.closed.is_some() || self.oddities.len() > odd {
                break;
            }
            // What is probably a broken reply is not waited for to the end.
            let is_suspect = self.pending.iter().any(|pending| pending.suspect.is_some());
            let wait = if is_suspect { quiet.min(self.limits.settle) } else { quiet };
            if !self.take_next(Instant::now() + wait).await {
                break;
            }
        }
        (0..calls.len() as u64).map(|nth| self.end_of(first + nth)).collect()
    }

    /// Outcome of requests that were open when the server went away, if it did.
    pub fn how_it_closed(&mut self) -> Option<Outcome> {
        self.is_end_reported |= self.closed.is_some();
        self.closed.clone().map(|(what, end)| Outcome::Closed { what, end })
    }

    /// Sends the calls; the id of the first.
    fn send_together(&mut self, tool: &str, calls: &[&str]) -> u64 {
        let first = self.next_id;
        let name = serde_json::Value::from(tool).to_string();
        let size: usize = calls.iter().map(|call| call.len() + name.len() + AROUND).sum();
        let mut buffer = BytesMut::with_capacity(size);
        let sent_at = Instant::now();
        for arguments in calls {
            let id = self.next_id;
            self.next_id += 1;
            write_call(&mut buffer, id, &name, arguments);
            let request = buffer.split().freeze();
            self.log.add(Direction::Sent, FrameKind::Request, WirePart::Message, request.clone());
            self.transport.send(Outgoing { body: request.clone(), request: Some(id), headers: Vec::new() });
            self.pending.push(pending(id, request, sent_at));
        }
        first
    }

    fn end_of(&mut self, id: u64) -> Option<Exchange> {
        let at = self.pending.iter().position(|pending| pending.id == id)?;
        if self.pending[at].answer.is_some() {
            return Some(self.take_exchange(at, None));
        }
        self.pending.remove(at);
        // A later reply is then late instead of unsolicited.
        self.cancelled.push(id);
        None
    }
}

fn pending(id: u64, request: Bytes, sent_at: Instant) -> Pending {
    let method = "tools/call".to_owned();
    Pending { id, method, request, sent_at, stands: false, raw: false, suspect: None, refusal: None, answer: None }
}

/// Writes a call of a tool, its name and its arguments as JSON texts; absent arguments are `null`.
pub(super) fn write_call(out: &mut impl BufMut, id: u64, name: &str, arguments: &str) {
    let id = id.to_string();
    let arguments = (arguments != "null").then_some([",\"arguments\":", arguments]);
    let head = ["{\"jsonrpc\":\"2.0\",\"id\":", &id, ",\"method\":\"tools/call\",\"params\":{\"name\":", name];
    let tail = [",\"_meta\":{\"progressToken\":", &id, "}}}"];
    for part in head.iter().chain(arguments.iter().flatten()).chain(&tail) {
        out.put_slice(part.as_bytes());
    }
}
