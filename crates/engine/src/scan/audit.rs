//! The audit of a tool: one call with a valid input, and what its answer says about the tool's health.

use std::time::Duration;

use mcprove_judge::exception::unhandled;
use mcprove_judge::output_schema::violates_output_schema;
use mcprove_model::{CallRole, Finding, Observation, Outcome, shorten};
use mcprove_wire::Closing;
use serde_json::Value;
use tokio::time::Instant;

use super::{Scan, ScanCase, ScanEnd, ScanFuture, ScanResult};
use crate::calls;
use crate::discover::tool_name;
use crate::refused::{excuse, refusal_of};
use crate::restart::Restartable;
use crate::workplace::written;

const INTERNAL_ERROR: i64 = -32603;
const METHOD_NOT_FOUND: i64 = -32601;

/// The number of lines of standard error that are shown of a server that died.
const LAST_LINES: usize = 6;

/// A call of a tool with a valid input.
#[derive(Debug)]
pub(crate) struct AuditTool {
    pub(crate) tool: Value,
    /// Its input; paths in it are templates.
    pub(crate) input: Value,
    /// True if the tool says that it only reads.
    pub(crate) reads: bool,
    /// True if a tool that answers is called again on a fresh server, to see what stays the same.
    pub(crate) repeat: bool,
    /// The time a call may take.
    pub(crate) timeout: Duration,
}

/// A tool with the input that was made for it.
#[derive(Debug)]
pub struct Called {
    /// The tool's name.
    pub tool: String,
    /// Its input; `None` when none could be made. The path of the fixture copy is `{{fixture}}`.
    pub input: Option<Value>,
    /// Its answers, each of a fresh server; empty when it was not called.
    pub replies: Vec<Observation>,
    /// The reason why it was not called.
    pub skipped: Option<String>,
    /// True if it said that it misses a file.
    pub misses_file: bool,
}

impl Scan for AuditTool {
    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s> {
        Box::pin(self.audit(case))
    }
}

impl AuditTool {
    async fn audit(&self, mut case: ScanCase<'_>) -> ScanEnd {
        let Some(lane) = &mut case.lane else { unreachable!("an audit works on the session of its lane") };
        let (name, input) = (tool_name(&self.tool), case.workplace.filled(&self.input));
        let exchange = lane.session.call_tool(name, &input, Instant::now() + self.timeout).await;
        case.record.calls.push(calls::record(CallRole::Act, Some(name), &exchange));
        case.record.mark(|timings| &mut timings.call);
        let seen = Observation::of_tool_call(exchange.outcome);
        let mut found = health(&seen, &input);
        if let (Some(finding), Outcome::Closed { what, .. }) = (&mut found, &seen.outcome) {
            finding.actual = Some(last_lines(&lane.session.stderr())).filter(|lines| !lines.is_empty());
            case.record.server_ended(what);
        }
        case.record.findings.extend(found.into_iter().chain(output_mismatch(&self.tool, &seen)));
        let refusal = refusal_of(case.server, case.workplace.variables(), (&seen, &lane.session.stderr()));
        if let Some(refusal) = &refusal {
            excuse(&mut case.record.findings, refusal);
        }
        match case.workplace.restore() {
            Ok(changes) if self.reads => case.record.findings.extend(contradiction(&changes)),
            Ok(_) => {}
            Err(error) => {
                let text = format!("the fixture copy could not be put back as it was: {error}");
                case.record.findings.push(Finding::warning("fixture", text));
            }
        }
        let misses_file = misses_file(&seen);
        let is_answered = matches!(seen.outcome, Outcome::Result(_) | Outcome::Error(_));
        let mut replies = vec![seen];
        if self.repeat && is_answered && refusal.is_none() {
            replies.extend(self.repeated(&mut case, &input).await);
        }
        // A test of what was refused would expect the refusal, and write where there is no sandbox.
        let skipped = refusal.map(|refusal| refusal.to_string());
        if skipped.is_some() {
            replies.clear();
        }
        let replies = replies.into_iter().map(|seen| case.workplace.seen_as_template(seen)).collect();
        let input = Some(written(&self.input));
        let called = Called { tool: name.to_owned(), input, replies, skipped, misses_file };
        case.record.scanned = Some(ScanResult::Audit(called));
        ScanEnd::Judged
    }

    /// The answer to the same call where nothing else was called.
    async fn repeated(&self, case: &mut ScanCase<'_>, input: &Value) -> Option<Observation> {
        let Restartable { opener, server, variables, timeout, .. } = case.lane.as_ref()?;
        let mut fresh = opener.open(server, variables, Instant::now() + *timeout).await.ok()?;
        let number = case.record.opened(&fresh);
        let exchange = fresh.call_tool(tool_name(&self.tool), input, Instant::now() + self.timeout).await;
        // What is odd about a session was found in the first.
        let closing = Closing { oddities: Vec::new(), ..fresh.close().await };
        case.record.closed_session(number, closing);
        // What it changed is of no interest the second time; what cannot be put back was reported above.
        let _ = case.workplace.restore();
        Some(Observation::of_tool_call(exchange.outcome))
    }
}

fn last_lines(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().collect();
    shorten(&lines[lines.len().saturating_sub(LAST_LINES)..].join("\n"), 500).into_owned()
}

/// True if a tool says that a file is not there, or not one it may read.
fn misses_file(seen: &Observation) -> bool {
    let first = seen.text.lines().next().unwrap_or_default();
    let words = ["ENOENT", "no such file", "allowed director"];
    seen.is_error && words.iter().any(|word| first.contains(word))
}

/// The finding about a tool that says it only reads, and changed these files.
fn contradiction(changes: &[String]) -> Option<Finding> {
    if changes.is_empty() {
        return None;
    }
    let text = "the tool is marked `readOnlyHint: true`, but it changed the fixture folder";
    let mut finding = Finding::warning("hint-contradiction", text);
    finding.actual = Some(shorten(&changes.join("\n"), 500).into_owned());
    Some(finding.help("say `readOnlyHint: false`: hosts call read-only tools without asking"))
}

/// What an answer says of a tool: nothing when it is healthy, a note when it rejects its input properly.
fn health(seen: &Observation, input: &Value) -> Option<Finding> {
    match &seen.outcome {
        Outcome::Result(_) if seen.is_error => Some(if let Some(trace) = unhandled(&seen.text, input) {
            let mut finding = Finding::error("crashed", "the tool answered with an unhandled exception");
            finding.actual = Some(shorten(trace, 500).into_owned());
            finding.help("catch the exception and say in plain words what was wrong with the input")
        } else {
            let first = seen.text.lines().next().unwrap_or_default();
            Finding::note("says-why", format!("it says what is wrong: {}", shorten(first, 200)))
        }),
        Outcome::Result(_) | Outcome::Cancelled => None,
        Outcome::Error(error) if matches!(error.code, INTERNAL_ERROR | METHOD_NOT_FOUND) => {
            let text = if error.code == INTERNAL_ERROR {
                "the tool failed with an internal error (-32603): an exception nobody caught"
            } else {
                "the server lists the tool but does not know it (-32601)"
            };
            let mut finding = Finding::error("crashed", text);
            finding.actual = Some(shorten(&error.to_string(), 500).into_owned());
            Some(finding.help("report failures as a result with `isError: true` and a text the agent can act on"))
        }
        Outcome::Error(error) => Some(Finding::note(
            "rejects",
            format!("the tool rejects the input made for it: {}", shorten(&error.to_string(), 300)),
        )),
        Outcome::TimedOut { after_ms } => {
            let seconds = Duration::from_millis(*after_ms).as_secs_f64();
            Some(Finding::error("timed-out", format!("the tool did not answer within {seconds:.1} s")))
        }
        Outcome::Closed { what, .. } => Some(Finding::error("crashed", format!("{what} when the tool was called"))),
        Outcome::Malformed(malformed) => {
            let mut finding = Finding::error("crashed", malformed.fault.clone());
            finding.actual = quoted(&malformed.evidence);
            Some(finding)
        }
        Outcome::Refused(refused) => {
            let mut finding = Finding::error("crashed", refused.what.clone());
            finding.actual = quoted(&refused.evidence);
            finding.help.clone_from(&refused.help);
            Some(finding)
        }
    }
}

/// The beginning of what came.
fn quoted(evidence: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(&evidence[..evidence.len().min(2_000)]);
    Some(shorten(&text, 500).into_owned()).filter(|text| !text.trim().is_empty())
}

fn output_mismatch(tool: &Value, seen: &Observation) -> Option<Finding> {
    let structured = seen.structured.as_ref().filter(|_| !seen.is_error)?;
    let violation = match violates_output_schema(tool.get("outputSchema")?, structured) {
        Ok(violation) => violation?,
        Err(reason) => {
            let text = format!("`structuredContent` could not be compared with the tool's `outputSchema`: {reason}");
            return Some(Finding::warning("output-schema", text));
        }
    };
    let mut finding = Finding::warning("output-schema", "`structuredContent` violates the tool's own `outputSchema`");
    finding.actual = Some(violation);
    Some(finding)
}
