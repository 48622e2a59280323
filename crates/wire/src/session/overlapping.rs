//! Calls that overlap: each is started when its time comes, and ends when its reply does.

use mcprove_model::{Exchange, Outcome};
use serde_json::Value;
use tokio::time::Instant;

use super::input_required::wants_input;
use super::{Closing, Session, Suspect};

/// A request that has ended.
#[derive(Debug)]
pub struct Finished {
    /// The id that [`Session::start`] gave.
    pub id: u64,
    /// The request and its outcome.
    pub exchange: Exchange,
    /// The moment of its end.
    pub at: Instant,
}

impl Session {
    /// Waits until any request has ended, at most until `until`. Safe to cancel: nothing is lost.
    pub async fn finish_any(&mut self, until: Instant) -> Option<Finished> {
        loop {
            let is_due = |at: Instant| at <= Instant::now();
            let ready = self.pending.iter().position(|pending| {
                pending.answer.is_some() || pending.suspect.as_ref().is_some_and(|suspect| is_due(suspect.until))
            });
            if let Some(at) = ready {
                return Some(self.end_at(at));
            }
            if let Some((what, end)) = self.closed.clone() {
                let at = self.pending.iter().position(|pending| !pending.stands)?;
                let id = self.pending[at].id;
                let exchange = match self.pending[at].suspect.take() {
                    Some(suspect) => self.take_exchange(at, Some(suspect.into_reply())),
                    None => self.take_exchange(at, Some((Outcome::Closed { what, end }, None))),
                };
                return Some(Finished { id, exchange, at: Instant::now() });
            }
            let suspects =
                self.pending.iter().filter_map(|pending| pending.suspect.as_ref().map(|suspect| suspect.until));
            let wake = suspects.chain([until]).min().unwrap_or(until);
            if !self.take_next(wake).await && wake == until {
                return None;
            }
        }
    }

    fn end_at(&mut self, at: usize) -> Finished {
        let pending = &mut self.pending[at];
        let (id, sent) = (pending.id, pending.sent_at);
        let suspect = pending.suspect.take().filter(|_| pending.answer.is_none());
        let exchange = self.take_exchange(at, suspect.map(Suspect::into_reply));
        let at = sent + std::time::Duration::from_micros(exchange.elapsed_us);
        Finished { id, exchange, at }
    }

    /// True if a result asks for input of the client, so that the call goes on in another request.
    pub fn goes_on(&self, exchange: &Exchange) -> bool {
        let Outcome::Result(result) = &exchange.outcome else { return false };
        self.is_modern() && wants_input(&exchange.method, result).is_ok_and(|wants| wants)
    }

    /// Gives the input that results ask for, from the client's scripted answers, until the call has ended.
    pub async fn go_on(&mut self, exchange: Exchange, params: &Value, deadline: Instant) -> Exchange {
        Box::pin(self.answer_input_requests(exchange, params, deadline)).await
    }

    /// Drops the record of the session so far, which a long load would fill; what is odd is returned.
    pub fn forget(&mut self) -> Vec<mcprove_model::Finding> {
        let Closing { oddities, .. } = self.drain();
        oddities
    }

    /// The id of the server's process, if it was started for this session.
    pub fn process_id(&self) -> Option<u32> {
        self.transport.process_id()
    }
}
