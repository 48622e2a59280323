//! `structuredContent` against the tool's `outputSchema`.

use serde_json::Value;

use crate::schema;

/// Number of errors that are listed one by one.
const TOLD: usize = 3;

/// The violation of the tool's `outputSchema` by `structuredContent`, if any; an unusable schema is an error.
pub fn violates_output_schema(schema: &Value, structured: &Value) -> Result<Option<String>, String> {
    let errors = schema::errors(schema, structured)?;
    if errors.is_empty() {
        return Ok(None);
    }
    let more = errors.len().saturating_sub(TOLD);
    let told = errors[..errors.len() - more].join("; ");
    Ok(Some(if more > 0 { format!("{told}; and {more} more") } else { told }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_faults_are_told_and_the_rest_is_counted() {
        let schema = json!({"additionalProperties": {"type": "string"}});
        assert_eq!(violates_output_schema(&schema, &json!({"a": "x"})), Ok(None));
        let told = violates_output_schema(&schema, &json!({"a": 1, "b": 2, "c": 3, "d": 4})).expect("a schema");
        let told = told.expect("violated");
        assert!(
            told.contains("/a") && told.contains("/c") && !told.contains("/d") && told.ends_with("; and 1 more"),
            "{told}"
        );
        assert!(violates_output_schema(&json!({"type": 1}), &json!({})).is_err());
    }
}
