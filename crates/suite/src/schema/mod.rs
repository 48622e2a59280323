//! The JSON Schema of both file kinds, put together from the fragments that blocks, checks and matchers carry.
//!
//! Editors use it for completion and hover: `# yaml-language-server: $schema=…/suite.json`.

pub(crate) mod fragment;

use serde_json::{Map, Value, json};

use crate::{assertion_file, scenario_file, suite_file};

/// The folder of the published schemas.
pub const PUBLISHED: &str = "https://raw.githubusercontent.com/mcprove/mcprove/main/schema";

/// The dialect that schemas are written in.
pub const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A file kind and its schema.
pub struct FileKind {
    /// Its name, which is also that of the schema's file.
    pub name: &'static str,
    /// Description of the file kind.
    pub summary: &'static str,
    schema: fn() -> Value,
}

/// Both file kinds.
pub const KINDS: &[FileKind] = &[
    FileKind { name: "assertion", summary: "one test in one document", schema: assertion_file::schema },
    FileKind { name: "suite", summary: "servers by name, and lists of tests", schema: suite_file::schema },
];

/// Scenarios of `mcprove host`.
pub const SCENARIO: FileKind = FileKind {
    name: "scenario",
    summary: "bad servers, and what is expected of a client",
    schema: scenario_file::schema,
};

/// The first line of a written file: editors complete and check what follows. `kind` is the name of a file kind.
pub fn editor_line(kind: &str) -> String {
    format!("# yaml-language-server: $schema={PUBLISHED}/{kind}.json\n")
}

/// The schema of a file kind.
pub fn schema(kind: &FileKind) -> Value {
    let mut definitions = Map::new();
    definitions.insert(
        "reference".to_owned(),
        json!({
            "type": "string",
            "pattern": r"\{\{.+\}\}|\$\{.+\}",
            "description": "A value that is known later: `{{name}}`, or `${NAME}` in a suite file.",
        }),
    );
    let body = shared((kind.schema)(), &mut definitions);
    let Value::Object(body) = body else { return body };
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), DRAFT.into());
    schema.insert("$id".to_owned(), format!("{PUBLISHED}/{}.json", kind.name).into());
    schema.insert("title".to_owned(), format!("mcprove {} file", kind.name).into());
    schema.extend(body);
    definitions.sort_keys();
    schema.insert("$defs".to_owned(), definitions.into());
    schema.into()
}

/// The schema as it is written to a file.
pub fn text(kind: &FileKind) -> String {
    let mut text = serde_json::to_string_pretty(&schema(kind)).unwrap_or_default();
    text.push('\n');
    text
}

/// A schema for either kind of file, as it is written to a file.
pub fn either() -> String {
    let mut definitions = Map::new();
    let mut choices = Vec::new();
    for kind in KINDS {
        let Value::Object(mut schema) = schema(kind) else { continue };
        schema.shift_remove("$schema");
        // References are to the definitions of the whole.
        schema.shift_remove("$id");
        // What both kinds have is made from the same fragments, so its definitions are the same.
        if let Some(Value::Object(own)) = schema.shift_remove("$defs") {
            definitions.extend(own);
        }
        choices.push(Value::Object(schema));
    }
    definitions.sort_keys();
    let schema = json!({
        "$schema": DRAFT,
        "$id": format!("{PUBLISHED}/mcprove.json"),
        "title": "mcprove file",
        "anyOf": choices,
        "$defs": definitions,
    });
    format!("{schema:#}\n")
}

/// Allows references where a value of another type is wanted, and moves repeated schemas into definitions.
fn shared(schema: Value, definitions: &mut Map<String, Value>) -> Value {
    let Value::Object(mut map) = schema else { return schema };
    let Some(name) = repeated(&mut map) else { return inside(map, definitions) };
    let description = map.shift_remove("description");
    if !definitions.contains_key(&name) {
        let body = if map.is_empty() { fragment::definition(&name) } else { Value::Object(map) };
        let Value::Object(body) = body else { return body };
        let body = inside(body, definitions);
        definitions.insert(name.clone(), body);
    }
    let mut reference = json!({"$ref": format!("#/$defs/{name}")});
    if let Some(description) = description {
        reference["description"] = description;
    }
    reference
}

fn inside(map: Map<String, Value>, definitions: &mut Map<String, Value>) -> Value {
    let mut made = Map::new();
    for (key, value) in map {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.into_iter().map(|(name, value)| (name, shared(value, definitions))).collect()
            }
            ("anyOf" | "oneOf", Value::Array(choices)) => {
                choices.into_iter().map(|choice| shared(choice, definitions)).collect()
            }
            ("items" | "additionalProperties", value) => shared(value, definitions),
            (_, value) => value,
        };
        made.insert(key, value);
    }
    or_reference(made)
}

/// The definition name of a schema that is used in many places.
fn repeated(map: &mut Map<String, Value>) -> Option<String> {
    if let Some(Value::String(name)) = map.shift_remove(fragment::DEFINITION) {
        return Some(name);
    }
    if map.get("required") == Some(&json!(["target", "matcher"])) {
        return Some("assertion".to_owned());
    }
    let first = map.get("oneOf").and_then(|choices| choices.get(0));
    first.and_then(|choice| choice.pointer("/properties/allOf")).map(|_| "matcher".to_owned())
}

/// A number or a flag may also be a reference to one.
fn or_reference(mut schema: Map<String, Value>) -> Value {
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => return schema.into(),
    };
    let is_value = |name: &&str| matches!(*name, "boolean" | "integer" | "number");
    if !types.iter().any(is_value) || types.iter().any(|name| matches!(*name, "string" | "object" | "array")) {
        return schema.into();
    }
    let description = schema.remove("description");
    let mut either = json!({"anyOf": [schema, {"$ref": "#/$defs/reference"}]});
    if let Some(description) = description {
        either["description"] = description;
    }
    either
}
