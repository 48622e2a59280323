//! `structuredContent` against the tool's `outputSchema`.

use serde_json::Value;

use crate::budgeted_schema::BudgetedSchema;
use crate::schema::described;

/// Number of errors that are listed one by one.
const LISTED: usize = 3;

/// The violation of the tool's `outputSchema` by `structuredContent`, if any; an unusable schema is an error.
pub fn violates_output_schema(schema: &Value, structured: &Value) -> Result<Option<String>, String> {
    violation(&BudgetedSchema::new(schema)?, structured)
}

/// The sentence about a success without `structuredContent`.
pub const NO_STRUCTURED_CONTENT: &str = "the tool has an `outputSchema`, and the result has no `structuredContent`";

/// True if a success lacks what its tool promises. An intermediate result has none yet, and the result of a task comes later.
pub fn lacks_structured_content(result: &Value) -> bool {
    let is_unfinished = result.get("resultType").is_some_and(|kind| kind != "complete") || result.get("task").is_some();
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    result.get("structuredContent").is_none() && !is_unfinished && !is_error
}

/// The violation of a compiled schema, if any.
pub(crate) fn violation(schema: &BudgetedSchema, structured: &Value) -> Result<Option<String>, String> {
    let errors: Vec<String> = schema.errors(structured, |errors| errors.map(|error| described(&error)).collect())?;
    if errors.is_empty() {
        return Ok(None);
    }
    let more = errors.len().saturating_sub(LISTED);
    let listed = errors[..errors.len() - more].join("; ");
    Ok(Some(if more > 0 { format!("{listed}; and {more} more") } else { listed }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_success_of_a_tool_with_a_schema_has_structured_content() {
        assert!(lacks_structured_content(&json!({"content": []})));
        for whole in [
            json!({"content": [], "structuredContent": {}}),
            json!({"content": [], "isError": true}),
            json!({"resultType": "input_required"}),
            json!({"task": {}}),
        ] {
            assert!(!lacks_structured_content(&whole), "{whole}");
        }
    }

    #[test]
    fn the_first_faults_are_told_and_the_rest_is_counted() {
        let schema = json!({"additionalProperties": {"type": "string"}});
        assert_eq!(violates_output_schema(&schema, &json!({"a": "x"})), Ok(None));
        let listed = violates_output_schema(&schema, &json!({"a": 1, "b": 2, "c": 3, "d": 4})).expect("a schema");
        let listed = listed.expect("violated");
        assert!(
            listed.contains("/a")
                && listed.contains("/c")
                && !listed.contains("/d")
                && listed.ends_with("; and 1 more"),
            "{listed}"
        );
        assert!(violates_output_schema(&json!({"type": 1}), &json!({})).is_err());
    }
}
