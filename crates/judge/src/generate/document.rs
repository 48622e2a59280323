//! A schema as a document: what its references mean.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;

/// A whole schema, in which references are looked up.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    root: &'a Value,
    /// Up to draft 7, keywords next to `$ref` are ignored.
    lonely_references: bool,
    named: OnceCell<Vec<(&'a str, &'a Value)>>,
}

impl<'a> Document<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        let draft = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        Self { root, lonely_references: draft.contains("/draft-0"), named: OnceCell::new() }
    }

    pub(crate) fn root(&self) -> &'a Value {
        self.root
    }

    /// True if `format` is checked rather than a remark: up to draft 7.
    pub(crate) fn asserts_formats(&self) -> bool {
        self.lonely_references
    }

    /// True if keywords next to `$ref` are ignored.
    pub(crate) fn has_lonely_references(&self) -> bool {
        self.lonely_references
    }

    /// The schema a schema refers to, if it refers to one that can be found.
    pub(crate) fn referred(&self, schema: &'a Value) -> Option<&'a Value> {
        let keyword = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter().find_map(|keyword| schema.get(keyword))?;
        self.resolve(keyword.as_str()?)
    }

    fn resolve(&self, reference: &'a str) -> Option<&'a Value> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if address.is_empty() { self.root } else { self.by_name(address)? };
        if fragment.is_empty() {
            return Some(base);
        }
        let fragment = percent_decoded(fragment);
        if fragment.starts_with('/') { base.pointer(&fragment) } else { self.by_name(&fragment) }
    }

    /// The schema that calls itself by a name: an anchor, or the end of an identifier.
    fn by_name(&self, name: &str) -> Option<&'a Value> {
        let named = self.named.get_or_init(|| names_in(self.root));
        let wanted = name.trim_start_matches("./");
        // Sorted, so that ten thousand names are not searched ten thousand times.
        let of_name = |name: &str| {
            let at = named.partition_point(|(known, _)| *known < name);
            named.get(at).filter(|(known, _)| *known == name)
        };
        let exact = of_name(wanted).or_else(|| of_name(&format!("#{wanted}")));
        exact.or_else(|| named.iter().find(|(known, _)| known.ends_with(wanted))).map(|(_, schema)| *schema)
    }
}

fn names_in(root: &Value) -> Vec<(&str, &Value)> {
    let mut named = Vec::new();
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(map) => {
                let names = ["$anchor", "$dynamicAnchor", "$id", "id"].into_iter();
                named.extend(names.filter_map(|keyword| Some((map.get(keyword)?.as_str()?, value))));
                open.extend(map.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    // The walk's order depends on the order of keys; names do not.
    named.sort_by_key(|(name, _)| *name);
    named
}

fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        if let Some(value) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            decoded.push(value);
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_of_every_form_are_found() {
        let schema = json!({
            "$defs": {
                "a/b c": {"const": 1},
                "named": {"$anchor": "here", "const": 2},
                "own": {"$id": "https://example.com/own.json", "const": 3, "$defs": {"in": {"const": 4}}},
                "old": {"$id": "#old", "const": 5}
            }
        });
        let document = Document::new(&schema);
        for (reference, expected) in [
            ("#/$defs/a~1b%20c", 1),
            ("#here", 2),
            ("own.json", 3),
            ("https://example.com/own.json", 3),
            ("own.json#/$defs/in", 4),
            ("#old", 5),
        ] {
            let found = document.resolve(reference).and_then(|found| found["const"].as_i64());
            assert_eq!(found, Some(expected), "{reference}");
        }
        assert_eq!(document.resolve("#"), Some(&schema));
        for unknown in ["#/nowhere", "#nobody", "other.json"] {
            assert_eq!(document.resolve(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn old_drafts_ignore_what_stands_beside_a_reference() {
        assert!(Document::new(&json!({"$schema": "http://json-schema.org/draft-07/schema#"})).has_lonely_references());
        let newer = json!({"$schema": "https://json-schema.org/draft/2020-12/schema"});
        assert!(!Document::new(&newer).has_lonely_references());
    }
}
