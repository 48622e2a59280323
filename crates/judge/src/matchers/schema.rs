//! `schema`: a JSON Schema accepts the value.

mod keywords;

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node, StoredValues};
use serde_json::{Value, json};

use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch};
use crate::schema::{errors, first_error};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "schema",
    summary: "This JSON Schema accepts the value.",
    decode,
    schema: || json!({"type": ["object", "boolean"]}),
    examples: &[holds(r#"{"maximum": 0}"#, "0"), fails(r#"{"maximum": 0}"#, "1"), fails(r#"{"type": "string"}"#, "1")],
};

#[derive(Debug)]
struct Schema(Value);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    let schema = decode_schema(node, found)?;
    keywords::report(node, found);
    if schema == Value::Bool(true) || schema.as_object().is_some_and(serde_json::Map::is_empty) {
        let help = "say what the value must be, for example `{type: object, required: [id]}`".to_owned();
        found.warning("nothing-asked", node.span, "this schema accepts every value", Some(help));
    }
    Some(Arc::new(Schema(schema)))
}

/// A schema as an author wrote it; one that is none is reported.
fn decode_schema(node: &Node, found: &mut Diagnostics<'_>) -> Option<Value> {
    let schema = node.to_json();
    match errors(&schema, &Value::Null) {
        Ok(_) => Some(schema),
        Err(reason) => {
            found.error("bad-schema", node.span, format!("this is not a JSON Schema: {reason}"));
            None
        }
    }
}

/// The schema of a matcher that may have a `{schema}`; without one, everything is accepted.
pub(super) fn optional_schema(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<Value> {
    if node.is_null() || node.as_bool() == Some(true) {
        return Some(Value::Bool(true));
    }
    found.known_keys(node, what, &["schema"]);
    match node.get("schema") {
        Some(schema) => decode_schema(schema, found),
        None => Some(Value::Bool(true)),
    }
}

/// The JSON Schema of what [`optional_schema`] reads.
pub(super) fn schema_of_optional_schema() -> Value {
    let with_schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {"schema": {"type": ["object", "boolean"], "description": "The JSON Schema."}},
    });
    json!({"anyOf": [with_schema, {"type": "null"}, {"const": true}]})
}

/// The first violations, and the number of the others.
fn first_of(errors: &[String]) -> String {
    const SHOWN: usize = 3;
    let first = errors.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("; ");
    match errors.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first}; and {more} more"),
    }
}

impl Matcher for Schema {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        match errors(&self.0, value) {
            Ok(errors) if errors.is_empty() => Ok(()),
            Ok(errors) => {
                let message = format!("violates the schema: {}", first_of(&errors));
                Err(match first_error(&self.0, value) {
                    Some(first) => mismatch(message, first.expected, &first.actual),
                    None => mismatch(message, self.0.to_string(), value),
                })
            }
            Err(reason) => Err(mismatch(format!("cannot be judged: {reason}"), self.0.to_string(), value)),
        }
    }

    fn unjudged(&self, value: &Value, _stored: &StoredValues) -> Option<Mismatch> {
        errors(&self.0, value).is_err().then(|| self.judge(value).err()).flatten()
    }
}
