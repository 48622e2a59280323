//! Storms: a call repeated too often, too fast, or earlier than the server asked for.

use std::collections::BTreeMap;

use mcprove_model::{Direction, FaultId, Finding, WirePart, escape_line};
use serde_json::Value;

use super::evidence::{HostEvidence, HostFrame};
use super::score::{HostExpectation, request_of};

/// The clocks of both sides may differ by so much.
const SLACK_US: u64 = 50_000;
const SECOND_US: u64 = 1_000_000;

/// The number of repetitions of a call after a fault: the same tool with the same arguments, until one of them succeeds.
pub(super) fn retries(evidence: &HostEvidence, at: usize) -> u64 {
    let strike = &evidence.strikes[at];
    let Some(call) = request_of(evidence, strike) else { return 0 };
    let same = |frame: &&HostFrame| {
        frame.server == call.server
            && frame.called() == Some(strike.tool.as_str())
            && frame.params().get("arguments") == call.params().get("arguments")
            && frame.at_us > call.at_us
    };
    let mut last = call;
    let mut count = 0;
    for again in evidence.frames.iter().filter(same) {
        match fate(evidence, last, again) {
            // What follows a success is another call, not a repetition.
            Fate::Succeeded => return count,
            Fate::Failed => {
                count += 1;
                last = again;
            }
            Fate::Open => {}
        }
    }
    count
}

/// The state of a call when another like it is made.
enum Fate {
    Succeeded,
    Failed,
    /// It was just sent: calls in parallel are not repetitions.
    Open,
}

/// A call without a reply for so long was not sent in parallel with the next.
pub(super) const PARALLEL_US: u64 = 100_000;

fn fate(evidence: &HostEvidence, call: &HostFrame, again: &HostFrame) -> Fate {
    let between = evidence.frames.iter().filter(|frame| {
        frame.is_with(call)
            && frame.direction == Direction::Received
            && (call.at_us..again.at_us).contains(&frame.at_us)
    });
    let mut has_failed = again.at_us.saturating_sub(call.at_us) >= PARALLEL_US || !again.is_with(call);
    for frame in between {
        if call.id().is_some_and(|id| frame.answers(id)) {
            match frame.json.as_ref().and_then(|json| json.get("result")) {
                Some(_) => return Fate::Succeeded,
                None => has_failed = true,
            }
        }
        let is_refusal = matches!(frame.part, WirePart::HttpResponse { status: 400.., .. });
        let is_garbage = frame.part == WirePart::Message && frame.json.is_none();
        has_failed |= is_refusal || is_garbage || frame.part == WirePart::Closed;
    }
    if has_failed { Fate::Failed } else { Fate::Open }
}

/// Findings about storms.
pub(super) fn judge(evidence: &HostEvidence, expected: &HostExpectation, findings: &mut Vec<Finding>) {
    if let Some((strike, count)) = evidence
        .strikes
        .iter()
        .enumerate()
        .map(|(at, strike)| (strike, retries(evidence, at)))
        .max_by_key(|(_, count)| *count)
        && count > expected.retries
    {
        let tool = escape_line(&strike.tool);
        let text = format!("the client repeated the call of `{tool}` that met `{}` too often", strike.fault);
        findings.push(
            Finding::error("host-retry-storm", text)
                .compared(format!("at most {} retries", expected.retries), format!("{count} retries"))
                .help("bound the number of retries, and wait longer before each"),
        );
    }
    rate(evidence, expected, findings);
    reconnections(evidence, expected, findings);
    early_retries(evidence, findings);
}

/// More equal requests to one server within a second than are allowed.
fn rate(evidence: &HostEvidence, expected: &HostExpectation, findings: &mut Vec<Finding>) {
    let mut times: BTreeMap<(usize, &str, String), Vec<u64>> = BTreeMap::new();
    for frame in evidence.frames.iter().filter(|frame| frame.is_request()) {
        let method = frame.method().unwrap_or_default();
        times.entry((frame.server, method, content(frame.params()))).or_default().push(frame.at_us);
    }
    for ((server, method, _), times) in times {
        let most = times.iter().enumerate().map(|(first, at)| {
            times[first..].iter().take_while(|other| other.saturating_sub(*at) < SECOND_US).count() as u64
        });
        let most = most.max().unwrap_or(0);
        if most > expected.rate {
            let name = escape_line(&evidence.servers[server].name);
            let text = format!("the client sent a storm of `{}` to `{name}`", escape_line(method));
            findings.push(
                Finding::error("host-request-storm", text)
                    .compared(format!("at most {} in a second", expected.rate), format!("{most} in a second"))
                    .help("wait between requests, and merge those that ask for the same"),
            );
        }
    }
}

/// More handshakes with one server within ten seconds, and no call between them, than equal requests are allowed in one.
fn reconnections(evidence: &HostEvidence, expected: &HostExpectation, findings: &mut Vec<Finding>) {
    for (server, about) in evidence.servers.iter().enumerate() {
        let mut times: Vec<u64> = Vec::new();
        let mut most = 0;
        for frame in evidence.frames.iter().filter(|frame| frame.server == server && frame.is_request()) {
            match frame.method() {
                Some("tools/call") => times.clear(),
                Some("initialize") => {
                    times.retain(|at| frame.at_us.saturating_sub(*at) < 10 * SECOND_US);
                    times.push(frame.at_us);
                    most = most.max(times.len() as u64);
                }
                _ => {}
            }
        }
        // More in one second is reported as a storm of requests.
        let is_reported = findings
            .iter()
            .any(|finding| finding.rule == "host-request-storm" && finding.message.contains("`initialize`"));
        if most > expected.rate && !is_reported {
            let text =
                format!("the client connects to `{}` again and again, and calls nothing", escape_line(&about.name));
            findings.push(
                Finding::error("host-request-storm", text)
                    .compared(
                        format!("at most {} handshakes in ten seconds", expected.rate),
                        format!("{most} handshakes"),
                    )
                    .help("wait longer before each new connection, and give up after some"),
            );
        }
    }
}

/// The content of a request: pages of a list and calls with other arguments are not the same.
fn content(params: &Value) -> String {
    let mut params = params.clone();
    if let Some(map) = params.as_object_mut() {
        map.shift_remove("_meta");
    }
    params.to_string()
}

/// A call that was refused for a while, repeated before that while was over.
fn early_retries(evidence: &HostEvidence, findings: &mut Vec<Finding>) {
    for strike in evidence.strikes.iter().filter(|strike| strike.fault.id == FaultId::RateLimit) {
        let Some(call) = request_of(evidence, strike) else { continue };
        let Some((refused_us, wait_us)) = refusal(evidence, call) else { continue };
        let again = evidence.frames.iter().find(|frame| {
            frame.server == call.server && frame.called() == Some(strike.tool.as_str()) && frame.at_us > refused_us
        });
        let Some(again) = again else { continue };
        if again.at_us.saturating_add(SLACK_US) < refused_us.saturating_add(wait_us) {
            let text = format!("the client repeated `{}` before `Retry-After` had passed", escape_line(&strike.tool));
            findings.push(
                Finding::error("host-early-retry", text)
                    .compared(
                        format!("not before {} ms", wait_us / 1_000),
                        format!("after {} ms", (again.at_us - refused_us) / 1_000),
                    )
                    .help("wait as long as the server asks for: `Retry-After`, or `retryAfterMs` in the error"),
            );
            return;
        }
    }
}

/// When a call was refused, and for how long, as the refusal says.
fn refusal(evidence: &HostEvidence, call: &HostFrame) -> Option<(u64, u64)> {
    let later = evidence.frames.iter().filter(|frame| {
        frame.server == call.server && frame.direction == Direction::Received && frame.at_us >= call.at_us
    });
    for frame in later {
        if let WirePart::HttpResponse { status: 429, headers, .. } = &frame.part {
            let wait = headers.iter().find(|(name, _)| name == "retry-after")?.1.parse::<u64>().ok()?;
            return Some((frame.at_us, wait.saturating_mul(SECOND_US)));
        }
        if frame.id().is_some() && frame.id() == call.id() {
            let wait = frame.json.as_ref()?.pointer("/error/data/retryAfterMs").and_then(Value::as_u64)?;
            return Some((frame.at_us, wait.saturating_mul(1_000)));
        }
    }
    None
}
