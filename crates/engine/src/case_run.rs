//! One case from its fixture to its verdict.

use std::sync::Arc;
use std::time::Duration;

use mcprove_model::{Act, Case, Finding, Observation, Outcome, PlannedCase, PlannedCheck, Trajectory, Verdict};
use mcprove_suite::template::{FIXTURE, Variables};
use serde_json::Value;
use tokio::time::Instant;

use crate::acts::{self, Performed};
use crate::conversation::Conversation;
use crate::fixture::FixtureCopy;
use crate::observe::FilesBefore;
use crate::record::{CaseRecord, CaseRun};
use crate::server::Opener;
use crate::stop::Stop;
use crate::{calls, expectations, remarks, steps};

/// What running a case needs.
#[derive(Clone, Debug)]
pub(crate) struct CaseContext {
    pub(crate) opener: Arc<Opener>,
    pub(crate) default_timeout: Duration,
    pub(crate) strict: bool,
    pub(crate) keep_frames: bool,
    pub(crate) acting: Arc<tokio::sync::Semaphore>,
    pub(crate) stop: Stop,
}

/// Runs one case. Whatever the server does is part of the result.
pub(crate) async fn run_case(planned: PlannedCase, context: CaseContext) -> CaseRun {
    let case = Arc::clone(&planned.case);
    let mut record = CaseRecord::new(&planned);
    if let Some(skip) = &case.skip {
        return record.finish(Verdict::Skipped { reason: skip.reason.clone() });
    }
    let deadline = Instant::now() + case.timeout.unwrap_or(context.default_timeout);
    let mut variables = Variables::default();
    let fixture = match copy_fixture(&case, &mut variables).await {
        Ok(fixture) => fixture,
        Err(error) => {
            let text = format!("the fixture folder could not be copied: {error}");
            record.findings.push(Finding::error("fixture", text));
            return record.finish(Verdict::Error);
        }
    };
    record.mark(|timings| &mut timings.fixture);

    let verdict = match &case.act {
        Act::Trajectory(trajectory) => judge_trajectory(&case, trajectory, &variables, &mut record, context.strict),
        Act::CallTool(_)
        | Act::Resources(_)
        | Act::Prompts(_)
        | Act::Complete(_)
        | Act::Logging(_)
        | Act::Notifications(_)
        | Act::Raw(_) => speak(&case, &mut variables, &mut record, &context, deadline).await,
    };

    if let Some(copy) = fixture {
        // Removing many files blocks; nothing waits for it but the end of this case.
        let _ = tokio::task::spawn_blocking(move || copy.remove()).await;
        record.mark(|timings| &mut timings.teardown);
    }
    let keep_frames = context.keep_frames || verdict != Verdict::Passed;
    let mut run = record.finish(verdict);
    if !keep_frames {
        run.frames = Vec::new();
    }
    run
}

async fn copy_fixture(case: &Case, variables: &mut Variables) -> std::io::Result<Option<FixtureCopy>> {
    let Some(original) = case.fixture.clone() else { return Ok(None) };
    let copied = tokio::task::spawn_blocking(move || FixtureCopy::make(&original)).await;
    let copy = copied.unwrap_or_else(|error| Err(std::io::Error::other(error)))?;
    variables.set(FIXTURE, Value::String(copy.path().to_string_lossy().into_owned()));
    Ok(Some(copy))
}

/// A case that needs no server.
fn judge_trajectory(
    case: &Case,
    trajectory: &Trajectory,
    variables: &Variables,
    record: &mut CaseRecord,
    strict: bool,
) -> Verdict {
    let (checks, problems) = expectations::resolve(case, &case.expect, variables);
    record.findings.extend(problems);
    match acts::trajectory::trace(trajectory, variables) {
        Ok(trace) => {
            let mut seen = Observation::new(Outcome::Cancelled, String::new());
            seen.trace = trace;
            record.findings.extend(expectations::judge(case, &checks, &seen));
            record.verdict(strict)
        }
        Err(reason) => {
            record.findings.push(Finding::error("audit-log", reason).at(case.source.place(case.span)));
            Verdict::Error
        }
    }
}

/// Opens a session, converses, closes it.
async fn speak(
    case: &Case,
    variables: &mut Variables,
    record: &mut CaseRecord,
    context: &CaseContext,
    deadline: Instant,
) -> Verdict {
    let Some(server) = &case.server else {
        unreachable!("the loader gives a server to every case whose act needs one");
    };
    let mut stop = context.stop.clone();
    let opened = tokio::select! {
        biased;
        () = stop.stopped() => None,
        opened = context.opener.open(server, variables, deadline) => Some(opened),
    };
    record.mark(|timings| &mut timings.handshake);
    let mut session = match opened {
        None => return interrupted(),
        Some(Err(failure)) => return record.not_opened(*failure),
        Some(Ok(session)) => session,
    };
    record.opened(&session);
    let conversation = Conversation { case, session: &mut session, variables, record: &mut *record, deadline };
    let ended = tokio::select! {
        biased;
        () = stop.stopped() => false,
        () = converse(conversation, context) => true,
    };
    record.closed(session.close().await);
    record.mark(|timings| &mut timings.teardown);
    if ended { record.verdict(context.strict) } else { interrupted() }
}

fn interrupted() -> Verdict {
    Verdict::Skipped { reason: "interrupted".to_owned() }
}

/// Everything between the handshake and the end of the session.
async fn converse(mut talk: Conversation<'_>, context: &CaseContext) {
    let ready_at = Instant::now();
    let Ok(_permit) = context.acting.acquire().await else { return };
    // A server that was started ahead waits for its turn; the case's time runs when it is its turn.
    talk.deadline += ready_at.elapsed();
    let case = talk.case;
    let ready = acts::prepare(&case.act, &mut talk).await && steps::set_up(&case.setup, &mut talk).await;
    talk.record.mark(|timings| &mut timings.setup);
    if ready {
        act_and_judge(&mut talk).await;
    }
    // Also after a failure: what a case made, it takes away.
    steps::tear_down(&case.teardown, &mut talk).await;
    talk.record.mark(|timings| &mut timings.teardown);
}

async fn act_and_judge(talk: &mut Conversation<'_>) {
    let case = talk.case;
    let (checks, problems) = expectations::resolve(case, &case.expect, talk.variables);
    talk.record.findings.extend(problems);
    let files = FilesBefore::read(&checks);
    let Performed { mut seen, what, at } = acts::perform(&case.act, &checks, talk).await;
    talk.record.mark(|timings| &mut timings.call);
    seen.files = files.and_after();
    let accepted = accepts(&checks, &seen.outcome, &case.act);
    if accepted {
        acts::await_checks(&case.act, &checks, &mut seen, talk).await;
    }
    acts::gather(&mut seen, talk.session);
    if accepted {
        talk.record.findings.extend(expectations::judge(case, &checks, &seen));
        if checks.is_empty() && case.verify.is_empty() {
            let note = "nothing was checked: the case has no `expect`";
            let place = talk.place(case.span);
            talk.record.findings.push(Finding::note(Finding::NOTHING_CHECKED, note).at(place));
        }
        steps::verify(&case.verify, talk).await;
    } else {
        let place = talk.place(at);
        talk.record.findings.extend(calls::no_result(&what, &seen.outcome, Some(place)));
    }
    remarks::add(&seen, talk).await;
    talk.record.mark(|timings| &mut timings.checks);
}

/// Whether the checks are to judge an outcome; otherwise the outcome itself is the failure.
fn accepts(checks: &[PlannedCheck], outcome: &Outcome, act: &Act) -> bool {
    match outcome {
        Outcome::Result(_) | Outcome::Cancelled => true,
        Outcome::Error(_) => matches!(act, Act::Raw(_)) || checks.iter().any(|c| c.check.wants_protocol_error()),
        Outcome::Malformed(_) | Outcome::Refused(_) | Outcome::TimedOut { .. } | Outcome::Closed { .. } => false,
    }
}
