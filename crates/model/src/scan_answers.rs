//! Answers that a scan gives to what a server asks of its client.

use serde_json::{Map, Value, json};

use crate::{ClientCapabilities, ElicitationAction, ElicitationReply, SamplingReply};

impl ClientCapabilities {
    /// A client that answers everything a server may ask, with canned replies: forms are filled in by their schema.
    pub fn canned(root: Option<&str>) -> Self {
        Self {
            roots: Some(root.map(str::to_owned).into_iter().collect()),
            roots_changed: None,
            sampling: vec![SamplingReply {
                text: "This is a canned reply.".to_owned(),
                model: "mcprove-canned".to_owned(),
                stop_reason: "endTurn".to_owned(),
            }],
            elicitation: Some(ElicitationReply { action: ElicitationAction::Accept, content: Value::Null, url: false }),
            ..Self::default()
        }
    }
}

/// The content of a form, made from the schema that a server asks for: defaults and first choices, and plain values for the
/// rest. Nothing is confirmed: a boolean without a default is false.
pub fn filled_form(schema: &Value) -> Value {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut form = Map::new();
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if field.get("default").is_some() || required.contains(&name.as_str()) {
            form.insert(name.clone(), filled_field(field));
        }
    }
    Value::Object(form)
}

/// A value for one field; the specification allows texts, numbers, booleans and lists of choices.
fn filled_field(field: &Value) -> Value {
    let first = |list: Option<&Value>| list.and_then(Value::as_array).and_then(|list| list.first()).cloned();
    let choice = || {
        let titled = ["oneOf", "anyOf"].iter().find_map(|key| first(field.get(key)));
        titled.and_then(|choice| choice.get("const").cloned())
    };
    let known = field.get("default").or_else(|| field.get("const")).cloned();
    if let Some(known) =
        known.or_else(|| first(field.get("enum"))).or_else(choice).or_else(|| first(field.get("examples")))
    {
        return known;
    }
    match field.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(false),
        Some(kind @ ("integer" | "number")) => number(field, kind == "integer"),
        Some("array") => {
            let count = field.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(100);
            let item = field.get("items").map_or(Value::Null, filled_field);
            Value::Array((0..count).map(|_| item.clone()).collect())
        }
        Some(_) | None => text(field),
    }
}

fn number(field: &Value, is_integer: bool) -> Value {
    let bound = |key: &str| field.get(key).and_then(Value::as_f64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound + 1.0));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound - 1.0));
    let value = least.unwrap_or(1.0_f64.min(most.unwrap_or(1.0)));
    if !is_integer && value.fract() != 0.0 {
        return json!(value);
    }
    // Bounds of forms are small; what is out of range is clipped.
    #[expect(clippy::cast_possible_truncation, reason = "what is out of range is clipped")]
    let whole = value.ceil() as i64;
    json!(whole)
}

fn text(field: &Value) -> Value {
    let plain = match field.get("format").and_then(Value::as_str) {
        Some("email") => "user@example.com",
        Some("uri") => "https://example.invalid/",
        Some("date") => "2024-01-15",
        Some("date-time") => "2024-01-15T09:30:00Z",
        Some(_) | None => "example",
    };
    let length = |key: &str| field.get(key).and_then(Value::as_u64).and_then(|length| usize::try_from(length).ok());
    let most = length("maxLength").unwrap_or(usize::MAX);
    let least = length("minLength").unwrap_or(0).min(10_000);
    let mut text: String = plain.chars().take(most).collect();
    while text.chars().count() < least {
        text.push('x');
    }
    json!(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_filled_in_by_their_schema() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 10},
                "mail": {"type": "string", "format": "email"},
                "age": {"type": "integer", "minimum": 18},
                "share": {"type": "number", "minimum": 0.5, "maximum": 0.75},
                "sure": {"type": "boolean"},
                "colour": {"type": "string", "enum": ["red", "green"]},
                "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}]},
                "tags": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": ["a", "b"]}},
                "note": {"type": "string"},
                "level": {"type": "integer", "default": 3}
            },
            "required": ["name", "mail", "age", "share", "sure", "colour", "size", "tags"]
        });
        assert_eq!(
            filled_form(&schema),
            json!({
                "name": "examplexxx", "mail": "user@example.com", "age": 18, "share": 0.5, "sure": false, "colour": "red",
                "size": "s", "tags": ["a"], "level": 3
            })
        );
        assert_eq!(filled_form(&Value::Null), json!({}));
    }
}
