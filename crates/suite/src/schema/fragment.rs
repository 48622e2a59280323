//! Small JSON Schemas that blocks are put together from.

use mcprove_judge::checks;
use mcprove_model::Vocabulary;
use serde_json::{Value, json};

/// The key that marks a schema used in many places, which is kept once under the name that is its value.
pub(crate) const DEFINITION: &str = "x-definition";

/// A text; numbers and booleans are taken as written.
pub(crate) fn text(description: &str) -> Value {
    json!({"type": ["string", "number", "boolean"], "description": description})
}

/// A text that may be left empty.
pub(crate) fn scalar(description: &str) -> Value {
    json!({"type": ["string", "number", "boolean", "null"], "description": description})
}

/// A list of texts.
pub(crate) fn texts(description: &str) -> Value {
    json!({"type": ["array", "null"], "items": {"type": ["string", "number", "boolean"]}, "description": description})
}

/// A map of texts.
pub(crate) fn scalars(description: &str) -> Value {
    json!({
        "type": ["object", "null"],
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
        "description": description,
    })
}

/// `true` or `false`.
pub(crate) fn flag(description: &str) -> Value {
    json!({"type": ["boolean", "null"], "description": description})
}

/// A whole number from `least`.
pub(crate) fn count(description: &str, least: u64) -> Value {
    json!({"type": "integer", "minimum": least, "description": description})
}

/// A whole number within bounds.
pub(crate) fn count_within(description: &str, bounds: &std::ops::RangeInclusive<u64>) -> Value {
    json!({"type": "integer", "minimum": bounds.start(), "maximum": bounds.end(), "description": description})
}

/// A duration such as `500ms`.
pub(crate) fn duration(description: &str) -> Value {
    json!({"type": ["string", "number", "null"], "description": description})
}

/// A map with anything in it.
pub(crate) fn any_map(description: &str) -> Value {
    json!({"type": ["object", "null"], "description": description})
}

/// A map of these keys.
#[expect(clippy::needless_pass_by_value, reason = "callers make the schema in place")]
pub(crate) fn map(description: &str, properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": required,
        "description": description,
    })
}

/// A list of these.
#[expect(clippy::needless_pass_by_value, reason = "callers make the schema in place")]
pub(crate) fn list(description: &str, items: Value) -> Value {
    json!({"type": ["array", "null"], "items": items, "description": description})
}

/// A request for a list: nothing, `true`, or a map with a cursor.
pub(crate) fn listing(description: &str) -> Value {
    json!({
        "type": ["object", "null", "boolean"],
        "additionalProperties": false,
        "properties": {"cursor": text("The page at this cursor; all pages when left out.")},
        "description": description,
    })
}

/// Schema of the expectations of a block.
pub(crate) fn expect(vocabulary: Vocabulary) -> Value {
    let mut schema = checks::schema(vocabulary);
    let name = match vocabulary {
        Vocabulary::Targets(targets) => targets.name.to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    schema[DEFINITION] = format!("expect-{name}").into();
    schema["description"] = "What is expected: a map of checks, or a list of targets, each with a matcher.".into();
    schema
}

/// A scripted answer of a model.
pub(crate) fn sampling_reply() -> Value {
    map(
        "An answer.",
        json!({
            "model": text("The model's name."),
            "stop_reason": text("Why the model stopped."),
            "text": scalar("What it answers."),
        }),
        &[],
    )
}
