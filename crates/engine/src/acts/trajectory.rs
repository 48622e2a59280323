//! A recorded sequence of tool calls: from the file itself, or from a log.

use std::fs;

use mcprove_model::{TracedCall, Trajectory};
use mcprove_suite::template::{Variables, substitute};
use serde_json::Value;

use crate::conversation::text;

/// The calls of a trajectory.
pub(crate) fn trace(trajectory: &Trajectory, variables: &Variables) -> Result<Vec<TracedCall>, String> {
    match trajectory {
        Trajectory::Trace(node) => {
            let Value::Array(items) = substitute(node, variables).to_json() else { return Ok(Vec::new()) };
            Ok(items.iter().filter_map(call).collect())
        }
        Trajectory::AuditLog(node) => {
            let path = text(node, variables);
            let log = fs::read_to_string(&path).map_err(|error| format!("`{path}` could not be read: {error}"))?;
            read_log(&log).map_err(|reason| format!("`{path}`, {reason}"))
        }
    }
}

/// Reads `{tool, args}` lines, or the tool calls of an event log of ours.
fn read_log(log: &str) -> Result<Vec<TracedCall>, String> {
    let mut calls = Vec::new();
    for (number, line) in log.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let entry: Value =
            serde_json::from_str(line).map_err(|error| format!("line {}: this is not JSON: {error}", number + 1))?;
        calls.extend(match entry.get("event") {
            Some(_) => sent_call(&entry),
            None => call(&entry),
        });
    }
    Ok(calls)
}

fn call(entry: &Value) -> Option<TracedCall> {
    let tool = entry.get("tool")?.as_str()?.to_owned();
    Some(TracedCall { tool, args: entry.get("args").cloned().unwrap_or(Value::Null) })
}

/// The tool call that a frame of an event log carries to the server.
fn sent_call(event: &Value) -> Option<TracedCall> {
    let frame = event.get("frame")?;
    if frame.get("direction")? != "sent" || frame.get("kind")? != "request" {
        return None;
    }
    let message: Value = serde_json::from_str(frame.get("text")?.as_str()?).ok()?;
    if message.get("method")? != "tools/call" {
        return None;
    }
    let params = message.get("params")?;
    let args = params.get("arguments").cloned().unwrap_or(Value::Null);
    Some(TracedCall { tool: params.get("name")?.as_str()?.to_owned(), args })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_kinds_of_log_are_read() {
        let log = concat!(
            "{\"tool\":\"a\",\"args\":{\"x\":1}}\n{\"other\":1}\n\n",
            "{\"event\":\"frame\",\"index\":0,\"session\":0,\"frame\":{\"at_us\":1,\"direction\":\"sent\",\"kind\":\"request\",",
            "\"text\":\"{\\\"method\\\":\\\"tools/call\\\",\\\"params\\\":{\\\"name\\\":\\\"b\\\",\\\"arguments\\\":{}}}\"}}\n",
        );
        let calls = read_log(log).expect("readable");
        assert_eq!(calls[0], TracedCall { tool: "a".to_owned(), args: json!({"x": 1}) });
        assert_eq!(calls[1].tool, "b");
        assert!(read_log("nope\n").expect_err("not JSON").contains("line 1"));
    }
}
