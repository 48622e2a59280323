//! `imports`: other files whose keys and tests are added to those of a suite file.

use mcprove_model::{Diagnostics, Node, Span};

/// The paths a document imports, each with its place.
pub fn imports(document: &Node, found: &mut Diagnostics<'_>) -> Vec<(String, Span)> {
    let Some(list) = document.get("imports").filter(|list| !list.is_null()) else { return Vec::new() };
    let items = found.list(list, "`imports`").iter();
    items.filter_map(|item| Some((found.text(item, "a path of `imports`")?.to_owned(), item.span))).collect()
}
