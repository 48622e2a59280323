//! Values against JSON Schemas.

use jsonschema::error::{ValidationError, ValidationErrorKind};
use mcprove_model::shorten;
use serde_json::{Value, json};

use crate::budgeted_schema::{BudgetedSchema, options};
use crate::schema_budget::{measure, on_deep_stack};

/// Errors of a value, each with its JSON Pointer; an unusable schema is an error that says why.
///
/// The draft is the one `$schema` names, else 2020-12. References outside the schema are never fetched.
pub(crate) fn errors(schema: &Value, value: &Value) -> Result<Vec<String>, String> {
    BudgetedSchema::new(schema)?.errors(value, |errors| errors.map(|error| described(&error)).collect())
}

/// The requirement of a schema at the place of its first error, and the value there.
pub(crate) struct FirstError {
    /// The keyword and what it asks for, e.g. `{"type":"integer"}`.
    pub(crate) expected: String,
    /// The value at the place.
    pub(crate) actual: Value,
}

/// The first error of a value; `None` when there is none.
pub(crate) fn first_error(schema: &Value, value: &Value) -> Option<FirstError> {
    BudgetedSchema::new(schema).ok()?.errors(value, |errors| Some(first(schema, &errors.next()?))).ok()?
}

fn first(schema: &Value, error: &ValidationError<'_>) -> FirstError {
    let path = error.schema_path().as_str().to_owned();
    let keyword = path.rsplit('/').next().unwrap_or_default();
    // Behind a reference the path leads through another schema.
    let asked = schema.pointer(&path).map(|asked| json!({ keyword: asked }).to_string());
    let place = error.instance_path().as_str().to_owned();
    let at = if place.is_empty() { String::new() } else { format!(" at `{place}`") };
    FirstError {
        expected: format!("{}{at}", asked.unwrap_or_else(|| schema.to_string())),
        actual: error.instance().as_ref().clone(),
    }
}

/// Errors of a value by one part of a schema, which may refer to other parts; see [`errors`].
pub(crate) fn errors_at(schema: &Value, pointer: &str, value: &Value) -> Result<Vec<String>, String> {
    // A resource with a name of its own keeps what `#` means in it, wherever it is embedded.
    let mut whole = schema.clone();
    let own_id = whole.get("$id").and_then(Value::as_str).map(|id| id.trim_end_matches('#').to_owned());
    let id = own_id.unwrap_or_else(|| "urn:mcprove:schema".to_owned());
    whole["$id"] = Value::String(id.clone());
    let mut wrapper = json!({"$ref": format!("{id}#{pointer}"), "$defs": {"whole": whole}});
    if let Some(dialect) = schema.get("$schema") {
        wrapper["$schema"] = dialect.clone();
        // Draft 7 looks for embedded schemas under the old word.
        wrapper["definitions"] = wrapper["$defs"].take();
    }
    errors(&wrapper, value)
}

/// Reason why a schema cannot be compiled.
#[derive(Debug)]
pub(crate) struct Uncompilable {
    /// Its place in the schema, as a JSON Pointer.
    pub(crate) pointer: String,
    /// Why.
    pub(crate) message: String,
}

/// Compiles a schema; references that lead nowhere are not looked at, nor is a schema that is too complex.
pub(crate) fn compiled(schema: &Value) -> Result<(), Uncompilable> {
    let Ok(size) = measure(schema) else { return Ok(()) };
    on_deep_stack(size.chain, || match options().build(schema) {
        Err(error) if !matches!(error.kind(), ValidationErrorKind::Referencing(_)) => Err(Uncompilable {
            pointer: error.instance_path().as_str().to_owned(),
            message: shorten(&error.to_string(), 200).into_owned(),
        }),
        Ok(_) | Err(_) => Ok(()),
    })
}

/// A schema error with its place.
pub(crate) fn described(error: &ValidationError<'_>) -> String {
    // Messages quote the value they speak of, however long it is.
    let message = error.to_string();
    let message = shorten(&message, 200);
    match error.instance_path().as_str() {
        "" => format!("{message} (at the top)"),
        pointer => format!("{message} (at {pointer})"),
    }
}

#[cfg(test)]
mod tests {
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
