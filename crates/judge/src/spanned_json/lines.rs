//! Lines and columns of byte offsets, also in a text that is one line of ten megabytes.

use mcprove_model::{Position, Span};
use memchr::{memchr_iter, memrchr};

/// Bytes between two remembered positions.
const STEP: usize = 512;

/// Remembers the position of every few hundred bytes, so that none is counted from the start of a long line.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Line and column, both from 1, of every [`STEP`]th byte.
    marks: Vec<Position>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let mut position = Position { line: 1, column: 1 };
        let mut marks = Vec::with_capacity(text.len() / STEP + 1);
        for chunk in text.as_bytes().chunks(STEP) {
            marks.push(position);
            position = after(position, chunk);
        }
        Self { marks }
    }

    /// The position of a byte of the text this was made from.
    pub(crate) fn position(&self, text: &str, offset: u32) -> Position {
        let offset = (offset as usize).min(text.len());
        let index = (offset / STEP).min(self.marks.len().saturating_sub(1));
        let Some(mark) = self.marks.get(index) else { return Position { line: 1, column: 1 } };
        after(*mark, &text.as_bytes()[index * STEP..offset])
    }

    /// The line around a byte, without its line break; `None` when it is longer than `limit` bytes.
    pub(crate) fn line(text: &str, offset: u32, limit: usize) -> Option<&str> {
        let offset = (offset as usize).min(text.len());
        let bytes = text.as_bytes();
        let head = &bytes[offset.saturating_sub(limit)..offset];
        let start = match head.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => offset - (head.len() - at - 1),
            None if head.len() == offset => 0,
            None => return None,
        };
        let tail = &bytes[offset..text.len().min(start + limit)];
        let end = match tail.iter().position(|byte| *byte == b'\n') {
            Some(at) => offset + at,
            None if offset + tail.len() == text.len() => text.len(),
            None => return None,
        };
        text.get(start..end).map(|line| line.trim_end_matches('\r'))
    }
}

/// The position after some bytes; what continues a character takes no column.
fn after(from: Position, bytes: &[u8]) -> Position {
    let begins = |byte: &&u8| **byte & 0xc0 != 0x80;
    let count = |bytes: &[u8]| Span::new(bytes.iter().filter(begins).count(), 0).start;
    match memrchr(b'\n', bytes) {
        None => Position { line: from.line, column: from.column + count(bytes) },
        Some(last) => {
            let lines = memchr_iter(b'\n', bytes).count();
            Position { line: from.line + Span::new(lines, 0).start, column: 1 + count(&bytes[last + 1..]) }
        }
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::SourceFile;

    use super::*;

    #[test]
    fn positions_are_those_of_a_source_file() {
        for unit in ["ab\n", "äö😀", "\r\n", "x"] {
            let text = unit.repeat(3000);
            let (lines, source) = (Lines::new(&text), SourceFile::new("a.json", text.clone()));
            let offsets = (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(97).chain([text.len()]);
            for offset in offsets.map(|at| Span::new(at, 0).start) {
                assert_eq!(lines.position(&text, offset), source.position(offset), "{unit:?} at {offset}");
            }
        }
        assert_eq!(Lines::new("").position("", 0), Position { line: 1, column: 1 });
    }

    #[test]
    fn a_line_is_quoted_unless_it_is_long() {
        let text = "one\r\ntwo\n\nfour";
        for (offset, line) in [(0, "one"), (4, "one"), (5, "two"), (8, "two"), (9, ""), (10, "four"), (14, "four")] {
            assert_eq!(Lines::line(text, offset, 100), Some(line), "{offset}");
        }
        let long = "x".repeat(500);
        for offset in [0, 10, 499] {
            assert_eq!(Lines::line(&long, offset, 100), None);
        }
        assert_eq!(Lines::line(&long, 10, 500), Some(&*long));
    }
}
