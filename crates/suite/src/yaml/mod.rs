//! YAML as a spanned tree: every scalar, key, list and map knows the bytes it was written with.

mod builder;
mod extent;
mod fast_path;
mod merge;
mod offsets;
mod scalar;
mod syntax_error;
mod write;

use mcprove_model::{Diagnostics, Finding, Node, SourceFile, Span};

pub use write::write;

/// The longest line: what a person writes is shorter, and a key or value of megabytes costs a hundred times its length.
const LONGEST_LINE: usize = 4 << 20;

/// Parses a file: one node for each document, and what is wrong with the text.
///
/// A syntax error ends the parsing; documents before it are kept.
pub fn parse(source: &SourceFile) -> (Vec<Node>, Vec<Finding>) {
    if let Some(finding) = too_long(source) {
        return (Vec::new(), vec![finding]);
    }
    match fast_path::read(source.text()) {
        Some(document) => {
            let read = (vec![document], Vec::new());
            debug_assert_eq!(read, builder::build(source), "both readers read {} alike", source.path());
            read
        }
        None => builder::build(source),
    }
}

/// The finding about a line that is too long to be read.
fn too_long(source: &SourceFile) -> Option<Finding> {
    let text = source.text();
    if text.len() <= LONGEST_LINE {
        return None;
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.len() > LONGEST_LINE {
            let mut found = Diagnostics::new(source);
            let message = format!("a line of the file is longer than {} MiB", LONGEST_LINE >> 20);
            found.error_with_help("too-large", Span::new(start, start), message, "write a long value in several lines");
            return found.into_findings().pop();
        }
        start += line.len();
    }
    None
}
