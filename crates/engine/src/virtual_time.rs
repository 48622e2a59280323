//! Time that passes only while all tasks wait, for cases whose server is a mock with `virtual_time`.
//!
//! Such a lane has a runtime of its own whose clock is paused while there is anything to do and jumps to the next timer
//! when there is not. Client and mock live in it together, so a delay of ten minutes takes no time, a deadline is
//! reached exactly when the mock would answer after it, and whatever is measured is measured in that time.

use std::panic::resume_unwind;
use std::time::Duration;

use mcprove_mock::{Clock, Sleep};
use mcprove_model::{AgentModel, Case, Finding, Target, Verdict};
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::case_run::{CaseContext, run_lane};
use crate::lanes::Lane;
use crate::record::CaseRecord;
use crate::result_batch::Results;

/// 2026-01-01T00:00:00Z, so that what is dated in virtual time is the same in every run.
const BEGIN_UNIX_MS: u64 = 1_767_225_600_000;

/// True if a case lives in virtual time.
pub(crate) fn is_virtual(case: &Case) -> bool {
    // Whatever is really waited for, a process or a language model, would never be in time there.
    let is_asked = case.agent().is_some_and(|agent| matches!(agent.model, AgentModel::Named(_)));
    let mut servers = case.servers().map(|server| &server.target).peekable();
    !is_asked
        && servers.peek().is_some()
        && servers.all(|target| matches!(target, Target::Mock { virtual_time: true, .. }))
}

/// Runs a lane in a time of its own.
pub(crate) async fn run_virtual_lane(lane: Lane, mut context: CaseContext, report: mpsc::UnboundedSender<Results>) {
    // Processes live in real time: what waits for them must not see virtual time pass.
    context.hooks = context.hooks.run_on(Handle::current());
    let running = tokio::task::spawn_blocking(move || {
        match Builder::new_current_thread().enable_all().start_paused(true).build() {
            Ok(runtime) => runtime.block_on(run_lane(lane, context, report)),
            Err(error) => {
                for planned in &lane.cases {
                    let mut record = CaseRecord::new(planned);
                    let text = format!("a clock for virtual time could not be made: {error}");
                    record.findings.push(Finding::error("virtual-time", text));
                    let _ = report.send(vec![record.finish(Verdict::Error)]);
                }
            }
        }
    });
    if let Err(error) = running.await
        && error.is_panic()
    {
        resume_unwind(error.into_panic());
    }
}

/// The time of the runtime it is used in.
#[derive(Debug)]
pub(crate) struct VirtualTime {
    began: Instant,
}

impl Default for VirtualTime {
    fn default() -> Self {
        Self { began: Instant::now() }
    }
}

impl Clock for VirtualTime {
    fn unix_ms(&self) -> u64 {
        BEGIN_UNIX_MS + u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX - BEGIN_UNIX_MS)
    }

    fn sleep(&self, duration: Duration) -> Sleep<'_> {
        Box::pin(tokio::time::sleep(duration))
    }
}
