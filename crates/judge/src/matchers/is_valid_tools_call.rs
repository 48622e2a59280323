//! `is-valid-tools-call`: a proper result of `tools/call`.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use serde_json::Value;

use super::schema::{optional_schema, schema_of_optional_schema};
use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};
use crate::schema::errors;

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "is-valid-tools-call",
    summary: "The value is a proper `tools/call` result: a list of typed content, `isError` a boolean; with `{schema}`, its structured content is accepted.",
    decode,
    schema: schema_of_optional_schema,
    examples: &[
        holds("null", r#"{"content": [{"type": "text", "text": "a"}]}"#),
        fails("null", r#"{"content": "a"}"#),
        fails("null", r#"{"content": [], "isError": "no"}"#),
        fails(r#"{"schema": {"required": ["a"]}}"#, r#"{"content": [], "structuredContent": {}}"#),
    ],
};

#[derive(Debug)]
struct ToolsCall(Value);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(ToolsCall(optional_schema(node, "`is-valid-tools-call`", found)?)))
}

impl Matcher for ToolsCall {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let wrong =
            |what: &str| Err(mismatch(format!("is not a proper result: {what}"), "a result of `tools/call`", value));
        let Some(items) = value.get("content").and_then(Value::as_array) else {
            return wrong("`content` is not a list");
        };
        if items.iter().any(|item| item.get("type").and_then(Value::as_str).is_none()) {
            return wrong("an item of `content` has no `type`");
        }
        if value.get("isError").is_some_and(|flag| !flag.is_boolean()) {
            return wrong("`isError` is not a boolean");
        }
        match errors(&self.0, value.get("structuredContent").unwrap_or(&Value::Null)) {
            Ok(errors) if errors.is_empty() => Ok(()),
            Ok(errors) => wrong(&format!("`structuredContent` violates the schema: {}", errors.join("; "))),
            Err(reason) => wrong(&reason),
        }
    }
}
