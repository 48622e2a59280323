//! Parts of long texts: bounded, with the interesting part in view.

use std::borrow::Cow;
use std::ops::Range;

use mcprove_model::Observation;

/// The most characters of an excerpt, its own remarks included.
pub(crate) const LIMIT: usize = 300;

/// Room for the remark on the length of the whole.
const REMARK: usize = 40;

/// The beginning of a text, at most `limit` characters.
pub(crate) fn head(text: &str, limit: usize) -> Cow<'_, str> {
    window(text, 0..0, limit)
}

/// A value quoted in a message: short, because messages are one line.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", head(text, 60))
}

/// A part of a text with what is around it, and the length of the whole when something was left out.
pub(crate) fn around(text: &str, part: Range<usize>) -> String {
    match window(text, part, LIMIT - REMARK) {
        Cow::Borrowed(whole) => whole.to_owned(),
        Cow::Owned(cut) => format!("{cut} ({} bytes in all)", text.len()),
    }
}

/// The text of an observation around a part of it; an empty one is called so.
pub(crate) fn of_text(seen: &Observation, part: Range<usize>) -> String {
    if seen.text.is_empty() { "an empty text".to_owned() } else { around(&seen.text, part) }
}

/// At most `limit` characters of a text with `part` in view; `…` stands for what is left out.
///
/// A part that does not fit is shown from its beginning.
pub(crate) fn window(text: &str, part: Range<usize>, limit: usize) -> Cow<'_, str> {
    if text.char_indices().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    let start = text.floor_char_boundary(part.start);
    let end = text.ceil_char_boundary(part.end.max(start));
    let room = limit.saturating_sub(2);
    let inside = text[start..end].chars().take(room).count();
    let spare = room - inside;
    let before = text[..start].chars().rev().take(spare).count();
    let after = text[end..].chars().take(spare).count();
    let before = before.min((spare / 2).max(spare - after));
    let after = after.min(spare - before);

    let from = text[..start].char_indices().rev().take(before).last().map_or(start, |(offset, _)| offset);
    let length = before + inside + after;
    let to = text[from..].char_indices().nth(length).map_or(text.len(), |(offset, _)| from + offset);
    let (left, right) = (if from > 0 { "…" } else { "" }, if to < text.len() { "…" } else { "" });
    Cow::Owned(format!("{left}{}{right}", &text[from..to]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_part_is_in_view_and_cuts_are_marked() {
        assert_eq!(window("0123456789", 5..6, 10), "0123456789");
        assert_eq!(window("0123456789", 5..6, 7), "…34567…");
        assert_eq!(window("0123456789", 0..0, 5), "012…");
        assert_eq!(window("0123456789", 9..10, 5), "…789");
        assert_eq!(window("0123456789", 2..9, 5), "…234…");
    }

    #[test]
    fn the_length_of_the_whole_is_told_when_cut() {
        assert_eq!(around("short", 0..0), "short");
        assert!(around(&"x".repeat(1000), 500..501).ends_with("… (1000 bytes in all)"));
    }

    proptest! {
        #[test]
        fn excerpts_are_bounded_and_hold_the_part(
            left in ".{0,400}", part in ".{0,40}", right in ".{0,400}", limit in 50_usize..400,
        ) {
            let text = format!("{left}{part}{right}");
            let range = left.len()..left.len() + part.len();
            let shown = window(&text, range.clone(), limit);
            prop_assert!(shown.chars().count() <= limit);
            prop_assert!(shown.contains(&part));
            let shown = around(&text, range);
            prop_assert!(shown.chars().count() <= LIMIT);
            prop_assert!(shown.contains(&part));
        }

        #[test]
        fn any_range_and_limit_is_survived(text in ".{0,50}", start in 0_usize..80, length in 0_usize..80, limit in 0_usize..60) {
            let shown = window(&text, start..start + length, limit);
            prop_assert!(shown.chars().count() <= limit.max(2));
        }
    }
}
