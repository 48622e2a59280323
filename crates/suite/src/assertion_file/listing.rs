//! `list`: every page, or the one at a cursor.

use mcprove_model::{Diagnostics, Entry, Node};

use super::block;
use super::templates::Scope;

/// The cursor of a request for a list; the key alone asks for all pages.
pub(crate) fn cursor(entry: &Entry, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<Node> {
    let node = &entry.value;
    if node.is_null() || node.as_bool() == Some(true) {
        return None;
    }
    let what = format!("`{}`", entry.key.text);
    if node.as_map().is_none() {
        found.wrong_kind(node, &what, "a map with a `cursor`, or nothing");
        return None;
    }
    found.known_keys(node, &what, &["cursor"]);
    let cursor = block::text(node, "cursor", found);
    if let Some(cursor) = &cursor {
        scope.check(cursor, found);
    }
    cursor
}
