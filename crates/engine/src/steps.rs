//! Calls around the act: setup, verify, teardown.

use mcprove_judge::json_path::JsonPath;
use mcprove_model::{
    CallRecord, CallRole, Capture, Finding, Observation, Outcome, Poll, Span, Step, StepCall, shorten, text_of_contents,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::acts::observed;
use crate::conversation::Conversation;
use crate::observe::FilesBefore;
use crate::{calls, expectations, stored_replies, trust};

/// Makes the setup calls; false when one failed and the case cannot go on.
pub(crate) async fn set_up(steps: &[Step], talk: &mut Conversation<'_>) -> bool {
    for (number, step) in steps.iter().enumerate() {
        let name = format!("setup step {}", number + 1);
        if !take(step, &name, CallRole::Setup, talk).await {
            return false;
        }
    }
    true
}

/// Looks at the state the act left; every step is judged.
pub(crate) async fn verify(steps: &[Step], talk: &mut Conversation<'_>) {
    for (number, step) in steps.iter().enumerate() {
        take(step, &format!("verify step {}", number + 1), CallRole::Verify, talk).await;
    }
}

/// Cleans up; every step is made, whatever the ones before it did.
pub(crate) async fn tear_down(steps: &[Step], talk: &mut Conversation<'_>) {
    for (number, step) in steps.iter().enumerate() {
        take(step, &format!("teardown step {}", number + 1), CallRole::Teardown, talk).await;
    }
}

/// Replies to the verify steps, not judged: one text per step.
pub(crate) async fn states(steps: &[Step], talk: &mut Conversation<'_>) -> Vec<String> {
    let mut states = Vec::new();
    for step in steps {
        states.push(observe(step, CallRole::Verify, talk).await.1.text);
    }
    states
}

async fn take(step: &Step, what: &str, role: CallRole, talk: &mut Conversation<'_>) -> bool {
    if let StepCall::Restart { .. } = &step.call {
        return restart(what, step.span, talk).await;
    }
    let failed_before = talk.record.findings.len();
    let (expect, problems) = expectations::resolve(talk.case, &step.expect, talk.variables);
    talk.record.findings.extend(problems);
    let files = FilesBefore::read(&expect.checks);
    let (subject, mut seen) = match &step.poll {
        Some(poll) => Box::pin(polled(step, poll, role, talk)).await,
        None => observe(step, role, talk).await,
    };
    seen.files = files.and_after();
    if matches!(seen.outcome, Outcome::Cancelled) {
        return false;
    }
    let what = format!("{what} (`{subject}`)");
    let at = step.call.subject().span;
    let wants_error = expect.checks.iter().any(|planned| planned.check.wants_protocol_error());
    match &seen.outcome {
        Outcome::Error(_) if wants_error => {}
        outcome => {
            let place = talk.place(at);
            if let Some(finding) = calls::no_result(&what, outcome, Some(place)) {
                talk.record.no_result(finding, outcome);
                return false;
            }
        }
    }
    if seen.is_error && !step.allow_error && expect.checks.is_empty() {
        let rule = role_name(role);
        let mut finding = Finding::error(rule, format!("{what} failed: the tool answered with `isError`"))
            .at(talk.place(at))
            .help("`allow_error: true` on the step accepts it");
        finding.actual = Some(shorten(&seen.text, 500).into_owned());
        talk.record.findings.push(finding);
        return false;
    }
    stored_replies::supply(&mut seen, &expect, talk);
    let mut judged = expectations::judge(&talk.case.source, &expect, &seen);
    for finding in &mut judged {
        finding.message = format!("{what}: {}", finding.message);
    }
    talk.record.findings.extend(judged);
    capture(&step.capture, &what, &seen, talk);
    !talk.record.findings[failed_before..].iter().any(|finding| finding.severity.fails())
}

/// Repeats a call until its reply is as expected; a reply that never is becomes a finding.
async fn polled(step: &Step, poll: &Poll, role: CallRole, talk: &mut Conversation<'_>) -> (String, Observation) {
    let (until, problems) = expectations::resolve(talk.case, &poll.until, talk.variables);
    talk.record.findings.extend(problems);
    let give_up = (Instant::now() + poll.timeout).min(talk.deadline);
    let mut calls = 1_u64;
    loop {
        let (subject, seen) = observe(step, role, talk).await;
        let unmet = expectations::judge(&talk.case.source, &until, &seen);
        let is_answered = matches!(seen.outcome, Outcome::Result(_) | Outcome::Error(_));
        if !is_answered || !unmet.iter().any(|finding| finding.severity.fails()) {
            return (subject, seen);
        }
        let next = Instant::now() + poll.every;
        if next >= give_up {
            let place = talk.place(poll.span);
            let text = format!("`poll` of `{subject}` was given up after {calls} calls: {}", unmet[0].message);
            let mut finding = Finding::error("poll", text).at(place);
            finding.expected.clone_from(&unmet[0].expected);
            finding.actual.clone_from(&unmet[0].actual);
            talk.record.findings.push(finding.help("raise `timeout` of `poll`, or change `until`"));
            return (subject, seen);
        }
        // Messages of the server are taken meanwhile.
        talk.session.listen(next).await;
        calls += 1;
    }
}

async fn observe(step: &Step, role: CallRole, talk: &mut Conversation<'_>) -> (String, Observation) {
    let server = talk.name_of(step.server.as_ref());
    let other = step.server.is_some().then(|| server.clone());
    let deadline = talk.deadline;
    match &step.call {
        StepCall::Tool { tool, args } => {
            let (name, args) = (talk.text(tool), talk.json(args));
            let Some(session) = talk.session_with(step.server.as_ref()).await else { return (name, not_reached()) };
            session.claim(step.claims.clone());
            let exchange = session.call_tool(&name, &args, deadline).await;
            session.claim(None);
            let record = calls::record(role, Some(&name), &exchange);
            talk.record.calls.push(CallRecord { server: other, ..record });
            trust::trace(&server, &name, &args, &exchange.outcome, talk);
            let mut seen = Observation::of_tool_call(exchange.outcome);
            seen.arguments = args;
            (name, seen)
        }
        StepCall::Resource { uri } => {
            let uri = talk.text(uri);
            let Some(session) = talk.session_with(step.server.as_ref()).await else { return (uri, not_reached()) };
            session.claim(step.claims.clone());
            let exchange = session.request("resources/read", json!({"uri": uri}), deadline).await;
            session.claim(None);
            let record = calls::record(role, Some(&uri), &exchange);
            talk.record.calls.push(CallRecord { server: other, ..record });
            (uri, observed(exchange, text_of_contents))
        }
        StepCall::Restart { .. } => (String::new(), not_reached()),
    }
}

/// Ends the server and starts it again on the same data.
async fn restart(what: &str, span: Span, talk: &mut Conversation<'_>) -> bool {
    let Some(server) = talk.case.server.clone() else { return true };
    // A session is replaced by another one; the server that reads the data begins after the old one has ended.
    for _ in 0..2 {
        match Box::pin(talk.opener.open(&server, talk.variables, talk.deadline)).await {
            Ok(fresh) => {
                let gone = std::mem::replace(talk.session, fresh);
                talk.record.closed_session(*talk.number, gone.close().await);
                *talk.number = talk.record.opened(talk.session);
            }
            Err(failure) => {
                let text = format!("{what}: the server could not be started again: {}", failure.message);
                let finding = Finding::error("not-restarted", text).at(talk.place(span));
                talk.record.findings.push(finding);
                return false;
            }
        }
    }
    true
}

/// Observation for a server that could not be reached, which is a finding already.
fn not_reached() -> Observation {
    Observation::new(Outcome::Cancelled, "")
}

/// Takes values from a reply; what cannot be taken is a finding.
pub(crate) fn capture(captures: &[Capture], what: &str, seen: &Observation, talk: &mut Conversation<'_>) {
    for capture in captures {
        match captured(&capture.path, seen) {
            Ok(value) => talk.variables.set(&capture.name, value),
            Err(reason) => {
                let text = format!("{what}: `{}` could not be captured: {reason}", capture.name);
                let finding = not_captured(text, capture.span, seen, talk);
                talk.record.findings.push(finding);
            }
        }
    }
}

fn not_captured(text: String, span: Span, seen: &Observation, talk: &Conversation<'_>) -> Finding {
    let mut finding = Finding::error("capture", text).at(talk.place(span));
    finding.actual = Some(shorten(&seen.text, 500).into_owned());
    finding
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

fn role_name(role: CallRole) -> &'static str {
    match role {
        CallRole::Setup => "setup",
        CallRole::Act => "act",
        CallRole::Agent => "agent",
        CallRole::Probe => "probe",
        CallRole::Verify => "verify",
        CallRole::Teardown => "teardown",
    }
}
