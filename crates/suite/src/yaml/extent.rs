//! Where values really begin and end.
//!
//! The parser's marks are made for its own use: a quoted scalar ends after the comment behind it, a block scalar
//! begins after its header, a list without indentation begins after its first dash, and a collection ends where the
//! next token begins. These functions read the text around a mark to find the exact bytes.

/// The offset after blanks, line breaks and comments.
pub(super) fn skip_separation(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            // A byte order mark may also be between documents.
            0xef if bytes[at..].starts_with("\u{feff}".as_bytes()) => at += 3,
            b'#' if at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b'\r') => at = line_end(bytes, at),
            _ => break,
        }
    }
    at
}

/// The offset after separation and node properties (`&anchor`, `!tag`).
pub(super) fn skip_properties(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        at = skip_separation(text, at);
        match bytes.get(at) {
            Some(b'&' | b'!') => {
                let verbatim = bytes[at..].starts_with(b"!<");
                at += 1;
                while bytes.get(at).is_some_and(|byte| {
                    !byte.is_ascii_whitespace() && (verbatim || !matches!(byte, b',' | b'[' | b']' | b'{' | b'}'))
                }) {
                    at += 1;
                }
            }
            Some(_) | None => return at,
        }
    }
}

/// The offset after the `:`, `-` or `?` that introduces an absent value, or `at` when there is none.
pub(super) fn after_indicator(text: &str, at: usize, indicators: &[u8]) -> usize {
    let next = skip_separation(text, at);
    if text.as_bytes().get(next).is_some_and(|byte| indicators.contains(byte)) { next + 1 } else { at }
}

/// The first byte of a block list that is the value of a key ending before `at`.
pub(super) fn list_start(text: &str, at: usize, fallback: usize) -> usize {
    let found = skip_properties(text, after_indicator(text, at, b":"));
    if text.as_bytes().get(found) == Some(&b'-') { found } else { fallback }
}

/// The `|` or `>` of a block scalar that comes after `at` and whose content ends at `end`.
pub(super) fn block_scalar_start(text: &str, mut at: usize, end: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        at = skip_properties(text, at);
        match bytes.get(at) {
            Some(b'|' | b'>') if at <= end => return at,
            Some(b':' | b'-' | b'?') if at < end => at += 1,
            Some(_) | None => return at.min(end),
        }
    }
}

/// The offset after the closing quote of the quoted scalar that begins at `at`.
pub(super) fn quoted_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let Some(quote) = bytes.get(at).copied() else { return at };
    let mut end = at + 1;
    while let Some(byte) = bytes.get(end) {
        if *byte == b'\\' && quote == b'"' {
            end += 2;
        } else if *byte == quote {
            if quote == b'\'' && bytes.get(end + 1) == Some(&quote) {
                end += 2;
            } else {
                return end + 1;
            }
        } else {
            end += 1;
        }
    }
    bytes.len()
}

/// The end of a range without the white space at its end.
pub(super) fn trimmed_end(text: &str, start: usize, end: usize) -> usize {
    text.get(start..end).map_or(end, |slice| start + slice.trim_end_matches([' ', '\t', '\n', '\r']).len())
}

/// The end of the word that begins at `at`, as far as a plain value in brackets can go.
pub(super) fn plain_word_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    at + rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}')).unwrap_or(rest.len())
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| matches!(byte, b'\n' | b'\r')).map_or(bytes.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_end_where_they_close() {
        assert_eq!(quoted_end(r#""a\"b" # c"#, 0), 6);
        assert_eq!(quoted_end("'it''s' x", 0), 7);
    }

    #[test]
    fn properties_and_comments_are_skipped() {
        assert_eq!(skip_properties("&a !!str # why\n  x", 0), 17);
        assert_eq!(skip_properties("!<tag:a,b> x", 0), 11);
        assert_eq!(skip_properties("&a, b", 0), 2);
    }

    #[test]
    fn block_scalars_begin_at_their_header() {
        assert_eq!(block_scalar_start("a: | # note\n  text", 1, 14), 3);
        assert_eq!(block_scalar_start("- &x >-\n  text", 0, 10), 5);
    }
}
