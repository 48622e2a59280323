//! The verdict about a tool that a scan called once with a valid input.
//!
//! Only a success that fits the tool's own output schema proves that a tool works. A worded error proves nothing where its
//! cause is outside the server: an input that does not exist, missing credentials, no network. Those tools are left out of
//! the score.

mod cause;
mod crash;
mod error_as_success;

use mcprove_model::{FailureCause, Outcome, ToolVerdict, escape_line, first_json, shorten, text_of_tool_result};
use serde_json::Value;

use crate::output_schema::{NO_STRUCTURED_CONTENT, lacks_structured_content, violates_output_schema};
use crate::unhandled_exception::unhandled;

pub use cause::failure_cause;
pub use error_as_success::error_as_success;

/// The longest evidence that is kept.
const EVIDENCE: usize = 500;

const INTERNAL_ERROR: i64 = -32603;
/// Words of the TypeScript SDK for a result of the handler that it does not send.
const INVALID_RESULT: &str = "Invalid tools/call result: ";
const METHOD_NOT_FOUND: i64 = -32601;

/// A call of a tool and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct ScanCall<'a> {
    /// Name of the called item in sentences: "the tool".
    pub subject: &'a str,
    /// The end of the call.
    pub outcome: &'a Outcome,
    /// The arguments; text that a reply only repeats is not reported.
    pub arguments: &'a Value,
    /// The tool's output schema.
    pub output_schema: Option<&'a Value>,
    /// The method of a request of the server that mcprove refused during the call.
    pub refused: Option<&'a str>,
    /// True if no schema says what the arguments have to be, so that they may well be wrong.
    pub is_guess: bool,
    /// The part of the reply for which official clients refuse it.
    pub shape_fault: Option<&'a str>,
}

impl<'a> ScanCall<'a> {
    /// A call of a tool of which no more is known.
    pub fn of_tool(outcome: &'a Outcome, arguments: &'a Value) -> Self {
        Self {
            subject: "the tool",
            outcome,
            arguments,
            output_schema: None,
            refused: None,
            is_guess: false,
            shape_fault: None,
        }
    }
}

/// A verdict with what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanJudgement {
    /// The verdict.
    pub verdict: ToolVerdict,
    /// One sentence about it; empty for a tool that works.
    pub sentence: String,
    /// The part of the reply that decided.
    pub evidence: Option<String>,
}

/// Judges one call.
pub fn judge_call(call: &ScanCall<'_>) -> ScanJudgement {
    let subject = call.subject;
    let judged = match call.outcome {
        Outcome::Result(result) => of_result(call, result),
        Outcome::Error(error) => {
            let data = error.data.as_ref().map(Value::to_string).unwrap_or_default();
            let text = if data.is_empty() { error.message.clone() } else { format!("{}\n{data}", error.message) };
            of_error(call, error.code, &text)
        }
        Outcome::TimedOut { after_ms } => {
            let (seconds, tenths) = (after_ms / 1000, after_ms % 1000 / 100);
            let sentence = format!("{subject} did not answer within {seconds}.{tenths} s");
            ScanJudgement::new(ToolVerdict::TimedOut, sentence, "")
        }
        Outcome::Cancelled => ScanJudgement::new(ToolVerdict::Skipped, "the call was cancelled".to_owned(), ""),
        Outcome::Closed { what, .. } => {
            ScanJudgement::new(ToolVerdict::Crashed, format!("{what} when {subject} was called"), "")
        }
        Outcome::Malformed(malformed) => {
            let shown =
                String::from_utf8_lossy(&malformed.evidence[..malformed.evidence.len().min(2_000)]).into_owned();
            ScanJudgement::new(ToolVerdict::Crashed, malformed.fault.clone(), &shown)
        }
        Outcome::Refused(refused) => {
            let shown = String::from_utf8_lossy(&refused.evidence[..refused.evidence.len().min(2_000)]).into_owned();
            let verdict = match refused.status.filter(|_| !refused.may_have_result) {
                Some(401 | 403) => ToolVerdict::Fails(FailureCause::CredentialsMissing),
                Some(_) | None => ToolVerdict::Crashed,
            };
            ScanJudgement::new(verdict, refused.what.clone(), &shown)
        }
    };
    // What the server could not ask of us is not the server's fault.
    match (judged.verdict, call.refused) {
        (ToolVerdict::Fails(_) | ToolVerdict::ErrorAsSuccess | ToolVerdict::Crashed, Some(method))
            if matches!(call.outcome, Outcome::Result(_) | Outcome::Error(_)) =>
        {
            let sentence = format!("{subject} needs `{method}`, which mcprove refused");
            ScanJudgement { verdict: ToolVerdict::Fails(FailureCause::Refused), sentence, ..judged }
        }
        (_, _) => judged,
    }
}

impl ScanJudgement {
    fn new(verdict: ToolVerdict, sentence: String, evidence: &str) -> Self {
        let evidence = Some(shorten(evidence.trim(), EVIDENCE).into_owned()).filter(|text| !text.is_empty());
        Self { verdict, sentence, evidence }
    }

    fn failed(cause: FailureCause, text: &str) -> Self {
        let words = first_json(text).and_then(|json| {
            let keys = ["/error/message", "/message", "/error", "/detail"];
            keys.iter().find_map(|key| Some(json.pointer(key)?.as_str()?.to_owned()))
        });
        let has_words = |line: &&str| line.chars().any(char::is_alphanumeric);
        let first = text.lines().map(str::trim).find(has_words).unwrap_or_default();
        let words = words.as_deref().unwrap_or(first);
        let sentence = format!("{}: {}", cause.sentence(), shorten(&escape_line(words), 200));
        Self::new(ToolVerdict::Fails(cause), sentence, text)
    }
}

fn of_result(call: &ScanCall<'_>, result: &Value) -> ScanJudgement {
    if let Some(fault) = call.shape_fault {
        let sentence = "the reply breaks the protocol: official clients refuse it".to_owned();
        return ScanJudgement::new(ToolVerdict::Crashed, sentence, fault);
    }
    let text = text_of_tool_result(result);
    if result.get("isError") == Some(&Value::Bool(true)) {
        return of_error(call, 0, &text);
    }
    // A tool that was asked for an error, or for a text about one, answers with one.
    let is_asked = call.arguments.to_string().to_lowercase().contains("error");
    if let Some(found) = error_as_success(result, call.arguments).filter(|_| !is_asked) {
        let sentence = format!("the tool answered with an error as a success: {}", shorten(&escape_line(&found), 200));
        return ScanJudgement::new(ToolVerdict::ErrorAsSuccess, sentence, &text);
    }
    if call.output_schema.is_some() && lacks_structured_content(result) {
        let evidence = "official clients refuse the reply";
        return ScanJudgement::new(ToolVerdict::Fails(FailureCause::Other), NO_STRUCTURED_CONTENT.to_owned(), evidence);
    }
    let violation = call.output_schema.and_then(|schema| {
        let structured = result.get("structuredContent")?;
        violates_output_schema(schema, structured).ok()?
    });
    if let Some(violation) = violation {
        let sentence = "`structuredContent` violates the tool's own `outputSchema`".to_owned();
        return ScanJudgement::new(ToolVerdict::Fails(FailureCause::Other), sentence, &violation);
    }
    ScanJudgement::new(ToolVerdict::Works, String::new(), "")
}

/// True if an error is about the input: it quotes a value, or says nothing else (`Error executing tool read: /no/such`).
fn is_about_input(text: &str, arguments: &Value) -> bool {
    let last = text.trim().rsplit(": ").next().unwrap_or_default().trim_matches(['\'', '"', '`', '.']);
    let values = arguments.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
    let is_path_to =
        |value: &str| last.strip_suffix(value).is_some_and(|start| start.is_empty() || start.ends_with('/'));
    let is_quoted = |value: &str| {
        let head = &text[..text.floor_char_boundary(4_000)];
        ['\'', '"', '`'].iter().any(|quote| head.contains(&format!("{quote}{value}{quote}")))
    };
    values.filter(|value| value.len() >= 4).any(|value| is_path_to(value) || is_quoted(value))
}

/// Judges the text of an error; a code of 0 is that of a result with `isError`.
fn of_error(call: &ScanCall<'_>, code: i64, text: &str) -> ScanJudgement {
    if text.contains(INVALID_RESULT) {
        let sentence = "the result breaks the protocol: the server's own SDK refuses it".to_owned();
        return ScanJudgement::new(ToolVerdict::Crashed, sentence, text);
    }
    // A trace may well be about a missing key or the network: it is still an unhandled exception, unless it is worded
    // and the server lives on.
    let cause = match failure_cause(text) {
        FailureCause::Other if is_about_input(text, call.arguments) => FailureCause::InputNotFound,
        cause => cause,
    };
    if let Some(trace) = unhandled(text, call.arguments).or_else(|| crash::sdk_marker(text))
        && (cause == FailureCause::Other || crash::is_trace(text))
    {
        let sentence = match code {
            INTERNAL_ERROR => {
                format!("{} failed with an internal error (-32603): an unhandled exception", call.subject)
            }
            _ => "the tool answered with an unhandled exception".to_owned(),
        };
        return ScanJudgement::new(ToolVerdict::Crashed, sentence, trace);
    }
    let cause = match cause {
        FailureCause::Other if call.is_guess => FailureCause::InputNotFound,
        cause => cause,
    };
    match code {
        METHOD_NOT_FOUND if cause == FailureCause::Other => {
            let sentence = "the server lists the tool but does not know it (-32601)".to_owned();
            ScanJudgement::new(ToolVerdict::Crashed, sentence, text)
        }
        // A deliberate error message belongs in a result with `isError`.
        INTERNAL_ERROR if cause == FailureCause::Other => {
            let sentence = format!("{} failed with an internal error (-32603)", call.subject);
            ScanJudgement::new(ToolVerdict::Crashed, sentence, text)
        }
        _ => ScanJudgement::failed(cause, text),
    }
}

#[cfg(test)]
mod tests;
