//! A map of a manifest, read key by key. Keys are accepted in both spellings, `input_schema` and `inputSchema`.

use mcprove_model::{Diagnostics, Node};
use serde_json::Value;

/// A map whose keys are known.
#[derive(Clone, Copy)]
pub(super) struct Block<'n> {
    pub(super) node: &'n Node,
    what: &'static str,
}

impl<'n> Block<'n> {
    /// Opens a map; other values and unknown keys are reported. `known` is in snake case.
    pub(super) fn open(
        node: &'n Node,
        what: &'static str,
        known: &[&str],
        found: &mut Diagnostics<'_>,
    ) -> Option<Self> {
        let entries = found.map(node, what)?;
        for (at, entry) in entries.iter().enumerate() {
            let name = snake(&entry.key.text);
            if !known.contains(&name.as_str()) {
                found.unknown_key(&entry.key, what, known);
            } else if entries[..at].iter().any(|earlier| snake(&earlier.key.text) == name) {
                let message = format!("`{}` is given twice in {what}, in two spellings", entry.key.text);
                found.error_with_help("duplicate-key", entry.key.span, message, "keep one of them");
            }
        }
        Some(Self { node, what })
    }

    /// The value under a key; null counts as absent.
    pub(super) fn get(&self, name: &str) -> Option<&'n Node> {
        let entries = self.node.as_map().unwrap_or_default();
        entries.iter().find(|entry| snake(&entry.key.text) == name).map(|entry| &entry.value).filter(|v| !v.is_null())
    }

    /// A key as it was written.
    fn written(&self, name: &str) -> String {
        let entries = self.node.as_map().unwrap_or_default();
        let key = entries.iter().map(|entry| entry.key.text.as_str()).find(|key| snake(key) == name);
        format!("`{}`", key.unwrap_or(name))
    }

    pub(super) fn text(&self, name: &str, found: &mut Diagnostics<'_>) -> Option<String> {
        found.text(self.get(name)?, &self.written(name)).map(str::to_owned)
    }

    pub(super) fn required_text(&self, name: &str, found: &mut Diagnostics<'_>) -> Option<String> {
        if self.get(name).is_none() {
            found.error_with_help(
                "missing-key",
                self.node.span,
                format!("{} has no `{name}`", self.what),
                format!("add `{name}:`"),
            );
        }
        self.text(name, found)
    }

    pub(super) fn count(&self, name: &str, found: &mut Diagnostics<'_>) -> Option<u64> {
        found.count_of(self.get(name)?, &self.written(name))
    }

    pub(super) fn flag(&self, name: &str, found: &mut Diagnostics<'_>) -> bool {
        self.get(name).and_then(|node| found.boolean(node, &self.written(name))).unwrap_or_default()
    }

    pub(super) fn object(&self, name: &str, found: &mut Diagnostics<'_>) -> Option<Value> {
        let node = self.get(name)?;
        found.map(node, &self.written(name))?;
        Some(node.to_json())
    }

    pub(super) fn list(&self, name: &str, found: &mut Diagnostics<'_>) -> &'n [Node] {
        self.get(name).map(|node| found.list(node, &self.written(name))).unwrap_or_default()
    }

    /// Copies keys as they are into what a list shows, under their names on the wire.
    pub(super) fn copy_into(&self, entry: &mut Value, names: &[&str]) {
        for name in names {
            if let Some(node) = self.get(name) {
                entry[camel(name)] = node.to_json();
            }
        }
    }
}

/// `inputSchema` as `input_schema`.
fn snake(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 2);
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// `input_schema` as `inputSchema`; a leading underscore stays.
pub(super) fn camel(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    let mut raise = false;
    for (at, c) in name.chars().enumerate() {
        if c == '_' && at > 0 {
            raise = true;
        } else {
            key.push(if raise { c.to_ascii_uppercase() } else { c });
            raise = false;
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_mean_the_same() {
        for (one, other) in [("inputSchema", "input_schema"), ("_meta", "_meta"), ("name", "name")] {
            assert_eq!((snake(one).as_str(), camel(other).as_str()), (other, one));
        }
    }
}
