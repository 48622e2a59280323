//! Tool arguments against the tool's `inputSchema`.

use serde_json::Value;

use crate::schema;

/// Errors in the arguments of a tool call, each with its JSON Pointer; an unusable schema is an error.
pub fn argument_errors(schema: &Value, arguments: &Value) -> Result<Vec<String>, String> {
    schema::errors(schema, arguments)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_wrong_argument_is_told() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
            "additionalProperties": false
        });
        assert_eq!(argument_errors(&schema, &json!({"a": 1, "b": 2.5})), Ok(Vec::new()));
        assert_eq!(argument_errors(&schema, &json!({"a": "1", "c": 2})).expect("a schema").len(), 3);
    }
}
