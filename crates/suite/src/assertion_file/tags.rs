//! `tags`: words that tests are chosen by.

use mcprove_model::{Diagnostics, Node};
use serde_json::{Value, json};

use crate::schema::fragment;

/// Decodes one tag, or several.
pub(crate) fn decode(test: &Node, found: &mut Diagnostics<'_>) -> Vec<String> {
    let Some(node) = test.get("tags").filter(|tags| !tags.is_null()) else { return Vec::new() };
    let tags = found.one_or_many(node).iter();
    tags.filter_map(|tag| found.text(tag, "a tag")).map(str::to_owned).collect()
}

/// The JSON Schema of `tags`.
pub(crate) fn schema() -> Value {
    json!({
        "anyOf": [fragment::text("One tag."), fragment::texts("Several tags.")],
        "description": "Tags to select it by.",
    })
}
