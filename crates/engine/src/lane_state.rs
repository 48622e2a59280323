//! State that the cases of a lane pass on: a folder, a session, and the call that was sent in it.

use mcprove_model::{Case, Finding};
use mcprove_suite::template::{FIXTURE, Variables};
use mcprove_wire::Session;
use serde_json::Value;

use crate::fixture::FixtureCopy;
use crate::fixture_guard::FixtureGuard;
use crate::pipelining::Pipeline;

/// State that the cases of a lane pass on.
#[derive(Debug, Default)]
pub(crate) struct LaneState {
    pub(crate) fixture: Option<FixtureCopy>,
    /// It goes from case to case, and is large.
    pub(crate) session: Option<Box<Session>>,
    /// True if another case of the lane follows that shares the server.
    pub(crate) goes_on: bool,
    pub(crate) pipeline: Pipeline,
    /// The folders that scans work on.
    pub(crate) fixture_guard: Option<FixtureGuard>,
    /// Findings about the end of a server that was to be shared and went away between two cases.
    pub(crate) between_cases: Vec<Finding>,
}

impl LaneState {
    /// True if the session of the case before can be used; one that cannot is closed.
    pub(crate) async fn has_sound_session(&mut self) -> bool {
        let Some(mut session) = self.session.take() else { return false };
        if self.pipeline.sent.is_some() || session.is_sound() {
            self.session = Some(session);
            return true;
        }
        let went_by_itself = !session.is_open();
        let closing = session.close().await;
        if went_by_itself {
            self.between_cases.extend(closing.oddities);
        }
        false
    }

    pub(crate) async fn end(&mut self) {
        if let Some(session) = self.session.take() {
            session.close().await;
        }
        let folders = (self.fixture.take(), self.fixture_guard.take());
        if folders.0.is_some() || folders.1.is_some() {
            // Removing many files blocks; nothing waits for it but the end of this lane.
            let _ = tokio::task::spawn_blocking(move || drop(folders)).await;
        }
    }

    /// The fixture copy of the lane, as it was at first: a shared server keeps its path, not what others did there.
    pub(crate) async fn fixture(&mut self, case: &Case, variables: &mut Variables) -> std::io::Result<()> {
        let Some(original) = case.fixture.clone() else { return Ok(()) };
        let earlier = self.fixture.take();
        let copying = tokio::task::spawn_blocking(move || match earlier {
            Some(copy) => copy.renew(&original).map(|()| copy),
            None => FixtureCopy::make(&original),
        });
        self.fixture = Some(copying.await.unwrap_or_else(|error| Err(std::io::Error::other(error)))?);
        if let Some(copy) = &self.fixture {
            variables.set(FIXTURE, Value::String(copy.path().to_string_lossy().into_owned()));
        }
        Ok(())
    }
}
