//! The program's own text.

use std::fs;
use std::path::{Path, PathBuf};

/// Every source file of every room.
pub(crate) fn sources() -> Vec<PathBuf> {
    let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/");
    let mut open: Vec<PathBuf> =
        fs::read_dir(rooms).expect("rooms").map(|entry| entry.expect("a room").path().join("src")).collect();
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The product lines of a file: everything but the items that are marked `#[cfg(test)]`, wherever they are.
pub(crate) fn product_lines(text: &str) -> String {
    let mut product = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            product.push_str(line);
            product.push('\n');
            continue;
        }
        // Formatted code ends an item at the indentation it began with.
        let indent = &line[..line.len() - line.trim_start().len()];
        let Some(head) = lines.by_ref().find(|line| !line.trim_start().starts_with("#[")) else { break };
        if head.ends_with('{') {
            let end = format!("{indent}}}");
            lines.by_ref().find(|line| **line == end);
        }
    }
    product
}
