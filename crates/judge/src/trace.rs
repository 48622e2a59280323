//! Sequences of tool calls: written in a file, or taken from a log.

use std::collections::HashSet;
use std::error::Error;
use std::fmt;

use mcprove_model::{CallRecord, Direction, Event, TracedCall, bounded_json};
use serde_json::{Map, Value};

/// Reason why a log could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The line, from 1.
    pub line: usize,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Error for BadLine {}

/// The calls of a `trace`: a list of `{tool, args}`. What is not a call is left out.
pub fn written(trace: &Value) -> Vec<TracedCall> {
    trace.as_array().into_iter().flatten().filter_map(call_of).collect()
}

/// The calls of a log: `{tool, args}` lines, or an event log of mcprove. Lines that are about something else are passed
/// over, a line that is not JSON is an error.
pub fn logged(text: &str) -> Result<Vec<TracedCall>, BadLine> {
    let mut calls = Vec::new();
    let mut with_frames = HashSet::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let value = bounded_json::value(line)
            .map_err(|error| BadLine { line: index + 1, message: format!("this is not JSON: {error}") })?;
        if let Some(call) = call_of(&value) {
            calls.push(call);
        } else if value.get("event").is_some()
            && let Ok(event) = serde_json::from_value(value)
        {
            take_event(event, &mut with_frames, &mut calls);
        }
    }
    Ok(calls)
}

fn call_of(value: &Value) -> Option<TracedCall> {
    let tool = value.get("tool")?.as_str()?.to_owned();
    let args = value.get("args").filter(|args| !args.is_null()).cloned();
    Some(TracedCall { tool, args: args.unwrap_or_else(no_args) })
}

/// The frames of a case hold its calls in full; the records of a finished case are shortened and only used without.
fn take_event(event: Event, with_frames: &mut HashSet<usize>, calls: &mut Vec<TracedCall>) {
    match event {
        Event::Frame { index, frame, .. } if frame.direction == Direction::Sent => {
            with_frames.insert(index);
            calls.extend(sent_call(&frame.text()));
        }
        Event::CaseFinished(finished) if !with_frames.contains(&finished.index) => {
            calls.extend(finished.calls.iter().filter_map(recorded_call));
        }
        Event::Frame { .. }
        | Event::CaseFinished(_)
        | Event::RunStarted(_)
        | Event::Finding { .. }
        | Event::CaseStarted(_)
        | Event::Connected(_)
        | Event::RunFinished(_) => {}
    }
}

fn sent_call(request: &str) -> Option<TracedCall> {
    let request: Value = serde_json::from_str(request).ok()?;
    called(request.get("method")?.as_str()?, request.get("params")?)
}

/// The call of a tool that a request makes, if it does.
pub fn called(method: &str, params: &Value) -> Option<TracedCall> {
    // Since 2026-07-28 a call that needs input is sent again with the answers; it is the same call.
    if method != "tools/call" || params.get("inputResponses").is_some() {
        return None;
    }
    let args = params.get("arguments").cloned().unwrap_or_else(no_args);
    Some(TracedCall { tool: params.get("name")?.as_str()?.to_owned(), args })
}

fn recorded_call(record: &CallRecord) -> Option<TracedCall> {
    if record.method != "tools/call" {
        return None;
    }
    sent_call(&record.request).or_else(|| Some(TracedCall { tool: record.subject.clone()?, args: no_args() }))
}

fn no_args() -> Value {
    Value::Object(Map::new())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(calls: &[TracedCall]) -> Vec<String> {
        calls.iter().map(|call| format!("{} {}", call.tool, call.args)).collect()
    }

    #[test]
    fn calls_are_taken_from_lines_and_the_rest_is_passed_over() {
        let log =
            "{\"tool\": \"a\", \"args\": {\"x\": 1}, \"at\": 3}\n\n{\"level\": \"info\"}\n[1]\n{\"tool\": \"b\"}\n";
        assert_eq!(shown(&logged(log).expect("a log")), ["a {\"x\":1}", "b {}"]);
        let broken = logged("{\"tool\": \"a\"}\nnot json\n").expect_err("line 2");
        assert_eq!(broken.line, 2);
        assert!(broken.to_string().starts_with("line 2: this is not JSON"), "{broken}");
    }

    #[test]
    fn an_event_log_gives_the_calls_that_were_sent() {
        let sent = |index: usize, message: Value| {
            json!({"event": "frame", "index": index, "session": 0, "frame": {
                "at_us": 1, "direction": "sent", "kind": "request", "text": message.to_string()}})
        };
        let call =
            |name: &str| json!({"id": 1, "method": "tools/call", "params": {"name": name, "arguments": {"n": 1}}});
        let again = json!({"id": 2, "method": "tools/call", "params": {"name": "a", "inputResponses": {}}});
        let finished = |index: usize| {
            json!({"event": "case_finished", "index": index, "verdict": "passed", "duration_us": 1, "calls": [
                {"role": "act", "method": "tools/call", "subject": "c", "elapsed_us": 1, "request": "{\"cut…"},
                {"role": "act", "method": "prompts/get", "subject": "p", "elapsed_us": 1, "request": "{}"}]})
        };
        let events = [
            sent(0, call("a")),
            sent(0, again),
            sent(0, json!({"method": "tools/list", "id": 2})),
            finished(0),
            sent(2, call("b")),
            finished(1),
        ];
        let log: Vec<String> = events.iter().map(Value::to_string).collect();
        let calls = logged(&log.join("\n")).expect("a log");
        assert_eq!(shown(&calls), ["a {\"n\":1}", "b {\"n\":1}", "c {}"]);
    }

    #[test]
    fn a_written_trace_is_taken_as_it_is() {
        let trace = json!([{"tool": "a", "args": {"x": [1]}}, {"tool": "b", "args": null}]);
        assert_eq!(shown(&written(&trace)), ["a {\"x\":[1]}", "b {}"]);
    }
}
