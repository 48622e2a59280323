//! A server that died or hangs is started again, and what is left of its session is kept.

use std::time::Duration;

use mcprove_model::{Finding, ServerSpec};
use mcprove_suite::template::Variables;
use mcprove_wire::Session;
use tokio::time::Instant;

use crate::record::CaseRecord;
use crate::server::Opener;

/// A session that can be replaced by a fresh one.
#[derive(Debug)]
pub(crate) struct Restartable<'s> {
    pub(crate) session: &'s mut Session,
    /// Its number in the record of the case.
    pub(crate) number: &'s mut usize,
    pub(crate) opener: &'s Opener,
    pub(crate) server: &'s ServerSpec,
    pub(crate) variables: &'s Variables,
    /// Time the server may take to start.
    pub(crate) timeout: Duration,
}

impl Restartable<'_> {
    /// Makes sure that the next request meets a server that can answer it; false when none could be started.
    pub(crate) async fn restore(&mut self, record: &mut CaseRecord) -> bool {
        if self.session.is_sound() {
            return true;
        }
        match self.opener.open(self.server, self.variables, Instant::now() + self.timeout).await {
            Ok(fresh) => {
                let gone = std::mem::replace(self.session, fresh);
                record.closed_session(*self.number, gone.close().await);
                *self.number = record.opened(self.session);
                true
            }
            Err(failure) => {
                let text = format!("the server could not be started again: {}", failure.message);
                record.findings.push(Finding::error("not-restarted", text));
                false
            }
        }
    }
}
