//! Escapes for untrusted text that is shown in a terminal or a log.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes everything that a terminal would obey instead of show; line breaks and tabs stay.
pub fn escape_text(text: &str) -> Cow<'_, str> {
    escape(text, |c| matches!(c, '\n' | '\t'))
}

/// Like [`escape_text`], and line breaks and tabs are escaped too: the result is one line.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// At most `limit` characters of a text; what is left out is counted.
pub fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        None => Cow::Borrowed(text),
        Some((cut, _)) => Cow::Owned(format!("{}… ({} more bytes)", &text[..cut], text.len() - cut)),
    }
}

/// Names in a row, at most `limit` of them; those that are left out are counted.
pub fn some_of<'n>(names: impl ExactSizeIterator<Item = impl Into<Cow<'n, str>>>, limit: usize) -> String {
    let left_out = names.len().saturating_sub(limit);
    let shown = names.take(limit).map(Into::into).collect::<Vec<_>>().join(", ");
    if left_out == 0 { shown } else { format!("{shown} and {left_out} more") }
}

fn escape(text: &str, keep: fn(char) -> bool) -> Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b' '..=b'~');
    if text.bytes().all(plain) || !text.chars().any(|c| is_active(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            _ if !is_active(c) || keep(c) => safe.push(c),
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            '\0'..='\u{7f}' => {
                let _ = write!(safe, "\\x{:02x}", c as u32);
            }
            _ => {
                let _ = write!(safe, "\\u{{{:x}}}", c as u32);
            }
        }
    }
    Cow::Owned(safe)
}

/// True for characters that act on what shows them or that cannot be seen: controls, bidirectional and invisible marks, tags
/// and other default-ignorable characters, line separators, noncharacters.
pub fn is_active(c: char) -> bool {
    c.is_control()
        // The last two characters of each plane.
        || u32::from(c) & 0xfffe == 0xfffe
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                // The last two choose between a sign and its picture, which does no harm.
                | '\u{fe00}'..='\u{fe0d}'
                | '\u{feff}' | '\u{ffa0}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{13430}'..='\u{1345f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        assert_eq!(escape_text("a\u{1b}[31mb\r\n\tc\u{9b}d\u{202e}"), "a\\x1b[31mb\\r\n\tc\\u{9b}d\\u{202e}");
        assert_eq!(escape_line("a\nb"), "a\\nb");
        assert_eq!(escape_line("a\u{e0041}\u{61c}\u{ad}b"), "a\\u{e0041}\\u{61c}\\u{ad}b");
        assert!(matches!(escape_line("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn many_names_are_counted() {
        assert_eq!(some_of(["a", "b"].into_iter(), 2), "a, b");
        assert_eq!(some_of(["a", "b", "c"].into_iter(), 1), "a and 2 more");
        assert_eq!(some_of(Vec::<String>::new().into_iter(), 1), "");
    }

    #[test]
    fn long_text_says_how_much_is_missing() {
        assert_eq!(shorten("äbc", 3), "äbc");
        assert_eq!(shorten("äbcd", 1), "ä… (3 more bytes)");
    }
}
