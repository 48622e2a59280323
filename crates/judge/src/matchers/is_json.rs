//! `is-json`: a text that is JSON.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node, StoredValues, bounded_json};
use serde_json::Value;

use super::schema::{optional_schema, schema_of_optional_schema};
use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};
use crate::schema::errors;

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "is-json",
    summary: "The text is JSON; with `{schema}`, JSON that the schema accepts.",
    decode,
    schema: schema_of_optional_schema,
    examples: &[
        holds("null", r#""{\"a\": 1}""#),
        fails("null", r#""{a}""#),
        holds(r#"{"schema": {"required": ["a"]}}"#, r#""{\"a\": 1}""#),
        fails(r#"{"schema": {"required": ["b"]}}"#, r#""{\"a\": 1}""#),
    ],
};

#[derive(Debug)]
struct IsJson(Value);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    Some(Arc::new(IsJson(optional_schema(node, "`is-json`", found)?)))
}

impl Matcher for IsJson {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        let Some(parsed) = value.as_str().and_then(bounded_json::parse) else {
            return Err(mismatch("is not JSON", "a text that is JSON", value));
        };
        match errors(&self.0, &parsed) {
            Ok(errors) if errors.is_empty() => Ok(()),
            Ok(errors) => {
                let text = format!("violates the schema: {}", errors.join("; "));
                Err(mismatch(text, "JSON that the schema accepts", value))
            }
            Err(reason) => Err(mismatch(format!("cannot be judged: {reason}"), "a valid schema", value)),
        }
    }

    fn unjudged(&self, value: &Value, _stored: &StoredValues) -> Option<Mismatch> {
        let parsed = value.as_str().and_then(bounded_json::parse)?;
        errors(&self.0, &parsed).is_err().then(|| self.judge(value).err()).flatten()
    }
}
