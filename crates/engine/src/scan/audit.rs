//! The audit of a tool: one call with a valid input, and what its answer says about the tool's health.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use mcprove_judge::fuzz::leak_in;
use mcprove_judge::listed_values::with_listed_values;
use mcprove_judge::output_schema::{NO_STRUCTURED_CONTENT, lacks_structured_content, violates_output_schema};
use mcprove_judge::reply_shape::{ReplyKind, refused_shape};
use mcprove_judge::scan_verdict::{ScanCall, ScanJudgement, judge_call};
use mcprove_judge::tool_effect::ToolEffect;
use mcprove_model::{
    CallRole, Exchange, FailureCause, Finding, Malformed, Observation, Outcome, Refused, RpcError, ToolVerdict, shorten,
};
use mcprove_wire::{Closing, Session};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Scan, ScanCase, ScanEnd, ScanFuture, ScanResult};
use crate::calls;
use crate::discover::tool_name;
use crate::fuzz::context::server_values;
use crate::restart::Restartable;
use crate::sandbox_refusals::{SandboxRules, excuse};

/// The number of lines of standard error that are shown of a server that died.
const LAST_LINES: usize = 6;

/// A call of a tool with a valid input.
#[derive(Debug)]
pub(crate) struct AuditTool {
    pub(crate) tool: Value,
    pub(crate) effect: ToolEffect,
    /// Its input; paths in it are templates.
    pub(crate) input: Value,
    /// The seed of an input with optional arguments, for a tool that needs more than its schema says; `None` where the
    /// user gave the arguments.
    pub(crate) fuller_seed: Option<u64>,
    /// True if values that may do harm are allowed.
    pub(crate) allows_all: bool,
    /// The names of tools that may list what its input has to name.
    pub(crate) listing: Vec<String>,
    /// Where a tool that answers is called again on a fresh server, to see what stays the same: false once a second
    /// server did not start, because some take a port or a file that only one can have.
    pub(crate) repeat: Arc<AtomicBool>,
    /// The time a call may take.
    pub(crate) timeout: Duration,
}

/// Time in which a server that ends with its reply is gone.
const FAREWELL: Duration = Duration::from_millis(20);

/// The end of a process right after it had answered a call, if it ended.
async fn went_away(exchange: &Exchange, session: &mut Session) -> Option<String> {
    let is_answered = matches!(exchange.outcome, Outcome::Result(_) | Outcome::Error(_));
    if !is_answered || session.process_id().is_none() {
        return None;
    }
    if session.is_open() {
        // A ping would be answered by one that is there, and some servers know none.
        session.listen(Instant::now() + FAREWELL).await;
    }
    let Outcome::Closed { what, .. } = session.how_it_closed()? else { return None };
    Some(what)
}

/// Bytes of the text of a reply that are kept: a test is made of its first lines.
const KEPT_TEXT: usize = 64 << 10;

/// A reply as far as a test is made of it: a scan of many tools keeps one of each until its end.
fn kept(mut seen: Observation) -> Observation {
    seen.text.truncate(seen.text.floor_char_boundary(KEPT_TEXT));
    seen.text.shrink_to_fit();
    let (text, is_error) = (std::mem::take(&mut seen.text), seen.is_error);
    let outcome = match seen.outcome {
        Outcome::Result(_) => Outcome::Result(json!({"isError": is_error})),
        Outcome::Error(RpcError { code, .. }) => Outcome::Error(RpcError { code, message: String::new(), data: None }),
        Outcome::Malformed(Malformed { fault, .. }) => Outcome::Malformed(Malformed { fault, evidence: Bytes::new() }),
        Outcome::Refused(refused) => Outcome::Refused(Refused { evidence: Bytes::new(), ..refused }),
        other @ (Outcome::TimedOut { .. } | Outcome::Closed { .. } | Outcome::Cancelled) => other,
    };
    let mut kept = Observation::new(outcome, text);
    kept.is_error = is_error;
    kept
}

/// A tool with the input that was made for it.
#[derive(Debug)]
pub struct PlannedCall {
    /// The tool's name.
    pub tool: String,
    /// Its input; `None` when none could be made. The path of the fixture copy is `{{fixture}}`.
    pub input: Option<Value>,
    /// The verdict about it; `None` when it was not called.
    pub judged: Option<ScanJudgement>,
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
        let name = tool_name(&self.tool);
        let mut input = case.fixture_guard.filled(&self.input);
        let (mut exchange, mut judged) = self.call(&mut case, &input).await;
        if matches!(judged.verdict, ToolVerdict::Fails(FailureCause::InputNotFound | FailureCause::Other))
            && let Some(listed) = self.listed(&input, &mut case).await
        {
            (exchange, judged) = self.call(&mut case, &listed).await;
            input = listed;
        }
        if judged.verdict == ToolVerdict::Fails(FailureCause::Other)
            && let Some(fuller) = self.fuller(&case)
            && let Some(lane) = &mut case.lane
            && lane.restore(case.record).await
        {
            let (again, judged_again) = self.call(&mut case, &fuller).await;
            if judged_again.verdict == ToolVerdict::Works || judged_again.verdict.is_unprovable() {
                (judged, exchange, input) = (judged_again, again, fuller);
            }
        }
        case.record.mark(|timings| &mut timings.call);
        let Some(lane) = &mut case.lane else { unreachable!("an audit works on the session of its lane") };
        if let Some(what) = went_away(&exchange, lane.session).await {
            let sentence = format!("the tool answered, and then {what}");
            judged = ScanJudgement { verdict: ToolVerdict::Crashed, sentence, evidence: None };
            case.record.server_ended(&what);
        }
        let seen = Observation::of_tool_call(exchange.outcome);
        let mut found = finding(&judged);
        if let (Some(finding), Outcome::Closed { what, .. }) = (&mut found, &seen.outcome) {
            finding.actual = Some(last_lines(&lane.session.stderr())).filter(|lines| !lines.is_empty());
            case.record.server_ended(what);
        }
        case.record.findings.extend(found.into_iter().chain(output_mismatch(&self.tool, &seen)));
        let rules = SandboxRules::of(case.server, case.fixture_guard.variables());
        let refusal = rules.and_then(|rules| rules.refusal(&seen, &lane.session.stderr()));
        if let Some(refusal) = &refusal {
            excuse(&mut case.record.findings, refusal);
        }
        if let Some(leak) = leak_in(&seen.outcome, &input, &server_values(case.server, &case.context.environment)) {
            let finding = Finding::error("leak", format!("the reply gives something away: {}", leak.message));
            case.record.findings.push(finding.help("answer with a text made for the agent"));
        }
        match case.fixture_guard.restore() {
            Ok(changes) if self.effect == ToolEffect::Reads => case.record.findings.extend(contradiction(&changes)),
            Ok(_) => {}
            Err(error) => {
                let text = format!("the fixture copy could not be put back as it was: {error}");
                case.record.findings.push(Finding::warning("fixture", text));
            }
        }
        let misses_file = misses_file(&seen);
        let is_answered = matches!(seen.outcome, Outcome::Result(_) | Outcome::Error(_));
        let mut replies = vec![seen];
        if self.repeat.load(Ordering::Relaxed) && is_answered && refusal.is_none() {
            replies.extend(self.repeated(&mut case, &input).await);
        }
        // A test of a refused call would expect the refusal, and write to disk outside a sandbox.
        let skipped = refusal.map(|refusal| refusal.to_string());
        if skipped.is_some() {
            replies.clear();
        }
        let replies = replies.into_iter().map(|seen| kept(case.fixture_guard.seen_as_template(seen))).collect();
        let input = Some(case.fixture_guard.as_template(&input));
        let called = PlannedCall { tool: name.to_owned(), input, judged: Some(judged), replies, skipped, misses_file };
        case.record.scanned = Some(ScanResult::Audit(called));
        ScanEnd::Judged
    }

    /// A call on the session of the lane, and the verdict about it.
    async fn call(&self, case: &mut ScanCase<'_>, input: &Value) -> (Exchange, ScanJudgement) {
        let name = tool_name(&self.tool);
        let Some(lane) = &mut case.lane else { unreachable!("an audit works on the session of its lane") };
        let exchange = lane.session.call_tool(name, input, Instant::now() + self.timeout).await;
        case.record.calls.push(calls::record(CallRole::Act, Some(name), &exchange));
        let judged = judge_exchange(&exchange, lane.session, |call| ScanCall {
            arguments: input,
            output_schema: self.tool.get("outputSchema"),
            ..call
        });
        (exchange, judged)
    }

    /// An input with optional arguments.
    fn fuller(&self, case: &ScanCase<'_>) -> Option<Value> {
        let guard = case.fixture_guard.guard(&self.tool, &self.effect, &[]).allowing_all_if(self.allows_all);
        guard.fuller_input(&self.tool, self.fuller_seed?, case.fixture_guard.places().as_ref())
    }

    /// The input with values that other tools list in the place of those that were made up.
    async fn listed(&self, input: &Value, case: &mut ScanCase<'_>) -> Option<Value> {
        let guard = case.fixture_guard.guard(&self.tool, &self.effect, &[]);
        for name in &self.listing {
            let lane = case.lane.as_mut()?;
            if !lane.restore(case.record).await {
                return None;
            }
            let exchange = lane.session.call_tool(name, &json!({}), Instant::now() + self.timeout).await;
            case.record.calls.push(calls::record(CallRole::Setup, Some(name), &exchange));
            let Outcome::Result(listed) = &exchange.outcome else { continue };
            if let Some(input) = with_listed_values(&self.tool, input, listed, &guard) {
                return Some(input);
            }
        }
        None
    }

    /// The answer to the same call where nothing else was called.
    async fn repeated(&self, case: &mut ScanCase<'_>, input: &Value) -> Option<Observation> {
        let Restartable { opener, server, variables, .. } = case.lane.as_ref()?;
        let Ok(mut fresh) = opener.open(server, variables, Instant::now() + self.timeout).await else {
            self.repeat.store(false, Ordering::Relaxed);
            return None;
        };
        let number = case.record.opened(&fresh);
        let exchange = fresh.call_tool(tool_name(&self.tool), input, Instant::now() + self.timeout).await;
        // What is odd about a session was found in the first.
        let closing = Closing { oddities: Vec::new(), ..fresh.close().await };
        case.record.closed_session(number, closing);
        // What it changed is of no interest the second time; what cannot be put back was reported above.
        let _ = case.fixture_guard.restore();
        Some(Observation::of_tool_call(exchange.outcome))
    }
}

/// Judges an exchange with what its session knows of it.
pub(super) fn judge_exchange<'e>(
    exchange: &'e Exchange,
    session: &'e Session,
    about: impl FnOnce(ScanCall<'e>) -> ScanCall<'e>,
) -> ScanJudgement {
    let refused = session.server_requests().iter().rfind(|request| !request.answered);
    let kind = match exchange.method.as_str() {
        "resources/read" => ReplyKind::ReadResource,
        "prompts/get" => ReplyKind::GetPrompt,
        "tools/list" => ReplyKind::ListTools,
        _ => ReplyKind::CallTool,
    };
    let fault = match &exchange.outcome {
        Outcome::Result(result) => refused_shape(kind, session.negotiated().revision, result),
        _ => None,
    };
    judge_call(&ScanCall {
        refused: refused.map(|request| request.method.as_str()),
        shape_fault: fault.as_deref(),
        ..about(ScanCall::of_tool(&exchange.outcome, &Value::Null))
    })
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
    // Git writes its index anew when it only reads, because the copy's files are newer than it.
    if changes.iter().all(|change| change.ends_with(" .git/index")) {
        return None;
    }
    let text = "the tool is marked `readOnlyHint: true`, but it changed the fixture folder";
    let mut finding = Finding::warning("hint-contradiction", text);
    finding.actual = Some(shorten(&changes.join("\n"), 500).into_owned());
    Some(finding.help("say `readOnlyHint: false`: hosts call read-only tools without asking"))
}

/// The finding about a call; nothing for what works.
pub(super) fn finding(judged: &ScanJudgement) -> Option<Finding> {
    let rule = judged.verdict.rule()?;
    let mut finding = match judged.verdict {
        ToolVerdict::Crashed | ToolVerdict::TimedOut => Finding::error(rule, judged.sentence.clone()),
        ToolVerdict::ErrorAsSuccess => Finding::warning(rule, judged.sentence.clone()),
        ToolVerdict::Works | ToolVerdict::Fails(_) | ToolVerdict::Skipped => {
            Finding::note(rule, judged.sentence.clone())
        }
    };
    finding.actual.clone_from(&judged.evidence);
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

fn output_mismatch(tool: &Value, seen: &Observation) -> Option<Finding> {
    let schema = tool.get("outputSchema")?;
    if let Outcome::Result(result) = &seen.outcome
        && lacks_structured_content(result)
    {
        return Some(Finding::warning("output-schema", NO_STRUCTURED_CONTENT));
    }
    let structured = seen.structured.as_ref().filter(|_| !seen.is_error)?;
    let violation = match violates_output_schema(schema, structured) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_lets_git_refresh_its_index_contradicts_nothing() {
        let found = |changes: &[&str]| {
            contradiction(&changes.iter().map(|&change| change.to_owned()).collect::<Vec<_>>()).is_some()
        };
        assert!(!found(&[]));
        assert!(!found(&["changed .git/index"]));
        assert!(found(&["changed a.txt"]));
        assert!(found(&["changed .git/index", "created .git/objects/00/1"]));
    }
}
