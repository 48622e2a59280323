//! Misspelt keywords of a schema: a schema ignores what it does not know, so a typo accepts everything.

use mcprove_model::{Diagnostics, Entry, Node, nearest};

/// Keywords that a value can fail, of all drafts, and those that lead to others.
const ASKING: &[&str] = &[
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "disallow",
    "divisibleBy",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "extends",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];
/// Keywords that describe, identify or hold other schemas, and annotations that people add.
const OTHERS: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$id",
    "$recursiveAnchor",
    "$schema",
    "$vocabulary",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "discriminator",
    "enumNames",
    "example",
    "examples",
    "externalDocs",
    "id",
    "nullable",
    "readOnly",
    "title",
    "writeOnly",
    "xml",
];
/// Keywords this short are near too many words.
const SHORTEST: usize = 4;

/// Reports misspelt keywords of a schema: an error where nothing else asks for anything, else a warning.
pub(super) fn report(node: &Node, found: &mut Diagnostics<'_>) {
    let Some(entries) = node.as_map().filter(|entries| !entries.is_empty()) else { return };
    let asks = entries.iter().any(|entry| ASKING.contains(&entry.key.text.as_str()));
    let mut is_reported = false;
    for (entry, near) in entries.iter().filter_map(|entry| Some((entry, misspelt(entry)?))) {
        let message = format!("`{}` is no keyword of JSON Schema, so it asks for nothing", entry.key.text);
        let help = format!("did you mean `{near}`? an annotation of your own is written `x-{}`", entry.key.text);
        if asks {
            found.warning("unknown-keyword", entry.key.span, message, Some(help));
        } else {
            found.error_with_help("bad-schema", entry.key.span, message, help);
        }
        is_reported = true;
    }
    if !asks && !is_reported {
        let help = "say what the value must be, for example `{type: object, required: [id]}`".to_owned();
        found.warning("nothing-asked", node.span, "this schema accepts every value", Some(help));
    }
}

/// The keyword that a key most likely was to be.
fn misspelt(entry: &Entry) -> Option<&'static str> {
    let key = entry.key.text.as_str();
    let is_free = key.starts_with("x-") || ASKING.contains(&key) || OTHERS.contains(&key);
    let keywords = ASKING.iter().chain(OTHERS).copied().filter(|keyword| keyword.len() >= SHORTEST);
    // A description that is misspelt costs nothing.
    (!is_free).then(|| nearest(key, keywords))?.filter(|near| ASKING.contains(near))
}

#[cfg(test)]
mod tests {
    use mcprove_model::{Severity, SourceFile, Span};
    use serde_json::{Value, json};

    use super::*;

    fn reported(schema: Value) -> Vec<(Severity, String)> {
        let source = SourceFile::new("t.yaml", "");
        let mut found = Diagnostics::new(&source);
        report(&Node::from_json(Span::default(), schema), &mut found);
        found.into_findings().into_iter().map(|finding| (finding.severity, finding.help.unwrap_or_default())).collect()
    }

    #[test]
    fn misspelt_keywords_are_reported() {
        for (schema, severity, near) in [
            (json!({"typ": "number"}), Severity::Error, "`type`"),
            (json!({"requierd": ["a"], "title": "x"}), Severity::Error, "`required`"),
            (json!({"type": "object", "propertys": {}}), Severity::Warning, "`properties`"),
            (json!({"type": "string", "maxlength": 3}), Severity::Warning, "`maxLength`"),
            (json!({"title": "x"}), Severity::Warning, "say what"),
            (json!({"whatever": 1}), Severity::Warning, "say what"),
        ] {
            let found = reported(schema.clone());
            assert_eq!(found.len(), 1, "{schema}: {found:?}");
            assert!(found[0].0 == severity && found[0].1.contains(near), "{schema}: {found:?}");
        }
    }

    #[test]
    fn annotations_are_not() {
        for schema in [
            json!({"type": "object", "x-typ": 1, "$comment": "c", "title": "t", "descripton": "d"}),
            json!({"enum": [1], "unit": "cm", "note": "n", "id": "i", "example": 1, "name": "n", "label": "l"}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}, "order": 1, "group": "g", "tags": []}),
            json!({"properties": {"typ": {"type": "string"}}, "nullable": true, "options": [], "values": []}),
            json!(true),
            json!({}),
        ] {
            assert_eq!(reported(schema.clone()), [], "{schema}");
        }
    }
}
