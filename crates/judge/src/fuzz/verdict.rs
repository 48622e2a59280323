//! Classification of one exchange of a fuzz run.

use mcprove_model::{Outcome, Refused, RpcError, escape_line, shorten, text_of_tool_result};
use serde_json::Value;

use super::leak::{self, EnvironmentValues};
use super::result_shape;
use crate::generate::Oracle;
use crate::unhandled_exception::{Echo, message as exception_text, stack};

/// Result of a fuzz call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FuzzVerdict {
    /// A result, an error result, or a refusal of the input: all good.
    Handled,
    /// The process ended, or the server says that something went wrong inside it.
    Crash(Evidence),
    /// Nothing came before the deadline, and the server does not answer a ping either.
    Hang,
    /// Nothing came before the deadline, but the server still answers a ping.
    Slow,
    /// The reply breaks JSON-RPC or the shape of a tool result.
    Protocol(Evidence),
    /// The reply reveals internals: a stack trace, a source path, a system file, a value of the environment.
    Leak(Evidence),
    /// The schema refuses the input, and the server ran it and reported success.
    AcceptedInvalid,
    /// The structured content does not match the tool's output schema.
    OutputMismatch(Evidence),
}

/// Evidence for a verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Description of the failure, in one line.
    pub message: String,
    /// The functions or files of a stack trace, when there was one.
    pub stack: Vec<String>,
}

/// One exchange of a fuzz run.
#[derive(Clone, Copy, Debug)]
pub struct FuzzExchange<'a> {
    /// Outcome of the call.
    pub outcome: &'a Outcome,
    /// The arguments that were sent: text that a reply only repeats is not reported.
    pub arguments: &'a Value,
    /// `Some(true)` if the server still answered afterwards; `None` if it was not asked.
    pub alive_after: Option<bool>,
    /// True if the input schema accepts the arguments.
    pub accepted: bool,
    /// The tool's output schema, compiled once for all calls.
    pub output_schema: Option<&'a Oracle>,
    /// Values of the server's environment that must not appear in replies.
    pub environment_values: &'a EnvironmentValues,
}

impl FuzzVerdict {
    /// The verdict in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Handled => "handled",
            Self::Crash(_) => "crash",
            Self::Hang => "hang",
            Self::Slow => "slow",
            Self::Protocol(_) => "protocol",
            Self::Leak(_) => "leak",
            Self::AcceptedInvalid => "accepted-invalid",
            Self::OutputMismatch(_) => "output-mismatch",
        }
    }

    /// The evidence for the verdict, if it is more than the kind.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Self::Crash(evidence)
            | Self::Protocol(evidence)
            | Self::Leak(evidence)
            | Self::OutputMismatch(evidence) => Some(evidence),
            Self::Handled | Self::Hang | Self::Slow | Self::AcceptedInvalid => None,
        }
    }
}

impl Evidence {
    /// Evidence that is a message alone.
    pub fn new(message: &str) -> Self {
        Self { message: shorten(&escape_line(message), 300).into_owned(), stack: Vec::new() }
    }

    fn with_stack_of(mut self, text: &str) -> Self {
        self.stack = stack::find(text).map(|trace| trace.frames).unwrap_or_default();
        self
    }
}

/// Judges one exchange; the gravest thing that is true of it counts.
pub fn verdict(seen: &FuzzExchange<'_>) -> FuzzVerdict {
    let judged = match seen.outcome {
        Outcome::Result(result) => of_result(seen, result),
        Outcome::Error(error) => of_error(seen, error),
        Outcome::Malformed(malformed) => FuzzVerdict::Protocol(Evidence::new(&malformed.fault)),
        Outcome::Refused(refused) => of_refusal(refused),
        Outcome::TimedOut { .. } if seen.alive_after == Some(true) => FuzzVerdict::Slow,
        Outcome::TimedOut { .. } => FuzzVerdict::Hang,
        Outcome::Closed { what, .. } => FuzzVerdict::Crash(Evidence::new(what).with_stack_of(what)),
        Outcome::Cancelled => FuzzVerdict::Handled,
    };
    let died = seen.alive_after == Some(false) && matches!(seen.outcome, Outcome::Result(_) | Outcome::Error(_));
    if died && !matches!(judged, FuzzVerdict::Crash(_)) {
        return FuzzVerdict::Crash(Evidence::new("the server answered and then went away"));
    }
    judged
}

/// The leak in a reply to a valid input, if any.
pub fn leak_in(outcome: &Outcome, arguments: &Value, environment_values: &EnvironmentValues) -> Option<Evidence> {
    let exchange =
        FuzzExchange { outcome, arguments, alive_after: None, accepted: true, output_schema: None, environment_values };
    match verdict(&exchange) {
        FuzzVerdict::Leak(evidence) => Some(evidence),
        FuzzVerdict::Handled
        | FuzzVerdict::Crash(_)
        | FuzzVerdict::Hang
        | FuzzVerdict::Slow
        | FuzzVerdict::Protocol(_)
        | FuzzVerdict::AcceptedInvalid
        | FuzzVerdict::OutputMismatch(_) => None,
    }
}

fn of_refusal(refused: &Refused) -> FuzzVerdict {
    match refused.status {
        // A status that refuses the request with a result that does not.
        _ if refused.may_have_result => FuzzVerdict::Protocol(Evidence::new(&refused.what)),
        // A success without a valid answer: a page, half a body, an empty body, or a redirect.
        Some(status) if status < 400 => FuzzVerdict::Protocol(Evidence::new(&refused.what)),
        // A server that forgets its session has lost what it was doing; other statuses refuse the request, as -32602 does.
        Some(status) if status < 500 && status != 404 => FuzzVerdict::Handled,
        Some(_) | None => FuzzVerdict::Crash(Evidence::new(&refused.what)),
    }
}

/// Bytes of an error that are looked at: a stack is at its beginning.
const MOST_TEXT: usize = 1 << 20;

fn of_error(seen: &FuzzExchange<'_>, error: &RpcError) -> FuzzVerdict {
    let beginning = |text: &str| text[..text.floor_char_boundary(MOST_TEXT)].to_owned();
    let data = match &error.data {
        None => String::new(),
        Some(Value::String(text)) => beginning(text),
        Some(other) => texts_in(other),
    };
    let error = &RpcError { code: error.code, message: beginning(&error.message), data: None };
    let text = if data.is_empty() { error.message.clone() } else { format!("{}\n{data}", error.message) };
    match error.code {
        // Some SDKs refuse an input that their own schema rejects as an internal error: the wrong code, not a crash.
        -32603 if !seen.accepted && is_refusal(&error.message) => FuzzVerdict::Handled,
        -32603 => FuzzVerdict::Crash(Evidence::new(&error.to_string()).with_stack_of(&text)),
        -32700 => FuzzVerdict::Protocol(Evidence::new(&format!("valid JSON was not understood: {error}"))),
        _ => of_failure_text(seen, &text).unwrap_or(FuzzVerdict::Handled),
    }
}

/// True if a message is what validators say of an input: a list of issues, or words to that effect.
fn is_refusal(message: &str) -> bool {
    let is_issue = |issue: &Value| issue.get("code").is_some() && issue.get("path").is_some();
    let issues: Option<Vec<Value>> = serde_json::from_str(message).ok();
    let lower = message[..message.floor_char_boundary(300)].to_lowercase();
    let words = [
        "validation error",
        "validation failed",
        "invalid argument",
        "invalid param",
        "invalid input",
        "invalid request",
    ];
    issues.is_some_and(|issues| !issues.is_empty() && issues.iter().all(is_issue))
        || words.iter().any(|word| lower.contains(word))
}

fn of_result(seen: &FuzzExchange<'_>, result: &Value) -> FuzzVerdict {
    if let Some(fault) = result_shape::fault(result) {
        return FuzzVerdict::Protocol(Evidence::new(&fault));
    }
    let text = text_of_tool_result(result);
    let structured = result.get("structuredContent");
    if result.get("isError") == Some(&Value::Bool(true)) {
        let text = structured.map_or_else(|| text.clone(), |structured| format!("{text}\n{}", texts_in(structured)));
        return of_failure_text(seen, &text).unwrap_or(FuzzVerdict::Handled);
    }
    let echo = Echo::of(seen.arguments);
    if exception_text::is_all_there_is(&text)
        && let Some(verdict) = of_failure_text(seen, &text)
    {
        return verdict;
    }
    let given_away = |text: &str| seen.environment_values.find(text, &echo);
    if let Some(message) = given_away(&text).or_else(|| given_away(&texts_in(structured?))) {
        return FuzzVerdict::Leak(Evidence::new(&message));
    }
    if let Some(message) = leak::system_file(&text, &echo) {
        return FuzzVerdict::Leak(Evidence::new(&message));
    }
    if let Some(message) = seen.output_schema.and_then(|schema| mismatch(result, structured, schema)) {
        return FuzzVerdict::OutputMismatch(Evidence::new(&message));
    }
    // Servers read `arguments: null` as no arguments, and the schema does not speak of absent ones.
    let is_unfinished = result.get("resultType").is_some_and(|kind| kind != "complete");
    if !seen.accepted && !seen.arguments.is_null() && !is_unfinished {
        return FuzzVerdict::AcceptedInvalid;
    }
    FuzzVerdict::Handled
}

/// The leak in a text that reports a failure.
fn of_failure_text(seen: &FuzzExchange<'_>, text: &str) -> Option<FuzzVerdict> {
    let echo = Echo::of(seen.arguments);
    if let Some(message) = seen.environment_values.find(text, &echo) {
        return Some(FuzzVerdict::Leak(Evidence::new(&message)));
    }
    if let Some(trace) = stack::find(text).filter(|trace| !echo.repeats(&text[trace.range.clone()])) {
        let headline = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let message = format!("a stack trace in the reply: {}", headline.trim());
        return Some(FuzzVerdict::Leak(Evidence { stack: trace.frames, ..Evidence::new(&message) }));
    }
    if let Some(found) = exception_text::find(text, &echo) {
        return Some(FuzzVerdict::Crash(Evidence::new(found)));
    }
    let path = leak::source_path(text, &echo)?;
    Some(FuzzVerdict::Leak(Evidence::new(&format!("a source path in the reply: {path}"))))
}

fn mismatch(result: &Value, structured: Option<&Value>, schema: &Oracle) -> Option<String> {
    if result.get("resultType").is_some_and(|kind| kind != "complete") || result.get("task").is_some() {
        return None;
    }
    let Some(structured) = structured else {
        return Some("the tool has an output schema, and the result has no structured content".to_owned());
    };
    if schema.accepts(structured) {
        return None;
    }
    schema.faults(structured).into_iter().next()
}

/// All texts in a value, a line each.
fn texts_in(value: &Value) -> String {
    let mut texts: Vec<&str> = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => texts.push(text),
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(map) => open.extend(map.values().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    texts.join("\n")
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
