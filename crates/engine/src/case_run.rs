//! One case from its fixture to its verdict.

use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use mcprove_judge::json_path::JsonPath;
use mcprove_judge::output_schema::violates_output_schema;
use mcprove_model::{
    Act, CallRecord, CallRole, CallTool, Case, CaseFinished, CaseStarted, Connected, Event, Finding, Frame, Node,
    Observation, Outcome, PlannedCase, Severity, Step, Timings, Verdict,
};
use mcprove_suite::template::{Variables, substitute};
use mcprove_wire::{Closing, OpenFailure, Session};
use serde_json::Value;
use tokio::time::Instant;

use crate::fixture::FixtureCopy;
use crate::observe::FilesBefore;
use crate::server::Opener;
use crate::stop::Stop;
use crate::{calls, expectations};

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

/// A case that is over.
#[derive(Debug)]
pub(crate) struct CaseRun {
    pub(crate) started: CaseStarted,
    pub(crate) connected: Option<Connected>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) finished: CaseFinished,
}

impl CaseRun {
    /// A case that was not run.
    pub(crate) fn skipped(planned: &PlannedCase, reason: &str) -> Self {
        let verdict = Verdict::Skipped { reason: reason.to_owned() };
        Progressing::new(planned).finish(verdict)
    }

    pub(crate) fn into_events(self) -> impl Iterator<Item = Event> {
        let index = self.finished.index;
        let frames = self.frames.into_iter().map(move |frame| Event::Frame { index, session: 0, frame });
        std::iter::once(Event::CaseStarted(self.started))
            .chain(self.connected.map(Event::Connected))
            .chain(frames)
            .chain(std::iter::once(Event::CaseFinished(self.finished)))
    }
}

/// Runs one case. Whatever the server does is part of the result.
pub(crate) async fn run_case(planned: PlannedCase, mut context: CaseContext) -> CaseRun {
    let case = Arc::clone(&planned.case);
    let mut progress = Progressing::new(&planned);
    if let Some(skip) = &case.skip {
        return progress.finish(Verdict::Skipped { reason: skip.reason.clone() });
    }
    let timeout = case.timeout.unwrap_or(context.default_timeout);
    let deadline = Instant::now() + timeout;

    let mut variables = Variables::default();
    let mut fixture = None;
    if let Some(original) = case.fixture.clone() {
        let copied = tokio::task::spawn_blocking(move || FixtureCopy::make(&original)).await;
        match copied.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
            Ok(copy) => {
                variables.set("fixture", Value::String(copy.path().to_string_lossy().into_owned()));
                fixture = Some(copy);
            }
            Err(error) => {
                let text = format!("the fixture folder could not be copied: {error}");
                progress.findings.push(Finding::error("fixture", text));
                return progress.finish(Verdict::Error);
            }
        }
        progress.mark(|timings| &mut timings.fixture);
    }

    let Some(server) = case.server.clone() else {
        unreachable!("every act of this version needs a server, and the loader made sure of it");
    };
    let mut stop = context.stop.clone();
    let opening = context.opener.open(&server, &variables, deadline);
    let opened = tokio::select! {
        biased;
        () = stop.stopped() => None,
        opened = opening => Some(opened),
    };
    progress.mark(|timings| &mut timings.handshake);
    let verdict = match opened {
        None => Verdict::Skipped { reason: "interrupted".to_owned() },
        Some(Err(failure)) => progress.not_opened(*failure),
        Some(Ok(mut session)) => {
            progress.opened(&session);
            let acting = tokio::select! {
                biased;
                () = stop.stopped() => None,
                seen = converse(&case, &mut session, &mut variables, &mut progress, &mut context, deadline) => Some(seen),
            };
            progress.closed(session.close().await);
            progress.mark(|timings| &mut timings.teardown);
            match acting {
                None => Verdict::Skipped { reason: "interrupted".to_owned() },
                Some(()) => progress.verdict(context.strict),
            }
        }
    };
    if let Some(copy) = fixture {
        // Removing many files blocks; nothing waits for it but the end of this case.
        let _ = tokio::task::spawn_blocking(move || copy.remove()).await;
        progress.mark(|timings| &mut timings.teardown);
    }
    let keep_frames = context.keep_frames || verdict != Verdict::Passed;
    let mut run = progress.finish(verdict);
    if !keep_frames {
        run.frames = Vec::new();
    }
    run
}

/// Everything between the handshake and the end of the session.
async fn converse(
    case: &Case,
    session: &mut Session,
    variables: &mut Variables,
    progress: &mut Progressing,
    context: &mut CaseContext,
    deadline: Instant,
) {
    let Ok(_permit) = context.acting.acquire().await else { return };
    for (number, step) in case.setup.iter().enumerate() {
        if !set_up(case, number + 1, step, session, variables, progress, deadline).await {
            progress.mark(|timings| &mut timings.setup);
            return;
        }
    }
    progress.mark(|timings| &mut timings.setup);

    let (checks, problems) = expectations::resolve(case, variables);
    progress.findings.extend(problems);
    let files = FilesBefore::read(&checks);
    let Act::CallTool(call) = &case.act;
    let mut seen = act_call_tool(case, call, session, variables, progress, deadline).await;
    progress.mark(|timings| &mut timings.call);
    seen.files = files.and_after();
    seen.notifications = session.notifications().to_vec();

    let wants_error = checks.iter().any(|planned| planned.check.wants_protocol_error());
    let accepted = match seen.outcome {
        Outcome::Result(_) => true,
        Outcome::Error(_) => wants_error,
        Outcome::Malformed(_)
        | Outcome::Refused(_)
        | Outcome::TimedOut { .. }
        | Outcome::Closed { .. }
        | Outcome::Cancelled => false,
    };
    if accepted {
        progress.findings.extend(expectations::judge(case, &checks, &seen));
        if checks.is_empty() {
            let note = "nothing was checked: the case has no `expect`";
            progress.findings.push(Finding::note(Finding::NOTHING_CHECKED, note).at(case.source.place(case.span)));
        }
        progress.findings.extend(output_schema_finding(call, session, variables, &seen, deadline).await);
    } else {
        let name = resolved_text(&call.tool, variables);
        let what = format!("`tools/call` of `{name}`");
        progress.findings.extend(calls::no_result(&what, &seen.outcome, Some(case.source.place(call.tool.span))));
    }
    progress.mark(|timings| &mut timings.checks);
}

async fn act_call_tool(
    _case: &Case,
    call: &CallTool,
    session: &mut Session,
    variables: &Variables,
    progress: &mut Progressing,
    deadline: Instant,
) -> Observation {
    let name = resolved_text(&call.tool, variables);
    let args = substitute(&call.args, variables).to_json();
    let exchange = session.call_tool(&name, &args, deadline).await;
    progress.calls.push(calls::record(CallRole::Act, Some(&name), &exchange));
    let mut seen = Observation::of_tool_call(exchange.outcome);
    seen.elapsed_us = exchange.elapsed_us;
    seen
}

/// Makes a setup call and takes its captures; false when the case cannot go on.
async fn set_up(
    case: &Case,
    number: usize,
    step: &Step,
    session: &mut Session,
    variables: &mut Variables,
    progress: &mut Progressing,
    deadline: Instant,
) -> bool {
    let name = resolved_text(&step.tool, variables);
    let what = format!("setup step {number} (`{name}`)");
    let args = substitute(&step.args, variables).to_json();
    let exchange = session.call_tool(&name, &args, deadline).await;
    progress.calls.push(calls::record(CallRole::Setup, Some(&name), &exchange));
    if let Some(finding) = calls::no_result(&what, &exchange.outcome, Some(case.source.place(step.tool.span))) {
        progress.findings.push(finding);
        return false;
    }
    let seen = Observation::of_tool_call(exchange.outcome);
    if seen.is_error && !step.allow_error {
        let mut finding = Finding::error("setup", format!("{what} failed: the tool answered with `isError`"))
            .at(case.source.place(step.tool.span))
            .help("`allow_error: true` on the step accepts it");
        finding.actual = Some(mcprove_model::shorten(&seen.text, 500).into_owned());
        progress.findings.push(finding);
        return false;
    }
    for capture in &step.capture {
        match captured(&capture.path, &seen) {
            Ok(value) => variables.set(&capture.name, value),
            Err(reason) => {
                let text = format!("{what}: `{}` could not be captured: {reason}", capture.name);
                let mut finding = Finding::error("capture", text).at(case.source.place(capture.span));
                finding.actual = Some(mcprove_model::shorten(&seen.text, 500).into_owned());
                progress.findings.push(finding);
                return false;
            }
        }
    }
    true
}

fn captured(path: &str, seen: &Observation) -> Result<Value, String> {
    if matches!(path.trim(), "" | "$") {
        return Ok(Value::String(seen.text.clone()));
    }
    let json = seen.json().ok_or("the reply is not JSON")?;
    let path = JsonPath::parse(path)?;
    match path.query(json).as_slice() {
        [] => Err("the path matches nothing in the reply".to_owned()),
        [one] => Ok((*one).clone()),
        many => Ok(Value::Array(many.iter().map(|value| (*value).clone()).collect())),
    }
}

/// Structured content that violates the tool's own output schema is worth a finding by itself.
async fn output_schema_finding(
    call: &CallTool,
    session: &mut Session,
    variables: &Variables,
    seen: &Observation,
    deadline: Instant,
) -> Option<Finding> {
    let structured = seen.structured.as_ref().filter(|_| !seen.is_error)?;
    let name = resolved_text(&call.tool, variables);
    let listing = session.list("tools/list", "tools", deadline).await;
    let tool = listing.items.iter().find(|tool| tool.get("name").and_then(Value::as_str) == Some(&name))?;
    let finding = match violates_output_schema(tool.get("outputSchema")?, structured) {
        Ok(None) => return None,
        Ok(Some(violation)) => {
            let text = format!("`structuredContent` of `{name}` violates the tool's own `outputSchema`");
            let mut finding = Finding::warning("output-schema", text);
            finding.actual = Some(violation);
            finding
        }
        Err(reason) => {
            Finding::warning("output-schema", format!("the `outputSchema` of `{name}` is not a valid schema: {reason}"))
        }
    };
    Some(finding)
}

fn resolved_text(node: &Node, variables: &Variables) -> String {
    match substitute(node, variables).to_json() {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// A case on its way: what is known so far.
#[derive(Debug)]
struct Progressing {
    started: CaseStarted,
    connected: Option<Connected>,
    calls: Vec<CallRecord>,
    findings: Vec<Finding>,
    closing: Closing,
    timings: Timings,
    began: Clock,
    marked: Clock,
}

impl Progressing {
    fn new(planned: &PlannedCase) -> Self {
        let case = &planned.case;
        let now = Clock::now();
        Self {
            started: CaseStarted {
                index: planned.index,
                name: case.name.clone(),
                file: case.source.path().to_owned(),
                line: case.source.position(case.span.start).line,
                trial: planned.trial,
                server: case.server.as_ref().map(|server| server.name.clone()),
            },
            connected: None,
            calls: Vec::new(),
            findings: Vec::new(),
            closing: Closing::default(),
            timings: Timings::default(),
            began: now,
            marked: now,
        }
    }

    /// Books the time since the last mark.
    fn mark(&mut self, part: fn(&mut Timings) -> &mut u64) {
        let now = Clock::now();
        *part(&mut self.timings) += micros(now - self.marked);
        self.marked = now;
    }

    fn opened(&mut self, session: &Session) {
        let negotiated = session.negotiated();
        self.connected = Some(Connected {
            index: self.started.index,
            session: 0,
            transport: session.transport_name().to_owned(),
            protocol: negotiated.revision.to_string(),
            server_name: negotiated.server_name.clone(),
            server_version: negotiated.server_version.clone(),
        });
    }

    fn not_opened(&mut self, failure: OpenFailure) -> Verdict {
        let mut finding = Finding::error("no-session", failure.message);
        finding.help = failure.help;
        finding.actual = failure.evidence.map(|bytes| {
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]);
            mcprove_model::shorten(&text, 500).into_owned()
        });
        self.findings.push(finding);
        self.closed(failure.closing);
        Verdict::Error
    }

    fn closed(&mut self, mut closing: Closing) {
        self.findings.append(&mut closing.oddities);
        self.closing = closing;
    }

    fn verdict(&self, strict: bool) -> Verdict {
        if self.findings.iter().any(|finding| finding.fails(strict)) { Verdict::Failed } else { Verdict::Passed }
    }

    fn finish(mut self, verdict: Verdict) -> CaseRun {
        // What failed first, what is merely odd after it.
        self.findings.sort_by_key(|finding| match finding.severity {
            Severity::Critical | Severity::High | Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Note => 2,
        });
        CaseRun {
            started: self.started.clone(),
            connected: self.connected,
            frames: self.closing.frames,
            finished: CaseFinished {
                index: self.started.index,
                verdict,
                findings: self.findings,
                duration_us: micros(self.began.elapsed()),
                timings: self.timings,
                calls: self.calls,
                stderr: self.closing.stderr,
                process_end: self.closing.end,
            },
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
