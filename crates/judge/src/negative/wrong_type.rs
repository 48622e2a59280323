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

fn requests(subject: &Subject<'_>) -> Result<Vec<ProbeRequest>, String> {
    let mut made = Vec::new();
    for (name, property) in properties(subject) {
        if let Some(value) = wrong_value(property) {
            made.push(request(subject, name, with(subject.base, name, value)));
        }
        for (inner, property) in property.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if let Some(value) = wrong_value(property) {
                let base = subject.base.get(name).filter(|base| base.is_object()).cloned().unwrap_or_else(|| json!({}));
                let arguments = with(subject.base, name, with(&base, inner, value));
                made.push(request(subject, &format!("{name}.{inner}"), arguments));
            }
        }
    }
    // Whether the whole is wrong is for the schema to say: a nested value may be free although its type is named.
    made.retain(|request| errors(subject.schema, &request.arguments).is_ok_and(|errors| !errors.is_empty()));
    if made.is_empty() {
        Err("no argument of the tool has a `type` that could be violated".to_owned())
    } else {
        Ok(made)
    }
}

fn request(subject: &Subject<'_>, name: &str, arguments: Value) -> ProbeRequest {
    let what = format!("`{name}` has the wrong type");
    ProbeRequest { tool: subject.tool.to_owned(), arguments, what }
}

/// A value that the property's own schema rejects because of its type.
fn wrong_value(property: &Value) -> Option<Value> {
    property.get("type")?;
    let candidates =
        [json!(12345), json!("not-a-number"), json!("maybe"), json!({"not": "this"}), json!([1, 2, 3]), json!(true)];
    candidates.into_iter().find(|value| errors(property, value).is_ok_and(|errors| !errors.is_empty()))
}
