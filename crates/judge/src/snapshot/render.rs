//! A reply as a text that people can review, before anything is masked.

use std::fmt::Write as _;

use mcprove_model::{Observation, Outcome, bounded_json};
use serde_json::{Value, json};

/// Observation of a case as text: the outcome of the request, the text, and the content that is not text; `None`
/// without an answer.
pub fn of_reply(seen: &Observation) -> Option<String> {
    let mut text = match &seen.outcome {
        Outcome::Result(_) if seen.is_error => "tool error".to_owned(),
        Outcome::Result(_) => "result".to_owned(),
        Outcome::Error(error) => {
            let mut text = format!("protocol error {}\n\n{}", error.code, error.message);
            if let Some(data) = &error.data {
                let _ = write!(text, "\n--- data\n{data:#}");
            }
            return Some(text);
        }
        Outcome::Malformed(_)
        | Outcome::Refused(_)
        | Outcome::TimedOut { .. }
        | Outcome::Closed { .. }
        | Outcome::Cancelled => return None,
    };
    let _ = write!(text, "\n\n{}", of_text(&seen.text));
    if let Outcome::Result(result) = &seen.outcome {
        for item in result.get("content").and_then(Value::as_array).into_iter().flatten() {
            if let Some(described) = described(item) {
                let _ = write!(text, "\n--- {described}");
            }
        }
    }
    // Some libraries wrap the text once more; that would only be read twice.
    let is_repeated = |value: &Value| Some(value) == seen.json() || *value == json!({"content": seen.text});
    if let Some(structured) = seen.structured.as_ref().filter(|value| !is_repeated(value)) {
        let _ = write!(text, "\n--- structuredContent\n{structured:#}");
    }
    Some(text)
}

/// A value that a target leads to.
pub fn of_value(value: &Value) -> String {
    match value {
        Value::String(text) => of_text(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => format!("{value:#}"),
    }
}

/// A text as it is, but JSON on one line spread over several, so that a diff shows what changed in it.
fn of_text(text: &str) -> String {
    let looks_like_json = text.trim_start().starts_with(['{', '[']) && !text.trim().contains('\n');
    match bounded_json::parse(text).filter(|_| looks_like_json) {
        Some(value @ (Value::Array(_) | Value::Object(_))) => format!("{value:#}"),
        Some(_) | None => text.to_owned(),
    }
}

/// Content that is not text, in one line: what it is and how much, for data would only fill the review.
fn described(item: &Value) -> Option<String> {
    let kind = item.get("type").and_then(Value::as_str).unwrap_or("unknown");
    let word = |name: &str| item.get(name).and_then(Value::as_str);
    match kind {
        "text" => None,
        "image" | "audio" => {
            let data = word("data").unwrap_or_default();
            Some(format!("{kind} {}, {} characters of base64", word("mimeType").unwrap_or("untyped"), data.len()))
        }
        "resource_link" => Some(format!("resource_link {}", word("uri").unwrap_or_default())),
        other => Some(format!("{other}\n{item:#}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_a_reply_says_is_in_its_snapshot() {
        let seen = Observation::of_tool_call(Outcome::Result(json!({
            "content": [
                {"type": "text", "text": "{\"a\":1}"},
                {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            ],
            "structuredContent": {"b": 2},
        })));
        assert_eq!(
            of_reply(&seen).as_deref(),
            Some(
                "result\n\n{\n  \"a\": 1\n}\n--- image image/png, 4 characters of base64\n--- structuredContent\n{\n  \"b\": 2\n}"
            )
        );
        let failed = Observation::of_tool_call(Outcome::Result(json!({"isError": true, "content": []})));
        assert_eq!(of_reply(&failed).as_deref(), Some("tool error\n\n"));
        assert_eq!(of_reply(&Observation::of_tool_call(Outcome::TimedOut { after_ms: 5 })), None);
    }

    #[test]
    fn structured_content_that_repeats_the_text_is_stored_once() {
        let result = json!({"content": [{"type": "text", "text": "{\"a\": 1}"}], "structuredContent": {"a": 1}});
        let seen = Observation::of_tool_call(Outcome::Result(result));
        assert!(!of_reply(&seen).expect("a reply").contains("structuredContent"));
        assert_eq!(of_value(&json!("plain\ntext")), "plain\ntext");
    }
}
