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
