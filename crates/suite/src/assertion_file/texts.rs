//! Lists and maps of text, where other scalars are taken as they were written.

use mcprove_model::{Diagnostics, Entry, Node, nearest};

/// A list of texts: `[1, true]` are the words `1` and `true`.
pub(super) fn list(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Vec<String> {
    if node.is_null() {
        return Vec::new();
    }
    let item_of = format!("an item of {what}");
    let items = found.list(node, what);
    items.iter().filter_map(|item| found.text(item, &item_of)).map(str::to_owned).collect()
}

/// A map of texts with the value's node; a value that was left out is an empty text.
pub(super) fn map<'n>(node: &'n Node, what: &str, found: &mut Diagnostics<'_>) -> Vec<(&'n Entry, &'n str)> {
    if node.is_null() {
        return Vec::new();
    }
    let entries = found.map(node, what).unwrap_or_default();
    let mut texts = Vec::with_capacity(entries.len());
    for entry in entries {
        if entry.value.is_null() {
            texts.push((entry, ""));
        } else if let Some(text) = found.text(&entry.value, &format!("`{}` of {what}", entry.key.text)) {
            texts.push((entry, text));
        }
    }
    texts
}

/// Whether a missing key is there under a wrong name: the finding about that name says what to do.
pub(super) fn is_misspelt(entries: &[Entry], missing: &str, known: &[&str]) -> bool {
    entries
        .iter()
        .map(|entry| entry.key.text.as_str())
        .any(|key| !known.contains(&key) && nearest(key, known.iter().copied()) == Some(missing))
}

/// A text that may be left out.
pub(super) fn optional<'n>(node: &'n Node, key: &str, found: &mut Diagnostics<'_>) -> Option<&'n str> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    found.text(value, &format!("`{key}`"))
}
