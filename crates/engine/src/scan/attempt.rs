//! One attempt at the case of a scan, on the session of its lane or on connections of its own.

use std::sync::Arc;

use mcprove_model::{Case, Finding, Verdict};
use mcprove_wire::Closing;

use super::{Connections, Scan, ScanCase, ScanEnd};
use crate::case_run::{Attempt, interrupted, session};
use crate::fixture_guard::FixtureGuard;
use crate::lane_state::LaneState;
use crate::restart::Restartable;

/// Performs a scan; what the server does is part of the result.
pub(crate) async fn attempt(scan: &dyn Scan, attempt: Attempt<'_>, shared: &mut LaneState) -> Verdict {
    let fixture_guard = match shared.fixture_guard.take() {
        Some(fixture_guard) => Ok(fixture_guard),
        None => FixtureGuard::new(attempt.case.fixture.as_deref()),
    };
    let fixture_guard = match fixture_guard {
        Ok(fixture_guard) => fixture_guard,
        Err(error) => {
            let text = format!("the fixture folder could not be copied: {error}");
            attempt.record.findings.push(Finding::error("fixture", text));
            return Verdict::Error;
        }
    };
    attempt.record.mark(|timings| &mut timings.fixture);
    // A server in a sandbox may write to the scratch folder.
    let server = attempt.case.server.as_ref().map(|server| Arc::new(fixture_guard.writable_for(server)));
    let case = Case { server, ..attempt.case.clone() };
    let attempt = Attempt { case: &case, ..attempt };
    let verdict = match scan.connections() {
        Connections::Lane => in_lane(scan, attempt, &fixture_guard, shared).await,
        Connections::Own => alone(scan, attempt, &fixture_guard).await,
    };
    shared.fixture_guard = Some(fixture_guard);
    verdict
}

/// Performs a scan that opens its connections itself. It ends by itself when the run is stopped.
async fn alone(scan: &dyn Scan, attempt: Attempt<'_>, fixture_guard: &FixtureGuard) -> Verdict {
    let Attempt { case, record, context, .. } = attempt;
    let Some(server) = &case.server else { unreachable!("a scan is of a server") };
    let Ok(_permit) = context.acting.acquire().await else { return interrupted() };
    record.mark(|timings| &mut timings.waiting);
    let end = scan.perform(ScanCase { lane: None, server, fixture_guard, record: &mut *record, context }).await;
    verdict(end, record.verdict(context.strict))
}

/// Performs a scan on the session of its lane, which is handed on if it is still good.
async fn in_lane(
    scan: &dyn Scan,
    attempt: Attempt<'_>,
    fixture_guard: &FixtureGuard,
    shared: &mut LaneState,
) -> Verdict {
    let Attempt { case, variables, record, context, deadline } = attempt;
    let Some(server) = &case.server else { unreachable!("a scan is of a server") };
    *variables = fixture_guard.variables().clone();
    let inherited = shared.session.take();
    let is_fresh = inherited.is_none();
    let opening = Attempt { case, variables: &mut *variables, record: &mut *record, context, deadline };
    let mut session = match session(inherited, opening).await {
        Ok(session) => session,
        Err(verdict) => return verdict,
    };
    let mut number = record.opened(&session);
    if is_fresh {
        // What a server does wrong while it starts was reported when it was asked what it lists; no tool is to blame.
        let start = session.drain();
        record.closed_session(number, Closing { oddities: Vec::new(), ..start });
    }
    let mut stop = context.stop.clone();
    let Ok(permit) = context.acting.acquire().await else { return interrupted() };
    record.mark(|timings| &mut timings.waiting);
    let lane = Some(Restartable {
        session: &mut session,
        number: &mut number,
        opener: &context.opener,
        server,
        variables: &*variables,
        timeout: case.timeout.unwrap_or(context.default_timeout),
    });
    let end = tokio::select! {
        biased;
        () = stop.stopped() => None,
        end = scan.perform(ScanCase { lane, server, fixture_guard, record: &mut *record, context }) => Some(end),
    };
    drop(permit);
    if end.is_some() && shared.goes_on && session.is_sound() {
        record.closed_session(number, session.drain());
        shared.session = Some(session);
    } else {
        record.closed_session(number, session.close().await);
    }
    record.mark(|timings| &mut timings.teardown);
    match end {
        Some(end) => verdict(end, record.verdict(context.strict)),
        None => interrupted(),
    }
}

fn verdict(end: ScanEnd, judged: Verdict) -> Verdict {
    match end {
        ScanEnd::Judged => judged,
        ScanEnd::Skipped(reason) => Verdict::Skipped { reason },
        ScanEnd::Interrupted => interrupted(),
    }
}
