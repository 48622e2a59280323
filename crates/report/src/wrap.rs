//! Long lines broken at a width, at words where that is possible.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar as _;

use crate::columns::columns;
use crate::escape;

/// The narrowest room that text is broken to.
const NARROWEST: usize = 20;

/// The pieces of a line, each at most `room` columns wide; the whole line where no width is known.
pub(crate) fn wrapped(line: &str, room: Option<usize>) -> Vec<Cow<'_, str>> {
    let Some(room) = room.map(|room| room.max(NARROWEST)) else { return vec![line.into()] };
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(end) = overflow(rest, room) {
        // A word that would leave a third of the line empty is broken itself.
        let at = rest[..end].rfind(' ').map(|space| space + 1).filter(|at| columns(&rest[..*at]) * 3 >= room * 2);
        let (piece, tail) = rest.split_at(at.unwrap_or(end));
        pieces.push(without_command(piece.trim_end(), pieces.is_empty()));
        rest = tail;
    }
    pieces.push(without_command(rest, pieces.is_empty()));
    pieces
}

/// A piece that begins with a colon only because the line was broken there could be read as a command.
fn without_command(piece: &str, is_first: bool) -> Cow<'_, str> {
    match piece.strip_prefix(':') {
        Some(rest) if !is_first => Cow::Owned(format!("{}{rest}", escape::shown(true))),
        Some(_) | None => Cow::Borrowed(piece),
    }
}

/// Where a text exceeds the room; `None` when it fits.
fn overflow(text: &str, room: usize) -> Option<usize> {
    let mut used = 0;
    text.char_indices().find_map(|(at, c)| {
        used += c.width().unwrap_or(0);
        (used > room && at > 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_words_and_long_words_anywhere() {
        assert_eq!(wrapped("a b", None), ["a b"]);
        assert_eq!(wrapped("", Some(20)), [""]);
        assert_eq!(
            wrapped("{\"name\": \"list\", \"arguments\": {}}", Some(20)),
            ["{\"name\": \"list\",", "\"arguments\": {}}"]
        );
        assert_eq!(wrapped(&"x".repeat(45), Some(20)), ["x".repeat(20), "x".repeat(20), "x".repeat(5)]);
        for piece in wrapped("名前名前名前名前名前名前名前 and more", Some(21)) {
            assert!(columns(&piece) <= 21, "{piece}");
        }
    }
}
