//! Errors that are reported as a success: `isError` is false, and the text or the JSON says that the call failed.
//!
//! Conservative: only a short text that begins as error messages do, or an object that has an error and no data. Text
//! about errors (`Error rate: 3 %`, `No errors found`) does not count.

use std::sync::LazyLock;

use mcprove_model::{FailureCause, first_json, text_of_tool_result};
use regex::Regex;
use serde_json::{Map, Value};

use super::cause::failure_cause;

/// The longest text that is taken for nothing but an error message.
const LONGEST: usize = 800;

/// Beginnings of error messages.
static BEGINNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = concat!(
        r"^(?i)[\s*_#>`❌⛔🚫✗✘×⚠❗🛑🔴\u{fe0f}-]*(?:\[?(?:fatal |internal |unexpected |unknown |runtime |validation |network |api |http |tool |request |connection |authentication |server )?",
        r"(?:error|exception|failure)\]?[*_`]*(?:\s*\(?(?:code\s*)?[\w.-]{1,20}\)?)?\s*[:：–—-]\s*\S",
        r"|(?:error|exception) (?:\w+ing|occurred|while|in|during|when)\b",
        r"|(?:an? (?:\w+ )?|(?:internal|server|system|unexpected|unknown) (?:server )?)(?:error|exception) (?:has )?occurred\b",
        r"|failed to \w+|failed:|(?:\w+ ){1,3}failed(?: with|:|\.| to|$)",
        r"|unable to \w+|could not \w+|couldn't \w+|cannot \w+|can't \w+",
        r"|(?:access|permission) denied\b|unauthorized\b|forbidden\b|invalid api key\b",
        r"|[\w '`-]{0,60}\bnot found(?: in [\w. -]{1,40})?[.!]?\s*$",
        r"|please (?:specify|provide|supply|enter)\b",
        r"|[\w ]{1,60} (?:temporarily|currently) unavailable[*_.!]*\s*(?:\n|$)",
        r"|[^\n]{1,150} (?:does not|doesn't) exist[.!]?\s*$",
        r"|traceback \(most recent call last\)",
        r"|(?:\w+\.)*\w+(?:Error|Exception): )",
    );
    Regex::new(pattern).ok()
});

/// Beginnings that look like an error message but are not.
static NO_ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"(?i)^[\s*_#>`]*(?:errors?\s*[:=]\s*(?:(?:0|none|no errors?|null|false|n/a)\b|\d+(?:\.\d+)?\s*%)|error (?:rate|codes?|handling|messages?|logs?|reports?|budget|count)\b|no error|(?:\w+ ){0,3}0 failed)";
    Regex::new(pattern).ok()
});

/// Keys that are written for `isError`; no client reads them.
const MISSPELLED: &[&str] = &["is_error", "iserror", "IsError", "error"];

/// The error message inside a success, if any.
pub fn error_as_success(result: &Value, arguments: &Value) -> Option<String> {
    if result.get("isError") == Some(&Value::Bool(true)) || has_other_content(result) {
        return None;
    }
    let text = text_of_tool_result(result);
    if let Some(key) = MISSPELLED.iter().find(|&&key| result.get(key) == Some(&Value::Bool(true))) {
        return Some(format!("`{key}: true` says nothing, the key is `isError`: {}", text.trim()));
    }
    if let Some(structured) = result.get("structuredContent").and_then(Value::as_object)
        && let Some(found) = in_object(structured, arguments)
    {
        return Some(found);
    }
    let json = first_json(&text);
    in_json_or_text(json.as_ref(), &text, arguments)
        .or_else(|| in_the_place_of_data(json.as_ref().or_else(|| result.get("structuredContent"))?))
}

/// An error in a text, or in the JSON that it is.
fn in_json_or_text(json: Option<&Value>, text: &str, arguments: &Value) -> Option<String> {
    match json {
        Some(Value::Object(map)) => in_object(map, arguments),
        Some(Value::Array(items)) => match items.as_slice() {
            [Value::Object(only)] => in_object(only, arguments),
            _ => None,
        },
        Some(_) => None,
        None => in_text(text),
    }
}

/// The most texts of a reply that is a placeholder for data.
const FEW: usize = 8;

/// An error of the network or of credentials in the place of data: `[{"title": "Error searching: connection refused"}]`.
/// Logs are data in which there are such texts.
fn in_the_place_of_data(json: &Value) -> Option<String> {
    let mut texts = Vec::new();
    collect_texts(json, "", &mut texts);
    if texts.len() > FEW {
        return None;
    }
    texts.into_iter().find_map(|(key, text)| {
        let is_log = ["err", "log", "line", "message", "output", "stdout"].iter().any(|part| key.contains(part));
        let is_outside =
            matches!(failure_cause(text), FailureCause::NetworkUnreachable | FailureCause::CredentialsMissing);
        if is_outside && !is_log { in_text(text) } else { None }
    })
}

/// The texts of a value that are not empty, with the keys they are under.
fn collect_texts<'v>(value: &'v Value, key: &str, texts: &mut Vec<(String, &'v str)>) {
    match value {
        Value::String(text) if !text.is_empty() => texts.push((key.to_lowercase(), text)),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, key, texts)),
        Value::Object(map) => map.iter().for_each(|(key, item)| collect_texts(item, key, texts)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// True if a result has more than text: then an error is not all there is.
fn has_other_content(result: &Value) -> bool {
    let content = result.get("content").and_then(Value::as_array);
    content.into_iter().flatten().any(|item| item.get("type").is_some_and(|kind| kind != "text"))
}

fn in_text(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    // A heading says where the error is.
    let text = match text.split_once('\n') {
        Some((heading, rest)) if heading.starts_with('#') && rest.trim_start().starts_with("Error") => rest.trim(),
        _ => text,
    };
    let is_error = BEGINNING.as_ref().is_some_and(|pattern| pattern.is_match(text));
    let is_none = NO_ERROR.as_ref().is_some_and(|pattern| pattern.is_match(text));
    let first = text.lines().next().unwrap_or_default().trim();
    (is_error && !is_none).then(|| first.to_owned())
}

/// Keys that accompany an error and are not data.
const ABOUT_ERRORS: &[&str] = &[
    "cause",
    "code",
    "detail",
    "details",
    "error",
    "error_code",
    "error_message",
    "error_type",
    "errorCode",
    "errorMessage",
    "errors",
    "help",
    "hint",
    "isError",
    "is_error",
    "message",
    "ok",
    "path",
    "reason",
    "requestId",
    "request_id",
    "retryable",
    "stack",
    "status",
    "statusCode",
    "status_code",
    "statusText",
    "success",
    "suggestion",
    "timestamp",
    "title",
    "tool",
    "traceback",
    "type",
];

fn in_object(map: &Map<String, Value>, arguments: &Value) -> Option<String> {
    // Some SDKs wrap a bare text.
    if let (1, Some(Value::String(text))) = (map.len(), map.get("result")) {
        return in_json_or_text(first_json(text).as_ref(), text, arguments);
    }
    let is_data = |key: &String, value: &Value| {
        let is_empty = match value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(inner) => inner.is_empty(),
            Value::String(text) => text.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        };
        // What was sent is repeated.
        !ABOUT_ERRORS.contains(&key.as_str()) && !is_empty && arguments.get(key) != Some(value)
    };
    let has_data = map.iter().any(|(key, value)| is_data(key, value));
    // What was asked for is often repeated next to the error.
    let is_echo = |key: &String, value: &Value| {
        let is_result = ["content", "data", "items", "output", "result", "results", "rows", "value", "values"];
        let is_plain = match value {
            Value::Array(items) => items.iter().all(|item| !item.is_array() && !item.is_object()),
            Value::Object(_) => false,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        };
        is_plain && !is_result.contains(&key.as_str())
    };
    let has_results = map.iter().any(|(key, value)| is_data(key, value) && !is_echo(key, value));
    let said = |keys: &[&str]| keys.iter().find_map(|key| map.get(*key).and_then(words));
    let is_false = |key: &str| map.get(key) == Some(&Value::Bool(false));
    let failed = is_false("success") || is_false("ok") || is_false("exists") || is_false("found");
    let status = map.get("status").and_then(Value::as_str).unwrap_or_default();
    let is_bad = ["error", "failed", "failure"].iter().any(|bad| status.eq_ignore_ascii_case(bad));
    let error = said(&["error", "error_message", "errorMessage"]);
    match error {
        // An error next to data is a partial success, unless the reply says that it failed.
        Some(error) if !has_data || failed || is_bad || !has_results && in_text(&error).is_some() => Some(error),
        None if status.eq_ignore_ascii_case("error") && !has_results => said(&["message", "detail", "reason"]),
        None if (is_false("success") || is_false("ok") || is_bad) && !has_data => Some(
            said(&["message", "detail", "details", "reason"])
                .unwrap_or_else(|| "the reply says that it failed".to_owned()),
        ),
        Some(_) | None => None,
    }
}

/// The message of an error, if it has one.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Bool(true) => Some("`error` is true".to_owned()),
        Value::Object(map) => {
            map.get("message").and_then(words).or_else(|| (!map.is_empty()).then(|| value.to_string()))
        }
        Value::String(_) | Value::Null | Value::Bool(false) | Value::Number(_) | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of_text(text: &str) -> Option<String> {
        error_as_success(&json!({"content": [{"type": "text", "text": text}]}), &json!({"query": "sent"}))
    }

    #[test]
    fn a_misspelled_key_marks_no_error() {
        let result = |key: &str, value: bool| json!({"content": [{"type": "text", "text": "busy"}], key: value});
        for key in MISSPELLED {
            let found = error_as_success(&result(key, true), &json!({})).expect("an error");
            assert!(found.contains(key) && found.ends_with("busy"), "{found}");
            assert_eq!(error_as_success(&result(key, false), &json!({})), None, "{key}");
        }
    }

    #[test]
    fn errors_that_claim_success_are_found() {
        for text in [
            "Error: Sheet 'x' not found",
            "Error: no such row",
            "error: unknown command",
            "❌ Error: no such page",
            "**Error**: quota exceeded",
            "Error (404): Not Found",
            "Error executing tool: boom",
            "Error fetching weather: getaddrinfo ENOTFOUND",
            "An error occurred while searching",
            "Internal error has occurred.",
            "Failed to fetch the page",
            "Request failed with status code 401",
            "Unable to connect to the database",
            "Could not find the file",
            "Unauthorized",
            "Access denied - path outside allowed directories",
            "Workbook not found",
            "ValueError: invalid literal",
            "Exception: boom",
            "HTTP error: 500",
            "Tool execution failed: x",
            r#"{"error": "Sheet not found"}"#,
            r#"{"success": false, "message": "no such user"}"#,
            r#"{"status": "error", "message": "x", "data": null}"#,
            r#"{"ok": false, "error": {"code": 3, "message": "bad"}}"#,
            r#"{"error": true, "message": "x"}"#,
            r#"{"results": [{"rank": 1, "url": "", "title": "Error searching: [Errno -2] Name or service not known"}]}"#,
            "⚠️ Error retrieving drug label: Circuit breaker 'http_api.example.com' is open",
            "⚠️ Please specify a device name, manufacturer, or problem to search.",
            "⚠️ **Drug Shortage Data Temporarily Unavailable**\n\nThe database cannot be accessed at this time.",
            "# Record 1\nError: Gene 'main' not found\nSuggestion: Please check the gene symbol or ID\n",
            "Drug 'example' not found in MyChem.info",
            r#"[{"error": "Invalid identifier format: example."}]"#,
            r#"{"error": "Only PDF files are supported.", "query": "sent"}"#,
            r#"{"error": "Failed to retrieve results", "genes": ["example"], "database": "pathway"}"#,
            r#"{"status": "error", "message": "File not found in index", "file_path": "a.txt"}"#,
            r#"[{"title": "Failed to load: connect ECONNREFUSED 10.0.0.1:443", "url": ""}]"#,
        ] {
            assert!(of_text(text).is_some(), "{text}");
        }
        let wrapped =
            json!({"content": [{"type": "text", "text": "Error: x"}], "structuredContent": {"result": "Error: x"}});
        assert_eq!(error_as_success(&wrapped, &Value::Null).as_deref(), Some("Error: x"));
    }

    #[test]
    fn what_speaks_of_errors_is_no_error() {
        for text in [
            "No errors found",
            "Error rate: 3 %",
            "Errors: 0",
            "errors: none",
            "error: 2.5 %",
            "Error codes\n\n404: not found",
            "Found 3 errors in the log",
            "The page says: Error: x",
            "12 passed, 0 failed",
            "Berlin",
            "",
            "42",
            r#"{"errors": [], "data": [1]}"#,
            r#"{"error": null, "data": {"a": 1}}"#,
            r#"{"error": "", "name": "x"}"#,
            r#"{"error": "Only PDF files are counted.", "query": "another"}"#,
            r#"{"error": "one of three failed", "results": [1, 2]}"#,
            r#"{"status": "open", "message": "x"}"#,
            r#"{"success": true, "error": null}"#,
            r#"["error"]"#,
            r#"{"status": "error", "message": "3 tests fail", "tests": [{"name": "a"}]}"#,
            r#"{"status": "failed", "build": 7, "branch": "main"}"#,
            r#"[{"error": "x"}, {"name": "y"}]"#,
            "# Errors\nThere are none",
            "The service is currently unavailable in your country list: DE",
            r#"{"logs": [{"message": "Error: connect ECONNREFUSED 10.0.0.1"}]}"#,
            r#"{"errors": ["Error: connect ECONNREFUSED 10.0.0.1"], "rows": [1, 2]}"#,
            r#"{"results": [{"title": "Error handling in Rust"}]}"#,
            r#"{"results": [{"title": "How to fix connection refused"}]}"#,
            "Cancelled orders: 3",
            "The function fails when x is 0",
            "Canned soup",
            "Notfoundland",
        ] {
            assert_eq!(of_text(text), None, "{text}");
        }
        let long = format!("Error: {}", "x".repeat(2_000));
        assert_eq!(of_text(&long), None);
        let image = json!({"content": [{"type": "text", "text": "Error: x"}, {"type": "image", "data": ""}]});
        assert_eq!(error_as_success(&image, &Value::Null), None);
        let said = json!({"isError": true, "content": [{"type": "text", "text": "Error: x"}]});
        assert_eq!(error_as_success(&said, &Value::Null), None);
    }
}
