//! Authored text and places in it.

use crate::TextPlace;

/// A range of bytes in a [`SourceFile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// A span from two byte offsets; offsets past 4 GiB are clamped.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The smallest span that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A line and column as people count them, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// One authored file: its path as the user named it, and its text.
#[derive(Debug)]
pub struct SourceFile {
    path: String,
    text: String,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// Takes over a text and indexes its lines.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut line_starts = vec![0];
        line_starts.extend(text.match_indices('\n').map(|(at, _)| Span::new(at + 1, 0).start));
        Self { path: path.into(), text, line_starts }
    }

    /// The path as the user named it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text a span covers (empty when the span does not fit).
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Position of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let index = self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.line_starts[index];
        let column = self.text.get(start as usize..offset as usize).map_or(0, |head| head.chars().count());
        Position { line: Span::new(index + 1, 0).start, column: Span::new(column + 1, 0).start }
    }

    /// The text of a line (from 1), without its line break.
    pub fn line(&self, line: u32) -> &str {
        let index = line.saturating_sub(1) as usize;
        let Some(start) = self.line_starts.get(index) else { return "" };
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |next| *next as usize);
        self.text.get(*start as usize..end).unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    /// A place that can be shown without this file at hand: it quotes its line.
    pub fn place(&self, span: Span) -> TextPlace {
        let from = self.position(span.start);
        let to = self.position(span.end.max(span.start));
        TextPlace {
            file: self.path.clone(),
            line: from.line,
            column: from.column,
            end_line: to.line,
            end_column: to.column,
            excerpt: beginning(self.line(from.line)).to_owned(),
        }
    }
}

/// Length of a quoted line in bytes: a file may be one line, and each of its mistakes quotes it.
const LONGEST_EXCERPT: usize = 4_000;

fn beginning(line: &str) -> &str {
    &line[..line.floor_char_boundary(LONGEST_EXCERPT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_and_lines_from_one() {
        let file = SourceFile::new("a.yaml", "näme: x\nb: y\r\n");
        assert_eq!(file.position(0), Position { line: 1, column: 1 });
        assert_eq!(file.position(7), Position { line: 1, column: 7 });
        assert_eq!(file.position(9), Position { line: 2, column: 1 });
        assert_eq!(file.line(2), "b: y");
        assert_eq!(file.line(9), "");
    }

    #[test]
    fn a_place_quotes_its_line() {
        let file = SourceFile::new("a.yaml", "one\ntwo three\n");
        let place = file.place(Span::new(8, 13));
        assert_eq!((place.line, place.column, place.end_column), (2, 5, 10));
        assert_eq!(place.excerpt, "two three");
    }

    #[test]
    fn of_a_long_line_the_beginning_is_quoted() {
        let file = SourceFile::new("a.yaml", "é".repeat(1 << 20));
        let place = file.place(Span::new(1 << 20, 1 << 20));
        assert_eq!((place.column, place.excerpt.len()), ((1 << 19) + 1, LONGEST_EXCERPT));
    }
}
