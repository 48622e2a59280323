//! Bytes → lines, for the one who listens.

use bytes::{Bytes, BytesMut};

/// Cuts a stream into lines. A line over the limit is truncated to it.
#[derive(Debug)]
pub(super) struct LineCutter {
    line: BytesMut,
    limit: usize,
}

impl LineCutter {
    pub(super) fn new(limit: usize) -> Self {
        Self { line: BytesMut::new(), limit }
    }

    /// Takes a chunk and returns the lines it completes, without their line breaks.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Vec<Bytes> {
        let mut lines = Vec::new();
        let mut rest = chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.keep(&rest[..end]);
            lines.push(self.line.split().freeze());
            rest = &rest[end + 1..];
        }
        self.keep(rest);
        lines
    }

    /// The last line, if it has no line break.
    pub(super) fn finish(&mut self) -> Option<Bytes> {
        let rest = self.line.split().freeze();
        (!rest.is_empty()).then_some(rest)
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_line_is_kept_up_to_the_limit() {
        let mut cutter = LineCutter::new(4);
        assert_eq!(cutter.push(b"abcdef\nxy"), [Bytes::from_static(b"abcd")]);
        assert_eq!(cutter.finish(), Some(Bytes::from_static(b"xy")));
        assert_eq!(cutter.finish(), None);
    }

    proptest! {
        #[test]
        fn the_lines_put_together_are_what_was_said(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20)) {
            let mut cutter = LineCutter::new(1 << 20);
            let mut said: Vec<Bytes> = chunks.iter().flat_map(|chunk| cutter.push(chunk)).collect();
            said.push(cutter.finish().unwrap_or_default());
            let whole: Vec<u8> = said.join(&b'\n');
            prop_assert_eq!(whole, chunks.concat());
        }
    }
}
