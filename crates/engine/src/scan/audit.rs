//! The audit of a tool: one call with a valid input, and what its answer says about the tool's health.

use std::time::Duration;

use mcprove_judge::scan_verdict::{ScanCall, ScanJudgement, judge_call};
use mcprove_model::{CallRole, Finding, Observation, Outcome, ToolVerdict, shorten};
use mcprove_wire::Closing;
use serde_json::Value;
use tokio::time::Instant;

use super::{Scan, ScanCase, ScanEnd, ScanFuture, ScanResult};
use crate::calls;
use crate::discover::tool_name;
use crate::refused::{excuse, refusal_of};
use crate::restart::Restartable;
use crate::workplace::written;

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
        let refused = lane.session.server_requests().iter().rfind(|request| !request.answered);
        let mut found = finding(judge_call(&ScanCall {
            outcome: &seen.outcome,
            arguments: &input,
            output_schema: self.tool.get("outputSchema"),
            refused: refused.map(|request| request.method.as_str()),
        }));
        if let (Some(finding), Outcome::Closed { what, .. }) = (&mut found, &seen.outcome) {
            finding.actual = Some(last_lines(&lane.session.stderr())).filter(|lines| !lines.is_empty());
            case.record.server_ended(what);
        }
        case.record.findings.extend(found);
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

/// The finding about a call; nothing for a tool that works.
fn finding(judged: ScanJudgement) -> Option<Finding> {
    let rule = judged.verdict.rule()?;
    let mut finding = match judged.verdict {
        ToolVerdict::Crashed | ToolVerdict::TimedOut => Finding::error(rule, judged.sentence),
        ToolVerdict::ErrorAsSuccess => Finding::warning(rule, judged.sentence),
        ToolVerdict::Works | ToolVerdict::Fails(_) | ToolVerdict::Skipped => Finding::note(rule, judged.sentence),
    };
    finding.actual = judged.evidence;
    finding.help = match judged.verdict {
        ToolVerdict::Crashed => {
            Some("report failures as a result with `isError: true` and a text the agent can act on")
        }
        ToolVerdict::ErrorAsSuccess => Some("set `isError: true`: agents take the text for an answer"),
        ToolVerdict::Fails(cause) => cause.help(),
        ToolVerdict::Works | ToolVerdict::TimedOut | ToolVerdict::Skipped => None,
    }
    .map(str::to_owned);
    Some(finding)
}
