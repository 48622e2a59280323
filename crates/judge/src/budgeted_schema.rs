//! A compiled schema that judges values within a budget.

use jsonschema::error::ValidationError;
use jsonschema::{ValidationOptions, Validator};
use mcprove_model::shorten;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::generate::Document;
use crate::schema_budget::{Size, Steps, TooComplex, measure, on_deep_stack, steps};

/// The steps up to which all errors are collected; errors of alternatives hold those of their branches.
const LISTED: u64 = 50_000;
/// The values of a schema times values up to which a schema without references is applied: no schema meets a value twice.
const MOST_PAIRS: usize = 200_000_000;
/// The values of a schema times values up to which all errors of such a schema are collected: each may be an error.
const LISTED_PAIRS: u64 = 500_000;

/// A compiled schema.
///
/// The draft is the one `$schema` names, else 2020-12, where `format` only annotates. References outside the schema
/// are never fetched.
#[derive(Debug)]
pub(crate) struct BudgetedSchema {
    validator: Validator,
    size: Size,
    /// The schema, where the cost of a validation depends on it.
    schema: Option<Value>,
}

impl BudgetedSchema {
    /// Compiles a schema; one that cannot be used or is too complex to judge is an error that says why.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        let size = measure(schema).map_err(|problem| problem.to_string())?;
        let validator = on_deep_stack(size.chain, || options().build(schema).map_err(|error| unusable(&error)))?;
        Ok(Self { validator, size, schema: size.has_references.then(|| schema.clone()) })
    }

    /// The cost of judging a value; one that is too large is an error.
    pub(crate) fn steps(&self, value: &Value) -> Result<Steps, String> {
        if let Some(schema) = &self.schema {
            return steps(&Document::new(schema), value).map_err(|problem| problem.to_string());
        }
        let pairs = self.size.nodes.saturating_mul(values_in(value));
        if pairs > MOST_PAIRS {
            return Err(TooComplex::because("it is large, and so is the value").to_string());
        }
        Ok(Steps { count: pairs as u64, depth: self.size.chain })
    }

    /// True if the schema accepts the value; a value that costs too much to judge is an error.
    pub(crate) fn accepts(&self, value: &Value) -> Result<bool, String> {
        let steps = self.steps(value)?;
        Ok(on_deep_stack(steps.depth, || self.validator.is_valid(value)))
    }

    /// Maps the errors of a value; a value that costs too much to judge is an error.
    pub(crate) fn errors<T: Send>(
        &self,
        value: &Value,
        collect: impl FnOnce(&mut dyn Iterator<Item = ValidationError<'_>>) -> T + Send,
    ) -> Result<T, String> {
        let steps = self.steps(value)?;
        Ok(on_deep_stack(steps.depth, || {
            let listed = if self.schema.is_some() { LISTED } else { LISTED_PAIRS };
            if steps.count <= listed {
                return collect(&mut self.validator.iter_errors(value));
            }
            // Only the first error is looked for where all of them would take too much memory. An iterator of errors has all.
            collect(&mut self.validator.validate(value).err().into_iter())
        }))
    }
}

/// Options of every validator: nothing is fetched, and JSON in a string is read without making a tree of it, which takes forty
/// times the memory.
pub(crate) fn options<'a>() -> ValidationOptions<'a> {
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    jsonschema::options().offline().with_content_media_type("application/json", is_json)
}

fn unusable(error: &ValidationError<'_>) -> String {
    let message = error.to_string();
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { String::new() } else { format!(" (at {place})") };
    format!("the schema is not usable: {}{place}", shorten(&message, 200))
}

fn values_in(value: &Value) -> usize {
    let mut open = vec![value];
    let mut count = 0;
    while let Some(value) = open.pop() {
        count += 1;
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(map) => open.extend(map.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_that_costs_too_much_is_an_error_that_says_so() {
        let branch = json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
        let judged = BudgetedSchema::new(&json!({"oneOf": [branch, branch, {"type": "null"}]})).expect("a schema");
        let deep = (0..100).fold(json!(1), |inner, _| json!({"a": inner}));
        assert!(judged.accepts(&deep).expect_err("too complex").contains("too complex to judge"));
        assert_eq!(judged.accepts(&json!(null)), Ok(true));
        assert_eq!(judged.accepts(&json!({"a": null})), Ok(false));
    }

    #[test]
    fn errors_of_many_values_are_not_collected() {
        let judged = BudgetedSchema::new(&json!({"items": {"type": "string"}})).expect("a schema");
        let found = |values: usize| judged.errors(&json!(vec![0; values]), |errors| errors.count());
        assert_eq!((found(1_000), found(300_000)), (Ok(1_000), Ok(1)));
        let large: Vec<u32> = (0..900).collect();
        let judged = BudgetedSchema::new(&json!({"items": {"enum": large}})).expect("a schema");
        assert!(judged.accepts(&json!(vec![-1; 300_000])).is_err_and(|why| why.contains("too complex to judge")));
    }

    #[test]
    fn json_in_a_string_is_looked_at() {
        let schema =
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "contentMediaType": "application/json"});
        let judged = BudgetedSchema::new(&schema).expect("a schema");
        assert_eq!((judged.accepts(&json!("[0, {}]")), judged.accepts(&json!("[0,"))), (Ok(true), Ok(false)));
    }

    #[test]
    fn long_chains_within_the_budget_are_judged() {
        let mut definitions = serde_json::Map::new();
        for number in 0..900 {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            definitions.insert(format!("d{number}"), next);
        }
        definitions.insert("d900".to_owned(), json!({"type": "string"}));
        let judged = BudgetedSchema::new(&json!({"$ref": "#/$defs/d0", "$defs": definitions})).expect("a schema");
        assert_eq!((judged.accepts(&json!("x")), judged.accepts(&json!(1))), (Ok(true), Ok(false)));
    }
}
