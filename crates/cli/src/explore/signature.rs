//! Tools and prompts as one line that reads like the signature of a function.

use serde_json::Value;

use super::arguments::types_of;

/// The longest enumeration that is shown in a signature.
const CHOICES: usize = 5;

/// `name(required: type, optional?: type = default)`.
pub(crate) fn tool_signature(tool: &Value) -> String {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or("(no name)");
    let nothing = Value::Null;
    let schema = tool.get("inputSchema").unwrap_or(&nothing);
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut shown: Vec<(bool, String)> = fields
        .map(|(field, property)| {
            let is_required = required.contains(&field.as_str());
            let mark = if is_required { "" } else { "?" };
            let default = property.get("default").map(|value| format!(" = {value}")).unwrap_or_default();
            (!is_required, format!("{field}{mark}: {}{default}", type_of(property, schema)))
        })
        .collect();
    // Required arguments first, each group in the order of the schema.
    shown.sort_by_key(|(is_optional, _)| *is_optional);
    let fields: Vec<String> = shown.into_iter().map(|(_, text)| text).collect();
    format!("{name}({})", fields.join(", "))
}

/// `name(required, optional?)`.
pub(crate) fn prompt_signature(prompt: &Value) -> String {
    let name = prompt.get("name").and_then(Value::as_str).unwrap_or("(no name)");
    let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let arguments: Vec<String> = arguments
        .map(|argument| {
            let name = argument.get("name").and_then(Value::as_str).unwrap_or("?");
            let mark = if argument.get("required") == Some(&Value::Bool(true)) { "" } else { "?" };
            format!("{name}{mark}")
        })
        .collect();
    format!("{name}({})", arguments.join(", "))
}

fn type_of(schema: &Value, root: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let shown: Vec<String> = values.iter().take(CHOICES).map(Value::to_string).collect();
        let more = if values.len() > CHOICES { "|…" } else { "" };
        return format!("{}{more}", shown.join("|"));
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let types = types_of(schema, root);
    let shown: Vec<String> = types
        .iter()
        .map(|kind| match (*kind, schema.get("items")) {
            ("array", Some(items)) => {
                let inner = type_of(items, root);
                if inner.contains('|') { format!("({inner})[]") } else { format!("{inner}[]") }
            }
            (kind, _) => kind.to_owned(),
        })
        .collect();
    if shown.is_empty() { "any".to_owned() } else { shown.join("|") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn signatures_show_types_defaults_and_what_is_optional() {
        let tool = json!({"name": "find", "inputSchema": {"properties": {
            "limit": {"type": "integer", "default": 10},
            "query": {"type": "string"},
            "kind": {"enum": ["a", "b"]},
            "tags": {"type": "array", "items": {"type": ["string", "null"]}},
            "where": {"$ref": "#/$defs/W"},
            "free": {},
        }, "required": ["query", "kind"], "$defs": {"W": {"type": "object"}}}});
        assert_eq!(
            tool_signature(&tool),
            "find(query: string, kind: \"a\"|\"b\", limit?: integer = 10, tags?: (string|null)[], where?: object, free?: any)"
        );
        assert_eq!(tool_signature(&json!({})), "(no name)()");
        let prompt = json!({"name": "p", "arguments": [{"name": "a", "required": true}, {"name": "b"}]});
        assert_eq!(prompt_signature(&prompt), "p(a, b?)");
    }
}
