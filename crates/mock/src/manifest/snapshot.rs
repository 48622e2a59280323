//! The tools of a recorded `tools/list`: shown exactly as they were recorded.

use std::time::Duration;

use mcprove_model::Span;
use serde_json::{Value, json};

use super::answer::{Answer, Answers, result_of, text_result};
use super::tool::Tool;

/// The tools of `{"tools": […]}`, of a reply that holds it, or of a bare list; nothing when it is none of these.
pub(crate) fn tools_of(snapshot: &Value) -> Option<Vec<Tool>> {
    let tools = match snapshot {
        Value::Array(_) => snapshot,
        Value::Object(_) => snapshot.pointer("/result/tools").or_else(|| snapshot.get("tools"))?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    tools.as_array()?.iter().map(tool).collect()
}

fn tool(recorded: &Value) -> Option<Tool> {
    let mut entry = recorded.clone();
    let name = entry.get("name")?.as_str()?.to_owned();
    // The one thing that is not recorded but added by hand.
    let response = entry.as_object_mut()?.shift_remove("response");
    let result = response.map_or_else(|| text_result(&format!("mock {name}")), result_of);
    Some(Tool {
        input_schema: entry.get("inputSchema").filter(|schema| schema.is_object()).cloned().unwrap_or(json!({})),
        name,
        span: Span::default(),
        entry,
        answers: Answers::only(Answer::Result(result)),
        asks: Vec::new(),
        rounds: Vec::new(),
        task: None,
        progress: Vec::new(),
        step_time: Duration::ZERO,
        logs: Vec::new(),
        notifies: Vec::new(),
        fault: None,
    })
}
