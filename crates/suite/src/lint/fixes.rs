//! Changes to the text of a suite that fix a finding without changing anything else.

use mcprove_model::{Edit, Entry, Fix, Node, SourceFile, Span};

/// Removes an entry that has lines of its own in a map with others.
pub(super) fn remove_entry(source: &SourceFile, entry: &Entry, map: &Node) -> Option<Fix> {
    if map.as_map().is_none_or(|entries| entries.len() < 2) {
        return None;
    }
    let text = source.text();
    let (start, end) = (entry.key.span.start as usize, entry.value.span.end.max(entry.key.span.end) as usize);
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let next = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let is_alone = text[line..start].trim().is_empty() && text[end..next].trim().is_empty();
    let title = format!("remove `{}`", entry.key.text);
    is_alone.then(|| Fix { title, edits: vec![edit(Span::new(line, next), "")] })
}

/// Writes another value.
pub(super) fn replace(title: &str, node: &Node, text: &str) -> Fix {
    Fix { title: title.to_owned(), edits: vec![edit(node.span, text)] }
}

fn edit(span: Span, text: &str) -> Edit {
    Edit { start: span.start, end: span.end, text: text.to_owned() }
}
