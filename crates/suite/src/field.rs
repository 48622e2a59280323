//! The keys of a map, one row for each: its name, and the JSON Schema of its value. The keys that are known, the schema
//! and, through the schema, the page of keys come from the same rows.

use mcprove_model::{Diagnostics, Entry, Node};
use serde_json::{Map, Value};

use crate::schema::fragment;

/// One key of a map.
pub(crate) struct Field {
    pub(crate) key: &'static str,
    schema: fn() -> Value,
    is_required: bool,
    is_preview: bool,
}

impl Field {
    /// A key that may be left out.
    pub(crate) const fn optional(key: &'static str, schema: fn() -> Value) -> Self {
        Self { key, schema, is_required: false, is_preview: false }
    }

    /// A key that must be there.
    pub(crate) const fn required(key: &'static str, schema: fn() -> Value) -> Self {
        Self { is_required: true, ..Self::optional(key, schema) }
    }

    /// A key whose meaning may still change.
    pub(crate) const fn preview(key: &'static str, schema: fn() -> Value) -> Self {
        Self { is_preview: true, ..Self::optional(key, schema) }
    }
}

/// The names of the keys.
pub(crate) fn keys(fields: impl IntoIterator<Item = &'static Field>) -> Vec<&'static str> {
    fields.into_iter().map(|field| field.key).collect()
}

/// True if there is a key of this name.
pub(crate) fn has(fields: impl IntoIterator<Item = &'static Field>, key: &str) -> bool {
    fields.into_iter().any(|field| field.key == key)
}

/// The entries of a map with these keys; what is not a map, and keys that are not known, are reported.
pub(crate) fn entries<'n>(
    node: &'n Node,
    what: &str,
    fields: &'static [Field],
    found: &mut Diagnostics<'_>,
) -> Option<&'n [Entry]> {
    let entries = found.map(node, what)?;
    found.known_keys(node, what, &keys(fields));
    Some(entries)
}

/// The names of the keys that must be there.
pub(crate) fn required(fields: impl IntoIterator<Item = &'static Field>) -> Vec<&'static str> {
    fields.into_iter().filter(|field| field.is_required).map(|field| field.key).collect()
}

/// The JSON Schema of each key.
pub(crate) fn properties(fields: impl IntoIterator<Item = &'static Field>) -> Map<String, Value> {
    let property = |field: &Field| {
        let mut schema = (field.schema)();
        if field.is_preview {
            schema["x-mcprove-status"] = "preview".into();
        }
        (field.key.to_owned(), schema)
    };
    fields.into_iter().map(property).collect()
}

/// The JSON Schema of the map.
pub(crate) fn map(description: &str, fields: &'static [Field]) -> Value {
    fragment::map(description, Value::Object(properties(fields)), &required(fields))
}
