//! Lists and maps of text, where other scalars are taken as they were written.

use mcprove_model::{Diagnostics, Entry, Kind, Node, Scalar, nearest};

/// A list of texts: `[1, true]` are the texts `1` and `true`.
pub(crate) fn list(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Vec<String> {
    if node.is_null() {
        return Vec::new();
    }
    let item_of = format!("an item of {what}");
    let items = found.list(node, what);
    items.iter().filter_map(|item| found.text(item, &item_of)).map(str::to_owned).collect()
}

/// A map of texts with the value's node; a value that was left out is an empty text.
pub(crate) fn map<'n>(node: &'n Node, what: &str, found: &mut Diagnostics<'_>) -> Vec<(&'n Entry, &'n str)> {
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

/// A text as the protocol wants it: other scalars become the text they were written as, nothing an empty one.
pub(crate) fn as_text(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<Node> {
    if node.is_null() {
        return Some(Node::text_at(node.span, ""));
    }
    let text = found.text(node, what)?;
    let is_text = node.as_scalar().is_some_and(Scalar::is_text);
    Some(if is_text { node.clone() } else { Node::text_at(node.span, text) })
}

/// The map under a key with all its values as texts; a map that was left out is empty.
pub(crate) fn as_texts(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Node {
    let Some(texts) = node.get(key).filter(|texts| !texts.is_null()) else { return Node::empty_map(node.span) };
    let mut entries = Vec::new();
    for entry in found.map(texts, &format!("`{key}`")).unwrap_or_default() {
        let what = format!("`{}` of `{key}`", entry.key.text);
        let value = as_text(&entry.value, &what, found);
        entries.extend(value.map(|value| Entry { key: entry.key.clone(), value }));
    }
    Node { span: texts.span, kind: Kind::Map(entries) }
}

/// True if a missing key is there under a wrong name: the finding about that name says what to do.
pub(crate) fn is_misspelt(entries: &[Entry], missing: &str, known: &[&str]) -> bool {
    entries
        .iter()
        .map(|entry| entry.key.text.as_str())
        .any(|key| !known.contains(&key) && nearest(key, known.iter().copied()) == Some(missing))
}

/// A text that may be left out.
pub(crate) fn optional<'n>(node: &'n Node, key: &str, found: &mut Diagnostics<'_>) -> Option<&'n str> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    found.text(value, &format!("`{key}`"))
}
