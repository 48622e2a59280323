//! A host compared with what a scenario expects: noticed, recovered, no storm, nothing leaked, lists respected.

use mcprove_model::{Direction, FaultId, FaultSignal, Finding, WirePart, escape_line};

use crate::conformance::Channel;

use super::evidence::{ClientEnd, HostEvidence, HostFrame, HostStrike};
use super::storms::PARALLEL_US;
use super::{leaks, lists, storms};

/// Expectations of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostExpectation {
    /// The time in which it must give up a call that is not answered.
    pub detected_ms: Option<u64>,
    /// The time in which it must be well again.
    pub recovered_ms: Option<u64>,
    /// The most repetitions of a call that met a fault.
    pub retries: u64,
    /// The most equal requests to one server in a second.
    pub rate: u64,
    /// The most `tools/list` requests.
    pub lists: Option<u64>,
    /// Tools that must have been called, as `server.tool`.
    pub called: Vec<String>,
    /// Tools that must not be called, as `server.tool`.
    pub not_called: Vec<String>,
    /// True if it must end by itself.
    pub ends: bool,
    /// True if a fault may stay unmet.
    pub allow_unhit: bool,
}

impl Default for HostExpectation {
    fn default() -> Self {
        Self {
            detected_ms: None,
            recovered_ms: None,
            retries: 3,
            rate: 20,
            lists: None,
            called: Vec::new(),
            not_called: Vec::new(),
            ends: true,
            allow_unhit: false,
        }
    }
}

/// The reaction of a client to a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The fault, as it is written.
    pub fault: String,
    /// Milliseconds until the client gave the call up, with its sign.
    pub detected: Option<(u64, &'static str)>,
    /// Milliseconds until it was well again, with its sign.
    pub recovered: Option<(u64, &'static str)>,
    /// Repetitions of the call.
    pub retries: u64,
}

impl Reaction {
    /// One line about it.
    pub fn line(&self) -> String {
        let part = |what: &str, part: Option<(u64, &str)>| match part {
            Some((ms, how)) => format!("{what} after {ms} ms ({how})"),
            None => format!("not {what}"),
        };
        format!(
            "`{}` on {}.{}: {}, {}, {} retries",
            self.fault,
            self.server,
            self.tool,
            part("detected", self.detected),
            part("recovered", self.recovered),
            self.retries
        )
    }
}

/// The result of a scenario.
#[derive(Clone, Debug, Default)]
pub struct HostVerdict {
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
    /// The reaction to each fault.
    pub reactions: Vec<Reaction>,
}

/// Judges a client by what was observed.
pub fn judge_host(evidence: &HostEvidence, expected: &HostExpectation) -> HostVerdict {
    let mut verdict = HostVerdict::default();
    if !evidence.frames.iter().any(HostFrame::is_sent) {
        let text = "the client sent no message to any server";
        verdict.findings.push(Finding::error("host-no-connection", text).help(
            "check that the client reads the configuration it is given: `mcprove host --help` lists the placeholders",
        ));
        if evidence.end.is_crash() {
            end(evidence, expected, &mut verdict.findings);
        }
        return verdict;
    }
    if evidence.strikes.is_empty() && !expected.allow_unhit {
        let text = "the client met no fault, so nothing was tested";
        verdict.findings.push(
            Finding::error("host-never-hit", text)
                .help("let the client call the tool that has the fault, or write `allow_unhit: true`"),
        );
    }
    for (at, strike) in evidence.strikes.iter().enumerate() {
        let channel = evidence.servers[strike.server].channel;
        let silent = is_silent(strike, channel) || is_too_slow(strike, expected);
        let reaction = react(evidence, at, strike, silent);
        judge_reaction(strike, &reaction, expected, silent, &mut verdict.findings);
        if silent {
            verdict.findings.extend(not_cancelled(evidence, strike, &reaction));
        }
        verdict.reactions.push(reaction);
    }
    once_per_fault(&mut verdict.findings);
    storms::judge(evidence, expected, &mut verdict.findings);
    lists::judge(evidence, expected, &mut verdict.findings);
    leaks::judge(evidence, &mut verdict.findings);
    calls(evidence, expected, &mut verdict.findings);
    flood(evidence, &mut verdict.findings);
    end(evidence, expected, &mut verdict.findings);
    verdict
}

/// True if a fault leaves a call without a reply that a client could match to it.
fn is_silent(strike: &HostStrike, channel: Channel) -> bool {
    match strike.fault.row().signal {
        FaultSignal::Silence => true,
        // Over HTTP it is clear which call the bytes were to answer; on pipes it is not.
        FaultSignal::Garbage => channel == Channel::Stdio,
        FaultSignal::Delay | FaultSignal::Error | FaultSignal::Closed | FaultSignal::Noise | FaultSignal::Content => {
            false
        }
    }
}

/// True if a reply comes later than the client may wait.
fn is_too_slow(strike: &HostStrike, expected: &HostExpectation) -> bool {
    strike.fault.id == FaultId::Slow && expected.detected_ms.is_some_and(|most| strike.fault.count() > most)
}

fn react(evidence: &HostEvidence, at: usize, strike: &HostStrike, silent: bool) -> Reaction {
    let server = &evidence.servers[strike.server];
    let since = |at_us: u64| at_us.saturating_sub(strike.at_us) / 1_000;
    let later = || evidence.frames.iter().filter(|frame| frame.at_us >= strike.at_us);
    let call = request_of(evidence, strike);
    let is_call = |frame: &&HostFrame| call.is_some_and(|call| std::ptr::eq(*frame, call));
    // What is sent together with a call does not show that the client gave it up.
    let is_parallel = |frame: &HostFrame| silent && frame.at_us < strike.at_us.saturating_add(PARALLEL_US);
    let signs = || later().filter(|frame| !is_call(frame));
    // A client with calls in parallel goes on while it waits: its cancellation is the better sign.
    let cancelled = signs().find(|frame| is_cancellation(frame, strike, call));
    let next = match cancelled {
        Some(frame) => Some((since(frame.at_us), "it cancelled the call")),
        None => signs()
            .filter(|frame| frame.part == WirePart::Closed || !is_parallel(frame))
            .find_map(|frame| Some((since(frame.at_us), sign(frame, strike)?))),
    };
    let exit = evidence.end.at_us().filter(|end| *end >= strike.at_us).map(|end| (since(end), "it ended"));
    let detected = match (next, exit) {
        (Some(next), Some(exit)) => Some(if next.0 <= exit.0 { next } else { exit }),
        (next, exit) => next.or(exit),
    };
    Reaction {
        server: server.name.clone(),
        tool: strike.tool.clone(),
        fault: strike.fault.to_string(),
        detected,
        recovered: recovered(evidence, strike, detected).map(|(at_us, how)| (since(at_us), how)),
        retries: storms::retries(evidence, at),
    }
}

/// The request that met a fault: the last call of the tool up to then.
pub(super) fn request_of<'e>(evidence: &'e HostEvidence, strike: &HostStrike) -> Option<&'e HostFrame> {
    let mut calls = evidence.frames.iter().filter(|frame| {
        frame.server == strike.server
            && frame.called() == Some(strike.tool.as_str())
            && (strike.id.is_null() || frame.id() == Some(&strike.id))
    });
    let before = |frame: &&HostFrame| frame.at_us <= strike.at_us.saturating_add(SLACK_US);
    calls.by_ref().take_while(before).last()
}

/// The time by which the observer may see a request later than the server.
const SLACK_US: u64 = 100_000;

/// A sign that the client has given a call up.
fn sign(frame: &HostFrame, strike: &HostStrike) -> Option<&'static str> {
    if frame.direction != Direction::Sent {
        return None;
    }
    match (&frame.part, frame.method()) {
        (WirePart::Closed, _) if frame.server == strike.server => Some("it closed the connection"),
        (WirePart::Message, Some("tools/call")) if frame.called() == Some(strike.tool.as_str()) => {
            Some("it called again")
        }
        // A ping may be how it finds out whether the server still answers.
        (WirePart::Message, Some("tools/call" | "tools/list" | "initialize" | "server/discover")) => Some("it went on"),
        _ => None,
    }
}

/// True if a message cancels the call that met a fault.
fn is_cancellation(frame: &HostFrame, strike: &HostStrike, call: Option<&HostFrame>) -> bool {
    let id = call.and_then(HostFrame::id).or(Some(&strike.id).filter(|id| !id.is_null()));
    frame.is_sent()
        && frame.server == strike.server
        && frame.method() == Some("notifications/cancelled")
        && id.is_none_or(|id| frame.params()["requestId"] == *id)
}

/// When the client was well again: a request after the fault was noticed got a normal reply, or it ended in order.
fn recovered(
    evidence: &HostEvidence,
    strike: &HostStrike,
    detected: Option<(u64, &'static str)>,
) -> Option<(u64, &'static str)> {
    let noticed_us = strike.at_us + detected?.0 * 1_000;
    let is_explicit = !is_silent(strike, evidence.servers[strike.server].channel);
    let own = request_of(evidence, strike).and_then(HostFrame::id);
    let reply = evidence.frames.iter().find(|frame| {
        let is_result = frame.direction == Direction::Received
            && frame.json.as_ref().is_some_and(|json| json.get("result").is_some());
        let is_later = frame.at_us >= if is_explicit { strike.at_us } else { noticed_us };
        // The reply to the very call counts where the fault only delays or decorates it.
        let is_other = frame.server != strike.server || frame.id() != own;
        is_result && is_later && (is_other || is_explicit)
    });
    if let Some(reply) = reply {
        return Some((reply.at_us, "a request was answered"));
    }
    match evidence.end {
        ClientEnd::Exited { at_us, .. } if !evidence.end.is_crash() && at_us >= strike.at_us => {
            Some((at_us, "it ended in order"))
        }
        ClientEnd::Exited { .. } | ClientEnd::StillRunning => None,
    }
}

/// The finding about a call that was given up, but not cancelled.
fn not_cancelled(evidence: &HostEvidence, strike: &HostStrike, reaction: &Reaction) -> Option<Finding> {
    let (_, how) = reaction.detected?;
    let has_ended = strike.fault.id == FaultId::WrongId && evidence.servers[strike.server].channel != Channel::Stdio;
    if has_ended {
        // The response is over: there is nothing left to cancel.
        return None;
    }
    let call = request_of(evidence, strike)?;
    // Over HTTP, closing the connection of a call gives it up; on pipes, only if that is what the client did first.
    let channel = evidence.servers[strike.server].channel;
    let closing_cancels = channel != Channel::Stdio || how == "it closed the connection";
    let is_cancelled = evidence.frames.iter().any(|frame| {
        frame.server == strike.server
            && frame.at_us >= call.at_us
            && frame.direction == Direction::Sent
            && (frame.part == WirePart::Closed && closing_cancels
                || frame.method() == Some("notifications/cancelled") && Some(&frame.params()["requestId"]) == call.id())
    });
    let is_answered = evidence.frames.iter().any(|frame| {
        frame.server == strike.server
            && frame.direction == Direction::Received
            && frame.at_us >= call.at_us
            && frame.method().is_none()
            && frame.id().is_some()
            && frame.id() == call.id()
    });
    if is_cancelled || is_answered || how == "it ended" {
        return None;
    }
    let tool = escape_line(&strike.tool);
    let text = format!("the client gave up the call of `{tool}` that met `{}` without cancelling it", strike.fault);
    Some(
        Finding::warning("host-no-cancel", text)
            .help("send `notifications/cancelled` when a deadline passes, so that the server can stop working"),
    )
}

fn judge_reaction(
    strike: &HostStrike,
    reaction: &Reaction,
    expected: &HostExpectation,
    silent: bool,
    findings: &mut Vec<Finding>,
) {
    let what = format!("`{}` on `{}.{}`", reaction.fault, escape_line(&reaction.server), escape_line(&reaction.tool));
    let listed = matches!(
        strike.fault.id,
        FaultId::InjectedDescription | FaultId::ChangedDescription | FaultId::RenamedTool | FaultId::AddedArgument
    );
    if silent {
        match (reaction.detected, expected.detected_ms) {
            (None, _) => findings.push(
                Finding::error("host-not-detected", format!("the client never gave up a call that met {what}"))
                    .help("give every request a deadline, and cancel the call when it passes"),
            ),
            (Some((took, how)), Some(most)) if took > most => findings.push(
                Finding::error("host-late-detection", format!("the client gave up a call that met {what} too late"))
                    .compared(format!("within {most} ms"), format!("after {took} ms: {how}"))
                    .help("lower the client's deadline for requests, or raise `expect.detected`"),
            ),
            (Some(_), _) => {}
        }
    }
    if listed && reaction.recovered.is_none() && reaction.detected.is_none() {
        return;
    }
    match (reaction.recovered, expected.recovered_ms) {
        (None, _) if reaction.detected.is_none() && silent => {}
        (None, _) => findings
            .push(Finding::error("host-not-recovered", format!("the client did not recover from {what}")).help(
                "after a failed call, go on: retry within bounds, use another tool, or report the error and end",
            )),
        (Some((took, how)), Some(most)) if took > most => findings.push(
            Finding::error("host-slow-recovery", format!("the client took too long to recover from {what}"))
                .compared(format!("within {most} ms"), format!("after {took} ms: {how}"))
                .help("retry earlier or report the error earlier, or raise `expect.recovered`"),
        ),
        (Some(_), _) => {}
    }
}

/// Keeps the first of the findings that say the same of every retry.
fn once_per_fault(findings: &mut Vec<Finding>) {
    let mut seen = Vec::new();
    findings.retain(|finding| {
        let key = (finding.rule.clone(), finding.message.clone());
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
}

fn calls(evidence: &HostEvidence, expected: &HostExpectation, findings: &mut Vec<Finding>) {
    let is_called = |wanted: &str| {
        evidence.frames.iter().any(|frame| {
            let server = evidence.servers.get(frame.server).map_or("", |server| server.name.as_str());
            frame.called().is_some_and(|tool| format!("{server}.{tool}") == wanted || tool == wanted)
        })
    };
    for tool in expected.called.iter().filter(|tool| !is_called(tool)) {
        let text = format!("the client did not call `{}`", escape_line(tool));
        findings.push(Finding::error("host-missing-call", text).help("the scenario expects it: see `expect.called`"));
    }
    for tool in expected.not_called.iter().filter(|tool| is_called(tool)) {
        let text = format!("the client called `{}`", escape_line(tool));
        findings
            .push(Finding::error("host-forbidden-call", text).help("the scenario forbids it: see `expect.not_called`"));
    }
    let unreadable = evidence.frames.iter().filter(|frame| frame.is_unreadable()).count() + evidence.left_out.frames;
    let unproven: Vec<&String> = expected.not_called.iter().filter(|tool| !is_called(tool)).collect();
    if unreadable > 0 && !unproven.is_empty() {
        let tools = unproven.iter().map(|tool| format!("`{}`", escape_line(tool))).collect::<Vec<_>>().join(", ");
        let text = format!("{unreadable} messages of the client cannot be read, so it may have called {tools}");
        findings.push(Finding::error("host-unreadable", text).help("send each request as one JSON object on its own"));
    }
}

fn flood(evidence: &HostEvidence, findings: &mut Vec<Finding>) {
    let left_out = evidence.left_out;
    if left_out.frames > 0 {
        let text = format!(
            "the client floods its servers: {} messages with {} KiB in all were not kept",
            left_out.frames,
            left_out.bytes.div_ceil(1 << 10)
        );
        findings.push(Finding::error("host-flood", text).help("send fewer and smaller messages"));
    }
}

fn end(evidence: &HostEvidence, expected: &HostExpectation, findings: &mut Vec<Finding>) {
    if evidence.end.is_crash() {
        let how = match evidence.end {
            ClientEnd::Exited { signal: Some(signal), .. } => format!("signal {signal}"),
            ClientEnd::Exited { code, .. } => format!("exit code {}", code.unwrap_or_default()),
            ClientEnd::StillRunning => String::new(),
        };
        let text = format!("the client crashed: {how}");
        findings
            .push(Finding::error("host-crashed", text).help("handle the failure of a server as an error of a call"));
    }
    if expected.ends && evidence.end == ClientEnd::StillRunning {
        let text = "the client was still running when the time of the scenario was up";
        findings.push(
            Finding::error("host-hung", text)
                .help("give every wait a deadline; raise `timeout`, or write `ends: false` for a client that runs on"),
        );
    }
}
