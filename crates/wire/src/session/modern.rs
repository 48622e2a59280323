//! Additions of the stateless revision to a request: `_meta` in the body and its mirror in the headers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcprove_model::{Era, Finding, Revision};
use serde_json::{Map, Value, json};

use super::Session;

const PREFIX: &str = "io.modelcontextprotocol/";
/// Integers beyond this lose digits in a JavaScript reader; they may not be mirrored (2026-07-28, "Custom Headers").
const SAFE_INTEGER: i64 = (1 << 53) - 1;

impl Session {
    pub(super) fn is_modern(&self) -> bool {
        self.negotiated.revision.era() == Era::Modern
    }

    /// The params of a request with the `_meta` every modern request carries.
    pub(super) fn with_meta(&self, params: &Value) -> Value {
        let mut params = match params {
            Value::Object(map) => map.clone(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
        };
        let mut meta = match params.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            Some(_) | None => Map::new(),
        };
        meta.insert(format!("{PREFIX}protocolVersion"), json!(self.negotiated.revision.as_str()));
        let capabilities = self.claims.clone().unwrap_or_else(|| self.declared_capabilities());
        meta.insert(format!("{PREFIX}clientCapabilities"), capabilities);
        meta.insert(format!("{PREFIX}clientInfo"), json!({"name": "mcprove", "version": env!("CARGO_PKG_VERSION")}));
        if let Some(level) = &self.log_level {
            meta.insert(format!("{PREFIX}logLevel"), json!(level));
        }
        params.insert("_meta".to_owned(), Value::Object(meta));
        Value::Object(params)
    }

    /// The headers that mirror a modern request on HTTP.
    pub(super) fn mirrored_headers(&mut self, method: &str, params: &Value) -> Vec<(String, String)> {
        let mut headers = vec![("mcp-method".to_owned(), method.to_owned())];
        let named = match method {
            "tools/call" | "prompts/get" => params.get("name"),
            "resources/read" => params.get("uri"),
            _ => None,
        };
        if let Some(name) = named.and_then(Value::as_str) {
            headers.push(("mcp-name".to_owned(), field_value(name)));
        }
        if method == "tools/call"
            && let Some(schema) = named.and_then(Value::as_str).and_then(|name| self.schemas.as_ref()?.get(name))
        {
            match parameter_headers(schema, params.get("arguments").unwrap_or(&Value::Null)) {
                Ok(mirrored) => headers.extend(mirrored),
                Err(reason) => {
                    let name = named.and_then(Value::as_str).unwrap_or_default();
                    let text = format!("the tool `{name}` has an invalid `x-mcp-header`: {reason}");
                    let finding = Finding::warning("invalid-header-annotation", text)
                        .help("clients must leave such a tool out on HTTP");
                    self.keep_odd(finding);
                }
            }
        }
        headers
    }

    /// Server identity of a modern result.
    pub(super) fn identity(result: &Value, key: &str) -> String {
        let info = result.get("_meta").and_then(|meta| meta.get(format!("{PREFIX}serverInfo")));
        let info = info.or_else(|| result.get("serverInfo"));
        info.and_then(|info| info.get(key)).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Sets the capabilities that later requests claim in the stateless revision; `None` for the real ones.
    pub fn claim(&mut self, capabilities: Option<Value>) {
        self.claims = capabilities;
    }

    /// Speaks a revision from now on.
    pub(super) fn speak(&mut self, revision: Revision) {
        self.negotiated.revision = revision;
        // Before a handshake has been made, nothing is agreed on in the legacy era.
        self.transport.agreed(Some(revision).filter(|revision| revision.era() == Era::Modern));
    }
}

/// A string as a header value: as it is, or in base64 where a header could not carry it (2026-07-28, "Value Encoding").
fn field_value(text: &str) -> String {
    let plain = text.bytes().all(|b| matches!(b, b' '..=b'~'));
    let marked = text.starts_with("=?base64?") && text.ends_with("?=");
    if plain && !marked && text.trim() == text {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(text))
    }
}

/// The `Mcp-Param-*` fields of a call, from the annotations of the tool's schema.
pub(super) fn parameter_headers(schema: &Value, arguments: &Value) -> Result<Vec<(String, String)>, String> {
    if misplaced(schema, true) {
        return Err("it must sit on a property that is reached through `properties` alone".to_owned());
    }
    let mut annotations = Vec::new();
    collect(schema, Some(arguments), &mut annotations);
    let mut headers: Vec<(String, String)> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for (annotation, property, value) in annotations {
        let Some(name) = annotation.as_str().filter(|name| is_token(name)) else {
            return Err(format!("{annotation} is not a name a header field can have"));
        };
        let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
        if !matches!(kind, "string" | "integer" | "boolean") {
            return Err(format!("`{name}` is on a property that is not a string, an integer or a boolean"));
        }
        let lower = name.to_ascii_lowercase();
        if seen.contains(&lower) {
            return Err(format!("`{name}` is used twice"));
        }
        seen.push(lower);
        let text = match value {
            None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => continue,
            Some(Value::String(text)) => field_value(text),
            Some(Value::Bool(value)) => value.to_string(),
            Some(Value::Number(number)) => match number.as_i64() {
                Some(integer) if integer.abs() <= SAFE_INTEGER => integer.to_string(),
                Some(_) | None => continue,
            },
        };
        headers.push((format!("mcp-param-{name}"), text));
    }
    Ok(headers)
}

fn collect<'a>(
    schema: &'a Value,
    arguments: Option<&'a Value>,
    found: &mut Vec<(&'a Value, &'a Value, Option<&'a Value>)>,
) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        let value = arguments.and_then(|arguments| arguments.get(name));
        if let Some(annotation) = property.get("x-mcp-header") {
            found.push((annotation, property, value));
        }
        collect(property, value, found);
    }
}

/// True if an annotation is anywhere but on a property reached through `properties` alone.
fn misplaced(schema: &Value, is_root: bool) -> bool {
    match schema {
        Value::Object(map) => map.iter().any(|(key, value)| match key.as_str() {
            "x-mcp-header" => is_root,
            "properties" => value
                .as_object()
                .is_some_and(|properties| properties.values().any(|property| misplaced(property, false))),
            "default" | "const" | "enum" | "examples" => false,
            _ => mentions(value),
        }),
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn mentions(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key("x-mcp-header") || map.values().any(mentions),
        Value::Array(items) => items.iter().any(mentions),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn is_token(name: &str) -> bool {
    let extra = b"!#$%&'*+-.^_`|~";
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || extra.contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_field_cannot_carry_are_encoded() {
        assert_eq!(field_value("us-west1"), "us-west1");
        assert_eq!(field_value(" x"), "=?base64?IHg=?=");
        assert_eq!(field_value("grüß"), "=?base64?Z3LDvMOf?=");
        assert_eq!(field_value("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
    }

    #[test]
    fn annotated_arguments_are_mirrored_and_absent_ones_are_not() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "limits": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "gone": {"type": "boolean", "x-mcp-header": "Gone"},
        }});
        let headers = parameter_headers(&schema, &json!({"region": "eu", "limits": {"n": 3}, "gone": null}));
        let expected = [("mcp-param-Region", "eu"), ("mcp-param-N", "3")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(headers, Ok(expected.to_vec()));
    }

    #[test]
    fn invalid_annotations_are_refused() {
        let property = |schema: Value| json!({"properties": {"a": schema}});
        for schema in [
            property(json!({"type": "number", "x-mcp-header": "A"})),
            property(json!({"type": "string", "x-mcp-header": ""})),
            property(json!({"type": "string", "x-mcp-header": "a b"})),
            property(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})),
            json!({"x-mcp-header": "A"}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}}),
        ] {
            assert!(parameter_headers(&schema, &json!({})).is_err(), "{schema}");
        }
    }
}
