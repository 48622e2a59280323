//! `defaults`: the first document of a file gives the others what they do not say themselves.

use mcprove_model::{Diagnostics, Entry, Kind, Node};
use serde_json::{Value, json};

use crate::suite_file::is_suite;

pub(crate) const KEY: &str = "defaults";

/// The keys that may be given to all assertions of a file, sorted.
const KEYS: &[&str] = &[
    "implicit",
    "mask",
    "matrix",
    "redact",
    "server",
    "setup",
    "skip",
    "skip_unless_env",
    "tags",
    "teardown",
    "timeout",
];

/// The documents with the defaults of the first one, which is then left out.
pub(crate) fn apply(mut documents: Vec<Node>, found: &mut Diagnostics<'_>) -> Vec<Node> {
    if documents.len() < 2 || documents[0].get(KEY).is_none() {
        return documents;
    }
    let first = documents.remove(0);
    found.known_keys(&first, "the document of `defaults`", &[KEY]);
    let Some(defaults) = first.get(KEY).filter(|defaults| !defaults.is_null()) else { return documents };
    let defaults: Vec<Entry> = found.known_keys(defaults, "`defaults`", KEYS).to_vec();
    for document in documents.iter_mut().filter(|document| !is_suite(document)) {
        let Kind::Map(entries) = &mut document.kind else { continue };
        for default in defaults.iter().filter(|default| KEYS.contains(&default.key.text.as_str())) {
            if entries.iter().all(|entry| entry.key.text != default.key.text) {
                entries.push(default.clone());
            }
        }
    }
    documents
}

/// The JSON Schema of `defaults`, made of those of the keys.
pub(crate) fn schema(properties: &Value) -> Value {
    let own: serde_json::Map<String, Value> =
        KEYS.iter().filter_map(|key| Some(((*key).to_owned(), properties.get(*key)?.clone()))).collect();
    json!({
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": own,
        "description": "What the other documents of the file do not say themselves; the first document, alone.",
    })
}
