//! One case from its fixture to its verdict, and the lane of cases that share a server. Long because a case is one sequence of
//! steps that share its state.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use mcprove_model::{
    Act, CallTool, Case, Finding, FuzzBlock, Metamorphic, Outcome, PlannedCase, PlannedCheck, ProcessEnd, Verdict,
    escape_line, shorten,
};
use mcprove_suite::template::Variables;
use mcprove_wire::Session;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::acts::{self, Performed};
use crate::agent::{self, AgentCase};
use crate::conversation::{Conversation, ExtraSessions};
use crate::fuzz::in_suite::{self, Surroundings};
use crate::grading::Judges;
use crate::hooks::Hooks;
use crate::lane_state::LaneState;
use crate::lanes::Lane;
use crate::observe::FilesBefore;
use crate::pipelining::{self, Pipeline, lone_call};
use crate::prestart::ActTurn;
use crate::record::{CaseRecord, CaseRun};
use crate::result_batch::{ResultBatch, Results};
use crate::server::Opener;
use crate::stop::{Stop, Stopper};
use crate::stored_replies::{self, Storing};
use crate::{
    calls, expectations, grading, implicit_checks, known_failures, metamorphic, negative_path, not_recorded, offline,
    position_fix, reply_shape, scan, score, steps, transform, trust,
};

/// Everything that running a case needs.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of the user")]
pub(crate) struct CaseContext {
    pub(crate) opener: Arc<Opener>,
    pub(crate) default_timeout: Duration,
    pub(crate) strict: bool,
    pub(crate) keep_frames: bool,
    /// True if what a case saw outlives its verdict.
    pub(crate) keep_seen: bool,
    pub(crate) acting: Arc<tokio::sync::Semaphore>,
    /// The turn of the lane to act.
    pub(crate) turn: ActTurn,
    /// True if the call of a case may be sent before the one before it is judged.
    pub(crate) may_send_ahead: bool,
    /// True if the lane is not on the thread that takes its results. There, taking one is the best use of the time until the next reply.
    pub(crate) has_own_thread: bool,
    /// True if positions around those of a failing case are tried.
    pub(crate) fix: bool,
    /// Mode of stored values.
    pub(crate) storing: Storing,
    /// True if the replies of language models are saved.
    pub(crate) record: bool,
    /// True if no language model judges.
    pub(crate) no_model: bool,
    /// Replies of judges, and what they cost.
    pub(crate) judges: Judges,
    /// Commands that suites run around their cases.
    pub(crate) hooks: Hooks,
    /// Values of the environment that no reply should hold.
    pub(crate) environment: Arc<[String]>,
    /// The calls that scans have made so far.
    pub(crate) calls: Arc<AtomicUsize>,
    pub(crate) load: Arc<crate::load::LoadMeter>,
    /// The user wants the run to end.
    pub(crate) stop: Stop,
    /// A case failed, and that is enough.
    pub(crate) enough: Stop,
    /// Stops the whole run after the first failure, if that is wanted.
    pub(crate) halt: Option<Arc<Stopper>>,
}

impl CaseContext {
    /// One for each thread. Connections are kept by the thread that opened them.
    pub(crate) fn for_threads(&self, threads: usize) -> Vec<Self> {
        let another = |_| Self { opener: Arc::new(self.opener.for_thread()), has_own_thread: true, ..self.clone() };
        std::iter::once(self.clone()).chain((1..threads).map(another)).collect()
    }
}

/// Runs the cases of a lane in order and reports each as it ends.
pub(crate) async fn run_lane(lane: Lane, context: CaseContext, report: mpsc::UnboundedSender<Results>) {
    let mut shared = LaneState::default();
    let mut results = ResultBatch::new(report);
    for (number, planned) in lane.cases.iter().enumerate() {
        let next = lane.cases.get(number + 1).filter(|_| lane.shared);
        shared.goes_on = next.is_some();
        let may_begin = context.may_send_ahead && lone_call(&planned.case).is_some();
        shared.pipeline.next = next.filter(|_| may_begin).map(|next| Arc::clone(&next.case));
        // A case whose call was already sent is reported with it, even if the run was stopped in between.
        let is_begun = shared.pipeline.sent.is_some();
        let mut run = if let Some(reason) = not_to_be_run(planned, &context).filter(|_| !is_begun) {
            CaseRun::skipped(planned, &reason)
        } else {
            let running = pin!(run_hooked(planned, &context, &mut shared));
            results.during(running).await
        };
        if let Some(halt) = &context.halt
            && matches!(run.finished.verdict, Verdict::Failed | Verdict::Error)
        {
            halt.stop();
        }
        if !shared.goes_on {
            let began = Instant::now();
            shared.end().await;
            run.took_longer(began.elapsed());
        }
        results.add(run, context.has_own_thread && shared.pipeline.sent.is_some());
    }
}

fn not_to_be_run(planned: &PlannedCase, context: &CaseContext) -> Option<String> {
    if context.stop.is_stopped() {
        return Some("interrupted".to_owned());
    }
    if context.enough.is_stopped() {
        return Some("not run after the first failure".to_owned());
    }
    let skip = planned.case.skip.as_ref().map(|skip| skip.reason.clone());
    skip.or_else(|| grading::left_out(&planned.case, context))
}

/// Runs one case between the commands of its suite.
async fn run_hooked(planned: &PlannedCase, context: &CaseContext, shared: &mut LaneState) -> Box<CaseRun> {
    let suite = planned.case.suite.as_ref().filter(|suite| !suite.hooks.is_empty());
    let Some(suite) = suite else { return run_case(planned, context, shared).await };
    if let Some(finding) = context.hooks.before(suite).await {
        let mut record = CaseRecord::new(planned);
        record.findings.push(finding);
        return record.finish(Verdict::Error);
    }
    let mut run = run_case(planned, context, shared).await;
    if let Some(finding) = context.hooks.after(suite).await {
        run.add(finding, context.strict);
    }
    run
}

/// Runs one case. Whatever the server does is part of the result.
pub(crate) async fn run_case(planned: &PlannedCase, context: &CaseContext, shared: &mut LaneState) -> Box<CaseRun> {
    let inherited = shared.has_sound_session().await;
    let between_cases = std::mem::take(&mut shared.between_cases);
    let mut run = run_attempts(planned, context, shared, inherited).await;
    for finding in between_cases {
        run.add(finding, context.strict);
    }
    run
}

/// Runs a case, on a fresh server again where the one that it inherited went away.
async fn run_attempts(
    planned: &PlannedCase,
    context: &CaseContext,
    shared: &mut LaneState,
    inherited: bool,
) -> Box<CaseRun> {
    let (run, gone) = attempt(planned, context, shared).await;
    if gone && inherited {
        // The previous case may have killed the server; a second try on a fresh server shows which case did.
        let (mut again, gone) = Box::pin(attempt(planned, context, shared)).await;
        if !gone {
            let text = "the shared server was gone when this case spoke to it; the case was done again on a fresh one";
            let mut note = Finding::note("restarted", text);
            note.actual = how_it_ended(&run);
            again.finished.findings.push(note);
            if let Some(end) = run.finished.process_end.filter(ProcessEnd::is_crash) {
                let text = format!("the shared server {end} after its last reply to an earlier case");
                again.add(Finding::warning("crash-after-reply", text), context.strict);
            }
        }
        return again;
    }
    if context.fix && run.finished.verdict == Verdict::Failed {
        let suggestion = Box::pin(passing_nearby(planned, context)).await;
        let mut run = run;
        run.finished.findings.extend(suggestion);
        return run;
    }
    run
}

/// Exit status and last stderr line of the server of an attempt.
fn how_it_ended(attempt: &CaseRun) -> Option<String> {
    let end = attempt.server_end.as_deref()?;
    let said = attempt.finished.stderr.lines().rfind(|line| !line.trim().is_empty());
    let said = said.map(|line| format!("; the last line of its standard error: {}", shorten(&escape_line(line), 300)));
    Some(format!("{end}{}", said.unwrap_or_default()))
}

/// Tries the positions around those of a case, each on a fresh server, until one passes.
async fn passing_nearby(planned: &PlannedCase, context: &CaseContext) -> Option<Finding> {
    for variant in position_fix::variants(&planned.case) {
        if context.stop.is_stopped() {
            return None;
        }
        let mut alone = LaneState::default();
        let tried = PlannedCase { case: Arc::clone(&variant.case), ..planned.clone() };
        let (run, _) = attempt(&tried, context, &mut alone).await;
        alone.end().await;
        if run.finished.verdict == Verdict::Passed {
            return Some(variant.suggestion(&planned.case));
        }
    }
    None
}

/// Runs a case once; also says whether the server went away in it.
async fn attempt(planned: &PlannedCase, context: &CaseContext, shared: &mut LaneState) -> (Box<CaseRun>, bool) {
    let case = &planned.case;
    let mut record = CaseRecord::new(planned);
    let deadline = Instant::now() + case.timeout.unwrap_or(context.default_timeout);
    let mut variables = Variables::default();
    if !matches!(case.act, Act::Scan(_))
        && let Err(error) = shared.fixture(case, &mut variables).await
    {
        let text = format!("the fixture folder could not be copied: {error}");
        record.findings.push(Finding::error("fixture", text));
        return (record.finish(Verdict::Error), false);
    }
    record.mark(|timings| &mut timings.fixture);
    let verdict = match &case.act {
        Act::Trajectory(trajectory) => {
            offline::judge_trajectory(case, trajectory, &variables, &mut record, context.strict)
        }
        Act::Score(score) => Box::pin(score::perform(case, score, &mut record, context)).await,
        Act::Offline(work) => Box::pin(offline::judge(case, work.as_ref(), &variables, &mut record, context)).await,
        Act::Agent(agent) => {
            let trial = planned.trial;
            let talk = AgentCase {
                case,
                agent,
                trial,
                variables: &mut variables,
                record: &mut record,
                context,
                deadline,
                numbers: Vec::new(),
                others: ExtraSessions::default(),
                pipeline: Pipeline::default(),
            };
            Box::pin(agent::run(talk)).await
        }
        Act::Scan(work) => {
            let talk = Attempt { case, variables: &mut variables, record: &mut record, context, deadline };
            scan::attempt(scan::scan_of(work), talk, shared).await
        }
        Act::CallTool(_)
        | Act::Resources(_)
        | Act::Prompts(_)
        | Act::Complete(_)
        | Act::Logging(_)
        | Act::Notifications(_)
        | Act::Raw(_)
        | Act::Compose(_)
        | Act::ToolQuality => {
            let talk = Attempt { case, variables: &mut variables, record: &mut record, context, deadline };
            run_in_session(talk, shared).await
        }
    };
    let verdict = trust::judged(verdict, case, &mut record);
    let verdict = not_recorded::judged(verdict, case, &mut record);
    let verdict = known_failures::judged(verdict, case, &mut record, context.strict);
    let keep_frames = context.keep_frames || verdict != Verdict::Passed;
    let mut run = record.finish(verdict);
    // An agent has servers of its own, and learns when one ends.
    let gone = case.agent().is_none() && run.server_end.is_some();
    if !keep_frames {
        run.frames = Vec::new();
    }
    (run, gone)
}

/// Everything that one attempt at a case works with.
pub(crate) struct Attempt<'a> {
    pub(crate) case: &'a Case,
    pub(crate) variables: &'a mut Variables,
    pub(crate) record: &'a mut CaseRecord,
    pub(crate) context: &'a CaseContext,
    pub(crate) deadline: Instant,
}

/// Takes the lane's session or opens one, converses, and hands the session on if it is still good.
async fn run_in_session(attempt: Attempt<'_>, shared: &mut LaneState) -> Verdict {
    let Attempt { case, variables, record, context, deadline } = attempt;
    let mut stop = context.stop.clone();
    let mut pipeline = std::mem::take(&mut shared.pipeline);
    let inherited = shared.session.take();
    // A case that inherits its session may have to be done again.
    let is_last_act = !shared.goes_on && inherited.is_none();
    let opening = Attempt { case, variables: &mut *variables, record: &mut *record, context, deadline };
    let mut session = match session(inherited, opening).await {
        Ok(session) => session,
        Err(verdict) => return verdict,
    };
    let own = case.server.as_ref().filter(|_| speaks_to_others(case)).map(|server| server.name.as_str());
    let mut number = record.opened_at(&session, own);
    let mut others = ExtraSessions::default();
    let conversation = Conversation {
        case,
        session: &mut session,
        number: &mut number,
        others: &mut others,
        opener: &context.opener,
        variables,
        record: &mut *record,
        deadline,
        storing: context.storing,
        pipeline: &mut pipeline,
    };
    let ended = tokio::select! {
        biased;
        () = stop.stopped() => false,
        () = converse(conversation, context) => true,
    };
    others.close(record).await;
    if is_last_act {
        context.turn.pass_on();
    }
    let chapter = pipeline.chapter.take();
    let is_next_begun = chapter.is_some();
    if let Some(chapter) = chapter {
        record.closed_session(number, chapter);
    }
    if ended && is_next_begun {
        shared.pipeline = pipeline;
        shared.session = Some(session);
    } else if ended && shared.goes_on && session.is_sound() {
        record.closed_session(number, session.drain());
        shared.session = Some(session);
    } else {
        record.closed_session(number, session.close().await);
    }
    record.mark(|timings| &mut timings.teardown);
    if ended { record.verdict(context.strict) } else { interrupted() }
}

/// True if a step is for another server than the case's own.
fn speaks_to_others(case: &Case) -> bool {
    case.setup.iter().chain(&case.verify).chain(&case.teardown).any(|step| step.server.is_some())
}

/// The session that a case inherits, or a fresh one; the verdict where there is none.
pub(crate) async fn session(inherited: Option<Box<Session>>, attempt: Attempt<'_>) -> Result<Box<Session>, Verdict> {
    let Attempt { case, variables, record, context, deadline } = attempt;
    let mut stop = context.stop.clone();
    let session = if let Some(session) = inherited {
        session
    } else {
        let opened = tokio::select! {
            biased;
            () = stop.stopped() => return Err(interrupted()),
            opened = open(case, variables, context, deadline) => opened,
        };
        match opened {
            Ok(session) => Box::new(session),
            Err(failure) => {
                record.mark(|timings| &mut timings.handshake);
                return Err(record.not_opened(*failure));
            }
        }
    };
    record.mark_opened(&session);
    Ok(session)
}

async fn open(
    case: &Case,
    variables: &Variables,
    context: &CaseContext,
    deadline: Instant,
) -> Result<Session, Box<mcprove_wire::OpenFailure>> {
    let Some(server) = &case.server else {
        unreachable!("the loader gives a server to every case whose act needs one");
    };
    context.opener.open(server, variables, deadline).await
}

pub(crate) fn interrupted() -> Verdict {
    Verdict::Skipped { reason: "interrupted".to_owned() }
}

/// Everything between the handshake and the end of the session.
async fn converse(mut talk: Conversation<'_>, context: &CaseContext) {
    let ready_at = Instant::now();
    context.turn.come().await;
    let Ok(_permit) = context.acting.acquire().await else { return };
    // A server that was started ahead waits for its turn; the case's time runs when it is its turn.
    talk.deadline += ready_at.elapsed();
    talk.record.mark(|timings| &mut timings.waiting);
    let case = talk.case;
    let ready = acts::prepare(&case.act, &mut talk).await && steps::set_up(&case.setup, &mut talk).await;
    talk.record.mark(|timings| &mut timings.setup);
    if ready {
        change_roots(&mut talk).await;
        act_and_judge(&mut talk, context).await;
        if let Some(block) = fuzz_block(case) {
            Box::pin(fuzz_if_all_held(block, &mut talk, context)).await;
            talk.record.mark(|timings| &mut timings.fuzz);
        }
    }
    // Also after a failure: what a case made, it takes away.
    steps::tear_down(&case.teardown, &mut talk).await;
    if ready {
        // Another case may share the server, and begins with the folders it names.
        talk.session.change_roots();
    }
    talk.record.mark(|timings| &mut timings.teardown);
}

/// Changes the client's folders, where the case wants that, and gives the server a moment to ask for them again.
async fn change_roots(talk: &mut Conversation<'_>) {
    let asked = |session: &Session| session.server_requests().iter().filter(|r| r.method == "roots/list").count();
    let before = asked(talk.session);
    if talk.session.change_roots() {
        let until = (Instant::now() + acts::SETTLE).min(talk.deadline);
        talk.session.listen_until(until, |session| asked(session) > before).await;
    }
}

async fn act_and_judge(talk: &mut Conversation<'_>, context: &CaseContext) {
    let case = talk.case;
    let (expect, problems) = expectations::resolve(case, &case.expect, talk.variables);
    talk.record.findings.extend(problems);
    let checks = &expect.checks;
    let files = FilesBefore::read(checks);
    let Performed { mut seen, what, at } = acts::perform(&case.act, checks, talk).await;
    talk.record.mark(|timings| &mut timings.call);
    if checks.iter().any(|planned| planned.check.wants_headers()) {
        seen.headers = talk.session.response_headers().map(<[_]>::to_vec);
    }
    seen.files = files.and_after();
    let accepted = accepts(checks, &seen.outcome);
    if accepted {
        acts::await_checks(&case.act, &expect, &mut seen, talk).await;
    }
    acts::gather(&mut seen, talk.session);
    stored_replies::supply(&mut seen, &expect, talk);
    stored_replies::capture(&seen, talk);
    if accepted && expect.is_model_graded() {
        // Few cases have it, and all of them carry the size of what they await.
        Box::pin(grading::supply(&mut seen, &expect, case, context, talk.record)).await;
    }
    pipelining::send_next(&seen, talk);
    // Findings about the act itself are listed before later ones, though it is judged last.
    let told_before = talk.record.findings.len();
    if accepted {
        seen.environment = Arc::clone(&context.environment);
        if checks.iter().any(|planned| planned.check.wants_tool()) {
            seen.tool = Box::pin(implicit_checks::listed_tool(talk)).await;
            if !talk.session.is_open() {
                let place = talk.place(at);
                let text = format!("the server went away after it had answered {what}");
                talk.record.server_ended(&text);
                talk.record.findings.push(Finding::error("server-gone", text).at(place));
            }
        }
        steps::capture(&case.capture, "the reply", &seen, talk);
        steps::verify(&case.verify, talk).await;
    }
    let negative = negative_path::of(&case.act);
    if let Some(path) = negative {
        // Few cases have it, and all of them carry the size of what they await.
        Box::pin(negative_path::probe(path, &mut seen, talk)).await;
    }
    let mut judged = if accepted && talk.record.is_ungraded {
        Vec::new()
    } else if accepted {
        let mut judged = expectations::judge(&case.source, &expect, &seen);
        // A reply that the suite rewrites was judged as it came.
        if !transform::rewrites_reply(&case.act) {
            judged.extend(reply_shape::judge(&what, &seen.outcome, talk).map(|finding| finding.at(talk.place(at))));
        }
        judged
    } else {
        let finding = calls::no_result(&what, &seen.outcome, Some(talk.place(at)));
        if let (Outcome::Closed { .. }, Some(finding)) = (&seen.outcome, &finding) {
            talk.record.server_ended(&finding.message);
        }
        finding.into_iter().collect()
    };
    if let Some(path) = negative {
        judged.extend(expectations::judge(&case.source, &path.expect, &seen));
    }
    let gated = matches!(case.act, Act::ToolQuality) || negative.is_some() || fuzz_block(case).is_some();
    let related = related_calls(case);
    let gated = gated || related.is_some() || matches!(case.act, Act::Compose(_));
    if accepted && expect.all().next().is_none() && case.verify.is_empty() && !gated {
        let note = "nothing was checked: the case has no `expect`";
        judged.push(Finding::note(Finding::NOTHING_CHECKED, note).at(talk.place(case.span)));
    }
    talk.record.findings.splice(told_before..told_before, judged);
    implicit_checks::add(&seen, talk).await;
    if let (Some((call, block)), Outcome::Result(base)) = (related, &seen.outcome)
        && talk.record.verdict(context.strict) == Verdict::Passed
    {
        // Few cases have it, and all of them carry the size of what they await.
        Box::pin(metamorphic::perform(call, block, base, talk)).await;
    }
    talk.record.seen = context.keep_seen.then_some(seen);
    talk.record.mark(|timings| &mut timings.checks);
}

fn fuzz_block(case: &Case) -> Option<&FuzzBlock> {
    if let Act::CallTool(CallTool { fuzz, .. }) = &case.act { fuzz.as_deref() } else { None }
}

/// The related calls of a case.
fn related_calls(case: &Case) -> Option<(&CallTool, &Metamorphic)> {
    let Act::CallTool(call) = &case.act else { return None };
    Some((call, call.metamorphic.as_deref()?))
}

/// Makes the adversarial calls of a test, which mean nothing before the honest one is as expected.
async fn fuzz_if_all_held(block: &FuzzBlock, talk: &mut Conversation<'_>, context: &CaseContext) {
    if talk.record.verdict(context.strict) != Verdict::Passed {
        return;
    }
    let around = Surroundings { opener: &context.opener, environment: &context.environment, stop: &context.stop };
    in_suite::perform(block, &around, talk).await;
}

/// True if the checks are to judge an outcome; otherwise the outcome itself is the failure.
pub(crate) fn accepts(checks: &[PlannedCheck], outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Result(_) | Outcome::Cancelled => true,
        Outcome::Error(_) => checks.iter().any(|c| c.check.wants_protocol_error() || c.check.wants_no_reply()),
        Outcome::Malformed(_) | Outcome::Refused(_) | Outcome::TimedOut { .. } | Outcome::Closed { .. } => false,
    }
}
