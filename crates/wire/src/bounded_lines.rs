//! Lines of a peer that may never end one: no more of a line than the limit is kept at a time.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Reads lines, and longer ones in pieces.
#[derive(Debug)]
pub struct BoundedLines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    /// True inside of a line of which a piece was read.
    is_in_pieces: bool,
}

/// A line, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinePart {
    /// A whole line with its line break; the last one may have none.
    Line(Vec<u8>),
    /// A piece of a line over the limit.
    Piece {
        /// Its bytes; the last ones have the line break.
        bytes: Vec<u8>,
        /// True if the line ends with it.
        is_last: bool,
    },
}

impl<R: AsyncRead + Unpin> BoundedLines<R> {
    /// Lines of up to `limit` bytes.
    pub fn new(reader: R, limit: usize) -> Self {
        Self { reader: BufReader::new(reader), line: Vec::new(), limit, is_in_pieces: false }
    }

    /// The next line or piece; nothing at the end, and once reading fails. Safe to cancel: nothing is lost.
    pub async fn next(&mut self) -> Option<LinePart> {
        loop {
            let Ok(bytes) = self.reader.fill_buf().await else { return self.rest() };
            if bytes.is_empty() {
                return self.rest();
            }
            let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
            let room = self.limit.saturating_sub(self.line.len()).max(1);
            let count = end.unwrap_or(bytes.len()).min(room);
            self.line.extend_from_slice(&bytes[..count]);
            self.reader.consume(count);
            let is_last = end == Some(count);
            if is_last || self.line.len() >= self.limit {
                return Some(self.take(is_last));
            }
        }
    }

    /// The rest, which has no line break.
    fn rest(&mut self) -> Option<LinePart> {
        (!self.line.is_empty()).then(|| self.take(true))
    }

    fn take(&mut self, is_last: bool) -> LinePart {
        let bytes = std::mem::take(&mut self.line);
        let was_in_pieces = std::mem::replace(&mut self.is_in_pieces, !is_last);
        if is_last && !was_in_pieces { LinePart::Line(bytes) } else { LinePart::Piece { bytes, is_last } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(said: &[u8], limit: usize) -> Vec<LinePart> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut lines = BoundedLines::new(said, limit);
            let mut parts = Vec::new();
            while let Some(part) = lines.next().await {
                parts.push(part);
            }
            parts
        })
    }

    #[test]
    fn a_line_over_the_limit_comes_in_pieces() {
        let line = |text: &str| LinePart::Line(text.into());
        let piece = |text: &str, is_last| LinePart::Piece { bytes: text.into(), is_last };
        let expected = [
            line("ab\n"),
            piece("cdef", false),
            piece("gh\n", true),
            line("i\n"),
            piece("jklm", false),
            piece("n", true),
        ];
        assert_eq!(parts(b"ab\ncdefgh\ni\njklmn", 4), expected);
        assert_eq!(parts(b"abc\nabcd\n", 4), [line("abc\n"), piece("abcd", false), piece("\n", true)]);
        assert_eq!(parts(b"abcd", 4), [piece("abcd", false)]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_long(said in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200), limit in 1usize..20) {
            let mut all = Vec::new();
            for part in parts(&said, limit) {
                let (LinePart::Line(bytes) | LinePart::Piece { bytes, .. }) = part;
                prop_assert!(bytes.len() <= limit);
                all.extend(bytes);
            }
            prop_assert_eq!(all, said);
        }
    }
}
