//! The final check of a value against a schema.

use mcprove_model::shorten;
use serde_json::Value;

use crate::budgeted_schema::BudgetedSchema;
use crate::schema::described;

/// A schema, compiled once, that says what it accepts.
#[derive(Debug)]
pub struct Oracle {
    judged: BudgetedSchema,
}

impl Oracle {
    /// Compiles a schema; one that cannot be used or is too complex to judge is an error that says why.
    pub fn new(schema: &Value) -> Result<Self, String> {
        BudgetedSchema::new(schema).map(|judged| Self { judged })
    }

    /// True if the value can be judged within the budget.
    pub fn can_judge(&self, value: &Value) -> bool {
        self.judged.steps(value).is_ok()
    }

    /// True if the schema accepts the value; not if that is too complex to judge.
    pub fn accepts(&self, value: &Value) -> bool {
        self.judged.accepts(value) == Ok(true)
    }

    /// Errors of a value, each with its JSON Pointer; empty if that is too complex to judge.
    pub fn faults(&self, value: &Value) -> Vec<String> {
        self.judged.errors(value, |errors| errors.map(|error| described(&error)).collect()).unwrap_or_default()
    }

    /// The JSON Pointer and the message of the first fault.
    pub(crate) fn first_fault(&self, value: &Value) -> Option<(String, String)> {
        let first = self.judged.errors(value, |errors| {
            let error = errors.next()?;
            Some((error.instance_path().as_str().to_owned(), shorten(&error.to_string(), 200).into_owned()))
        });
        first.unwrap_or_else(|problem| Some((String::new(), problem)))
    }
}

/// True if a value is nested deeper than `limit`, without recursion.
#[cfg(test)]
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
