//! `response_headers`: headers of the HTTP response that carries the answer.

use std::sync::Arc;

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use serde_json::{Value, json};

use super::example::{fails, holds};
use super::{CheckKind, Seen, shape};
use crate::matchers::{Matcher, decode_inner};

const NAME: &str = "response_headers";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "The HTTP response has these headers: a text is the value, `{contains}`, `{regex}`, `{schema}` and `{exists}` judge it.",
    decode,
    schema: || {
        let matcher = json!({
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": false,
            "properties": {
                "contains": {"type": "string", "description": "A part of the value."},
                "exists": {"type": "boolean", "description": "The header is there, or is not."},
                "regex": {"type": "string", "description": "A regular expression that matches the value."},
                "schema": {"type": "object", "description": "A JSON Schema that accepts the value."},
            },
        });
        json!({"type": "object", "minProperties": 1, "additionalProperties": {"anyOf": [{"type": "string"}, matcher]}})
    },
    examples: &[
        holds(r#"{"Content-Type": "application/json"}"#, Seen::Headers(r#"{"content-type": "application/json"}"#)),
        holds(r#"{"content-type": {"contains": "json"}}"#, Seen::Headers(r#"{"content-type": "application/json"}"#)),
        fails(r#"{"content-type": "application/json"}"#, Seen::Headers(r#"{"content-type": "text/html"}"#)),
        fails(r#"{"x-request-id": {"exists": true}}"#, Seen::Headers("{}")),
        fails(r#"{"content-type": "application/json"}"#, Seen::Text("a reply over a pipe")),
    ],
};

#[derive(Debug)]
struct Header {
    name: String,
    matcher: Arc<dyn Matcher>,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let mut checks = Vec::new();
    let entries = found.map(node, "`response_headers`").unwrap_or_default();
    for entry in entries {
        let value = &entry.value;
        let written = match value.as_text() {
            Some(text) => Node::from_json(value.span, json!({"exact": text})),
            None => value.clone(),
        };
        let is_known = |key: &str| ["contains", "exact", "exists", "regex", "schema"].contains(&key);
        if let Some(other) = written.as_map().and_then(|map| map.iter().find(|entry| !is_known(&entry.key.text))) {
            found.unknown_key(&other.key, "a header", &["contains", "exists", "regex", "schema"]);
            continue;
        }
        if let Some(matcher) = decode_inner(&written, found) {
            let name = entry.key.text.to_lowercase();
            checks.push(shape::planned(NAME, value.span, Header { name, matcher }));
        }
    }
    if entries.is_empty() && node.as_map().is_some() {
        found.error_with_help(
            "nothing-asked",
            node.span,
            "`response_headers` names no header",
            "name one, or remove it",
        );
    }
    checks
}

/// The values of a header; the error says why there can be none.
pub(super) fn values(seen: &Observation, name: &str) -> Result<Vec<String>, Mismatch> {
    let Some(headers) = &seen.headers else {
        return Err(Mismatch {
            message: "the answer has no headers: the server does not speak HTTP".to_owned(),
            expected: "an HTTP response".to_owned(),
            actual: "an answer without headers".to_owned(),
            help: Some("give the server a `url:`, or remove it".to_owned()),
            ..Mismatch::default()
        });
    };
    Ok(headers.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone()).collect())
}

impl Check for Header {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let name = &self.name;
        let all = values(seen, name)?;
        if all.is_empty() {
            if self.matcher.accepts_missing(crate::matchers::Missing::TheOne) {
                return Ok(());
            }
            return Err(Mismatch {
                message: format!("the response has no header `{name}`"),
                expected: format!("a header `{name}`"),
                actual: "no such header".to_owned(),
                ..Mismatch::default()
            });
        }
        let value = Value::String(all.join(", "));
        self.matcher.judge(&value).map_err(|mut mismatch| {
            mismatch.message = format!("the header `{name}` {}", mismatch.message);
            mismatch
        })
    }

    fn wants_headers(&self) -> bool {
        true
    }
}
