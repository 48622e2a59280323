//! The parser counts characters; our spans count bytes.

/// Byte offsets of the characters of a text.
pub(super) struct Offsets {
    /// Where each character begins; empty for ASCII text, where both counts are the same.
    starts: Vec<u32>,
    length: usize,
}

impl Offsets {
    /// Indexes a text once, so that each lookup is a single step.
    pub(super) fn new(text: &str) -> Self {
        let starts = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(offset, _)| u32::try_from(offset).unwrap_or(u32::MAX)).collect()
        };
        Self { starts, length: text.len() }
    }

    /// The byte offset of a character; the end of the text for one past the last.
    pub(super) fn byte(&self, character: usize) -> usize {
        if self.starts.is_empty() {
            return character.min(self.length);
        }
        self.starts.get(character).map_or(self.length, |offset| *offset as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_found_in_ascii_and_beyond() {
        let plain = Offsets::new("abc");
        assert_eq!((plain.byte(0), plain.byte(2), plain.byte(9)), (0, 2, 3));
        let wide = Offsets::new("aé→z");
        assert_eq!((wide.byte(1), wide.byte(2), wide.byte(3), wide.byte(4)), (1, 3, 6, 7));
    }
}
