//! Values against JSON Schemas.

use jsonschema::error::ValidationError;
use mcprove_model::shorten;
use serde_json::Value;

/// What is wrong with a value, each with its JSON Pointer; an unusable schema is an error that says why.
///
/// The draft is the one `$schema` names, else 2020-12. References outside the schema are never fetched.
pub(crate) fn errors(schema: &Value, value: &Value) -> Result<Vec<String>, String> {
    let validator = jsonschema::options().offline().build(schema).map_err(|error| unusable(&error))?;
    Ok(validator.iter_errors(value).map(|error| described(&error)).collect())
}

fn described(error: &ValidationError<'_>) -> String {
    // Messages quote the value they speak of, however long it is.
    let message = error.to_string();
    let message = shorten(&message, 200);
    match error.instance_path().as_str() {
        "" => format!("{message} (at the top)"),
        pointer => format!("{message} (at {pointer})"),
    }
}

fn unusable(error: &ValidationError<'_>) -> String {
    let message = error.to_string();
    let place = error.instance_path().as_str();
    let place = if place.is_empty() { String::new() } else { format!(" (at {place})") };
    format!("the schema is not usable: {}{place}", shorten(&message, 200))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_name_their_place() {
        let schema = json!({"type": "object", "properties": {"a": {"items": {"type": "integer"}}}, "required": ["b"]});
        let found = errors(&schema, &json!({"a": [1, "x"]})).expect("a schema");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().any(|error| error.contains("(at /a/1)")), "{found:?}");
        assert!(found.iter().any(|error| error.contains("\"b\"") && error.ends_with("(at the top)")), "{found:?}");
    }

    #[test]
    fn the_named_draft_is_respected() {
        // `items` as a list means a tuple in draft 7 and is invalid in 2020-12.
        let tuple = json!([{"type": "string"}]);
        let draft7 = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": tuple});
        assert_eq!(errors(&draft7, &json!([1])).expect("a schema").len(), 1);
        assert!(errors(&json!({"items": tuple}), &json!([1])).is_err());
    }

    #[test]
    fn a_schema_that_cannot_be_used_says_why() {
        for schema in [
            json!({"type": "strnig"}),
            json!({"$ref": "https://example.com/x.json"}),
            json!({"$ref": "#/nowhere"}),
            json!(3),
        ] {
            let error = errors(&schema, &json!(1)).expect_err("unusable");
            assert!(error.starts_with("the schema is not usable: "), "{error}");
        }
        assert!(errors(&json!({"$schema": "https://example.com/own", "type": "string"}), &json!(1)).is_err());
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        assert_eq!(errors(&json!({"$ref": "#"}), &json!({"a": 1})), Ok(Vec::new()));
        let tree = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        assert_eq!(errors(&tree, &json!({"next": {"next": 1}})).expect("a schema").len(), 1);
    }

    #[test]
    fn long_values_do_not_make_long_messages() {
        let found = errors(&json!({"type": "integer"}), &json!("x".repeat(10_000))).expect("a schema");
        assert!(found[0].len() < 300, "{}", found[0].len());
    }
}
