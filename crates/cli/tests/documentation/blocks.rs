//! Fenced blocks of Markdown pages.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// A page of the documentation.
pub(crate) struct Page {
    /// Its path below the root of the repository.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Block>,
}

/// A fenced block.
pub(crate) struct Block {
    /// The line its fence is on, from 1.
    pub(crate) line: usize,
    /// The words after the fence: a language and marks.
    pub(crate) marks: Vec<String>,
    pub(crate) text: String,
    /// Where the text is in the page.
    pub(crate) range: Range<usize>,
}

impl Block {
    pub(crate) fn language(&self) -> &str {
        self.marks.first().map_or("", String::as_str)
    }

    pub(crate) fn has(&self, mark: &str) -> bool {
        self.marks.iter().skip(1).any(|own| own == mark)
    }

    /// The value of a mark `name=value`.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.marks.iter().find_map(|mark| mark.strip_prefix(name)?.strip_prefix('='))
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root")
}

/// Every page that people read: the README, the book, and what stands beside the examples.
pub(crate) fn pages() -> Vec<Page> {
    let root = root();
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md"), root.join("ARCHITECTURE.md")];
    for folder in ["docs", "examples"] {
        markdown_below(&root.join(folder), &mut files);
    }
    files.sort();
    files.iter().map(|file| page(&root, file)).collect()
}

fn markdown_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            markdown_below(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
}

fn page(root: &Path, file: &Path) -> Page {
    let text = std::fs::read_to_string(file).expect("readable");
    let path = file.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
    let blocks = blocks(&text);
    Page { path, text, blocks }
}

/// The blocks of a page; a fence is three backticks at the beginning of a line, perhaps indented.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, Vec<String>, usize)> = None;
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let fence = line.trim().strip_prefix("```");
        match (fence, open.take()) {
            (Some(info), None) => {
                let marks = info.split_whitespace().map(str::to_owned).collect();
                open = Some((index + 1, marks, at + line.len()));
            }
            (Some(""), Some((line, marks, start))) => {
                blocks.push(Block { line, marks, text: text[start..at].to_owned(), range: start..at });
            }
            (_, was) => open = was,
        }
        at += line.len();
    }
    assert!(open.is_none(), "a block is never closed");
    blocks
}
