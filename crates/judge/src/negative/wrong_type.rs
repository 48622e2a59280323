//! An argument of the wrong type, one at a time, also one level down.

use serde_json::{Value, json};

use super::{Probe, ProbeRequest, Subject, properties, with};
use crate::schema::errors;

pub(super) const PROBE: Probe = Probe {
    name: "wrong_type",
    taxonomy: "FAULT-SCHEMA-TYPE-MISMATCH",
    paper: "arXiv:2603.05637",
    sends: "a call with an argument of the wrong type",
    contract: "an error",
    may_accept: false,
    requests,
};

/// References and combinators that lead deeper than this say nothing about a type.
const DEPTH: usize = 8;

fn requests(subject: &Subject<'_>) -> Result<Vec<ProbeRequest>, String> {
    let mut made = Vec::new();
    for (name, property) in properties(subject) {
        let wrong = |value| with(subject.base, name, value);
        made.extend(request(subject, name, property, &wrong));
        let inside = resolved(subject.schema, property).get("properties").and_then(Value::as_object);
        for (inner, property) in inside.into_iter().flatten() {
            let base = subject.base.get(name).filter(|base| base.is_object()).cloned().unwrap_or_else(|| json!({}));
            let wrong = |value| with(subject.base, name, with(&base, inner, value));
            made.extend(request(subject, &format!("{name}.{inner}"), property, &wrong));
        }
    }
    if made.is_empty() {
        Err("no argument of the tool has a `type` that could be violated".to_owned())
    } else {
        Ok(made)
    }
}

/// A request with a value of a type that the property does not allow, and that the whole schema rejects.
fn request(
    subject: &Subject<'_>,
    name: &str,
    property: &Value,
    wrong: &dyn Fn(Value) -> Value,
) -> Option<ProbeRequest> {
    let allowed = types(subject.schema, property, DEPTH)?;
    let candidates = [json!(12345), json!("not-a-number"), json!({"not": "this"}), json!([1, 2, 3]), json!(true)];
    let arguments = candidates
        .into_iter()
        .filter(|value| !type_names(value).iter().any(|name| allowed.contains(name)))
        .map(wrong)
        .find(|arguments| errors(subject.schema, arguments).is_ok_and(|errors| !errors.is_empty()))?;
    let what = format!("`{name}` has the wrong type");
    Some(ProbeRequest { tool: subject.tool.to_owned(), arguments, what, has_default: false })
}

/// The types a property allows, behind references and alternatives; `None` when it may be of any.
fn types<'s>(root: &'s Value, property: &'s Value, depth: usize) -> Option<Vec<&'s str>> {
    let property = resolved(root, property);
    if depth == 0 {
        return None;
    }
    match property.get("type") {
        Some(Value::String(name)) => return Some(vec![name]),
        Some(Value::Array(names)) => return Some(names.iter().filter_map(Value::as_str).collect()),
        Some(_) | None => {}
    }
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| property.get(key)?.as_array())?;
    let all = alternatives.iter().map(|alternative| types(root, alternative, depth - 1));
    all.collect::<Option<Vec<_>>>().map(|all| all.concat())
}

/// The schema that a reference into the same document leads to.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..DEPTH {
        let pointer = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        match pointer.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// Names that a schema may use for the type of a value.
fn type_names(value: &Value) -> &'static [&'static str] {
    match value {
        Value::Null => &["null"],
        Value::Bool(_) => &["boolean"],
        Value::Number(_) => &["integer", "number"],
        Value::String(_) => &["string"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_found_behind_references_and_alternatives() {
        let schema = json!({"properties": {
            "limit": {"type": "integer", "maximum": 50},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "where": {"$ref": "#/$defs/place"},
            "again": {"$ref": "#/properties/again"},
            "free": {"anyOf": [{"type": "string"}, {}]},
        }, "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}}}}});
        let subject = Subject { tool: "t", schema: &schema, base: &json!({}), oversized: 1 };
        let made = requests(&subject).expect("typed properties");
        let sent: Vec<String> = made.iter().map(|request| request.arguments.to_string()).collect();
        assert_eq!(
            sent,
            [r#"{"limit":"not-a-number"}"#, r#"{"maybe":12345}"#, r#"{"where":12345}"#, r#"{"where":{"city":12345}}"#]
        );
    }
}
