//! The headers that mirror a modern request: they must be present and agree with the body (2026-07-28, "Server
//! Validation").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use serde_json::Value;

use crate::era::named_revision;
use crate::rpc::{HEADER_MISMATCH, Refusal, Request};

/// Compares the headers of a modern request with its body; `schema` is that of the tool it calls.
pub(super) fn check(headers: &HeaderMap, request: &Request, schema: Option<&Value>) -> Result<(), Refusal> {
    let Some(named) = named_revision(&request.params) else {
        // A request that does not name its revision is refused for that.
        return Ok(());
    };
    must_be(headers, "MCP-Protocol-Version", named)?;
    must_be(headers, "Mcp-Method", &Value::String(request.method.clone()))?;
    let subject = match request.method.as_str() {
        "tools/call" | "prompts/get" => request.params.get("name"),
        "resources/read" => request.params.get("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => request.params.get("taskId"),
        _ => None,
    };
    if let Some(subject) = subject.filter(|subject| subject.is_string()) {
        must_be(headers, "Mcp-Name", subject)?;
    }
    let none = Value::Null;
    for (name, value) in annotated(schema.unwrap_or(&none), request.params.get("arguments")) {
        let field = format!("Mcp-Param-{name}");
        match value {
            Some(value) if !value.is_null() => must_be(headers, &field, value)?,
            Some(_) | None if headers.contains_key(field.to_ascii_lowercase()) => {
                return Err(mismatch(format!("`{field}` was sent, but the argument was not")));
            }
            Some(_) | None => {}
        }
    }
    Ok(())
}

fn must_be(headers: &HeaderMap, field: &str, body: &Value) -> Result<(), Refusal> {
    let Some(sent) = headers.get(field.to_ascii_lowercase()) else {
        return Err(mismatch(format!("the header field `{field}` is missing")));
    };
    let sent = sent.to_str().ok().and_then(decode);
    let Some(sent) = sent else { return Err(mismatch(format!("the header field `{field}` cannot be read"))) };
    let is_same = match body {
        Value::String(text) => *text == sent,
        // As numbers, so that `42.0` is `42`.
        Value::Number(number) => {
            number.as_f64().zip(sent.parse::<f64>().ok()).is_some_and(|(a, b)| a.total_cmp(&b).is_eq())
        }
        Value::Bool(value) => sent == if *value { "true" } else { "false" },
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    };
    if is_same {
        return Ok(());
    }
    Err(mismatch(format!("the header field `{field}` says `{sent}`, and the body {body}")))
}

fn mismatch(message: String) -> Refusal {
    Refusal::new(HEADER_MISMATCH, message)
}

/// A field's value, taken out of its base64 wrapping when it has one.
fn decode(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// The properties that are mirrored, and what a call gives them.
fn annotated<'v>(schema: &'v Value, arguments: Option<&'v Value>) -> Vec<(&'v str, Option<&'v Value>)> {
    let mut found = Vec::new();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let value = arguments.and_then(|arguments| arguments.get(name));
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            found.push((header, value));
        }
        found.extend(annotated(property, value));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn verdict(fields: &[(&'static str, &'static str)], params: &Value) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.insert(*name, value.parse().expect("a value"));
        }
        let mut params = params.clone();
        params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let request = Request { id: json!(1), method: "tools/call".to_owned(), params };
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "limits": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        }});
        check(&headers, &request, Some(&schema)).map_err(|refusal| refusal.message)
    }

    const FIELDS: [(&str, &str); 3] =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "sql")];

    #[test]
    fn fields_that_mirror_the_body_are_fine() {
        assert_eq!(verdict(&FIELDS, &json!({"name": "sql"})), Ok(()));
        let mut fields = FIELDS.to_vec();
        fields.extend([("mcp-param-region", "=?base64?w7xz?="), ("mcp-param-n", "42.0")]);
        let params = json!({"name": "sql", "arguments": {"region": "üs", "limits": {"n": 42}}});
        assert_eq!(verdict(&fields, &params), Ok(()));
    }

    #[test]
    fn fields_that_do_not_are_named() {
        for at in 0..3 {
            let mut missing = FIELDS.to_vec();
            let (name, _) = missing.remove(at);
            let message = verdict(&missing, &json!({"name": "sql"})).expect_err("missing");
            assert!(message.to_lowercase().contains(name) && message.ends_with("is missing"), "{message}");
        }
        let message = verdict(&FIELDS, &json!({"name": "other"})).expect_err("different");
        assert!(message.contains("says `sql`, and the body \"other\""), "{message}");
        let message = verdict(&FIELDS, &json!({"name": "sql", "arguments": {"region": "eu"}})).expect_err("no field");
        assert!(message.contains("`Mcp-Param-Region` is missing"), "{message}");
        let mut fields = FIELDS.to_vec();
        fields.push(("mcp-param-region", "=?base64?***?="));
        let message = verdict(&fields, &json!({"name": "sql", "arguments": {"region": "eu"}})).expect_err("no base64");
        assert!(message.contains("cannot be read"), "{message}");
        let message = verdict(&fields, &json!({"name": "sql", "arguments": {"region": null}})).expect_err("no value");
        assert!(message.contains("was sent, but the argument was not"), "{message}");
    }
}
