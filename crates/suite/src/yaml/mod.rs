//! YAML as a spanned tree: every scalar, key, list and map knows the bytes it was written with.

mod builder;
mod extent;
mod fast_path;
mod merge;
mod offsets;
mod scalar;
mod syntax_error;
mod write;

use mcprove_model::{Finding, Node, SourceFile};

pub use write::write;

/// Parses a file: one node for each document, and what is wrong with the text.
///
/// A syntax error ends the parsing; documents before it are kept.
pub fn parse(source: &SourceFile) -> (Vec<Node>, Vec<Finding>) {
    match fast_path::read(source.text()) {
        Some(document) => {
            let read = (vec![document], Vec::new());
            debug_assert_eq!(read, builder::build(source), "both readers read {} alike", source.path());
            read
        }
        None => builder::build(source),
    }
}
