//! One call of a tool with a valid input, and what its answer says of the tool's health.

use std::time::Duration;

use mcprove_judge::exception::unhandled;
use mcprove_judge::output_schema::violates_output_schema;
use mcprove_model::{CallRole, Finding, Observation, Outcome, shorten};
use serde_json::Value;
use tokio::time::Instant;

use crate::calls;
use crate::tour::Stopover;

const INTERNAL_ERROR: i64 = -32603;
const METHOD_NOT_FOUND: i64 = -32601;

/// How many lines of standard error are shown of a server that died.
const LAST_WORDS: usize = 6;

/// Calls the tool and adds what there is to say; nothing above a note means that it is healthy.
pub(crate) async fn visit(stop: Stopover<'_>) -> Observation {
    let exchange = stop.session.call_tool(stop.name, &stop.input, Instant::now() + stop.timeout).await;
    stop.record.calls.push(calls::record(CallRole::Act, Some(stop.name), &exchange));
    stop.record.mark(|timings| &mut timings.call);
    let seen = Observation::of_tool_call(exchange.outcome);
    let mismatch = output_mismatch(stop.tool, &seen);
    let mut found = health(&seen, &stop.input);
    if let (Some(finding), Outcome::Closed { .. }) = (&mut found, &seen.outcome) {
        let stderr = stop.session.stderr();
        let lines: Vec<&str> = stderr.lines().collect();
        let last_words = lines[lines.len().saturating_sub(LAST_WORDS)..].join("\n");
        finding.actual = Some(shorten(&last_words, 500).into_owned()).filter(|words| !words.is_empty());
    }
    stop.record.findings.extend(found.into_iter().chain(mismatch));
    seen
}

/// Whether the last of these is an answer.
pub(crate) fn is_answered(replies: &[Observation]) -> bool {
    replies.last().is_some_and(|seen| matches!(seen.outcome, Outcome::Result(_) | Outcome::Error(_)))
}

/// What is said of a tool that says it only reads, and changed these files.
pub(crate) fn contradiction(changes: &[String]) -> Option<Finding> {
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
    let violation = violates_output_schema(tool.get("outputSchema")?, structured).ok()??;
    let mut finding = Finding::warning("output-schema", "`structuredContent` violates the tool's own `outputSchema`");
    finding.actual = Some(violation);
    Some(finding)
}
