//! The last word on whether a schema accepts a value.

use jsonschema::Validator;
use jsonschema::error::ValidationError;
use mcprove_model::shorten;
use serde_json::Value;

/// How deep a schema may be nested. What comes over the wire is never deeper than serde reads (128).
const DEEPEST: usize = 128;

/// A schema, compiled once, that says what it accepts.
///
/// The draft is the one `$schema` names, else 2020-12, where `format` only annotates. References outside the schema
/// are never fetched.
#[derive(Debug)]
pub struct Oracle {
    validator: Validator,
}

impl Oracle {
    /// Compiles a schema; one that cannot be used is an error that says why.
    pub fn new(schema: &Value) -> Result<Self, String> {
        if is_deeper_than(schema, DEEPEST) {
            return Err(format!("the schema is not usable: it is nested more than {DEEPEST} deep"));
        }
        match jsonschema::options().offline().build(schema) {
            Ok(validator) => Ok(Self { validator }),
            Err(error) => Err(unusable(&error)),
        }
    }

    /// Whether the schema accepts the value.
    pub fn accepts(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// What is wrong with a value, each fault with its JSON Pointer.
    pub fn faults(&self, value: &Value) -> Vec<String> {
        self.validator.iter_errors(value).map(|error| described(&error)).collect()
    }

    /// The JSON Pointer and the message of the first fault.
    pub(crate) fn first_fault(&self, value: &Value) -> Option<(String, String)> {
        let error = self.validator.iter_errors(value).next()?;
        Some((error.instance_path().as_str().to_owned(), message(&error)))
    }
}

fn described(error: &ValidationError<'_>) -> String {
    match error.instance_path().as_str() {
        "" => format!("{} (at the top)", message(error)),
        pointer => format!("{} (at {pointer})", message(error)),
    }
}

fn unusable(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { String::new() } else { format!(" (at {place})") };
    format!("the schema is not usable: {}{place}", message(error))
}

/// Messages quote the value they speak of, however long it is.
fn message(error: &ValidationError<'_>) -> String {
    shorten(&error.to_string(), 200).into_owned()
}

/// Whether a value is nested deeper than `limit`, without recursion.
pub(crate) fn is_deeper_than(value: &Value, limit: usize) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|item| (item, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_says_what_it_accepts_and_why_not() {
        let oracle = Oracle::new(&json!({"properties": {"a": {"minimum": 3}}})).expect("a schema");
        assert!(oracle.accepts(&json!({"a": 3})));
        assert!(!oracle.accepts(&json!({"a": 2})));
        assert_eq!(oracle.first_fault(&json!({"a": 2})).expect("a fault").0, "/a");
        assert_eq!(oracle.faults(&json!({"a": 2})).len(), 1);
        assert_eq!(oracle.first_fault(&json!({})), None);
    }

    #[test]
    fn a_schema_too_deep_to_compile_is_refused() {
        let mut schema = json!({});
        for _ in 0..300 {
            schema = json!({"not": schema});
        }
        assert!(Oracle::new(&schema).expect_err("too deep").contains("nested"));
        assert!(Oracle::new(&json!({"type": "strnig"})).expect_err("unusable").contains("not usable"));
    }
}
