//! Text from elsewhere, made harmless for a line of a log that a terminal or a CI system reads.
//!
//! CI systems obey commands in what a job prints: GitHub runs `::error::…` at the start of a line after any white space,
//! and `##[…]` anywhere; Azure and `TeamCity` know `##vso[…]` and `##teamcity[…]`. A server must not be able to say these
//! through us, so the first character of each is shown as an escape.

use std::borrow::Cow;

use mcprove_model::{escape_line, escape_text};

/// One line: control characters and line breaks are escaped, CI commands broken up.
pub fn line(text: &str) -> Cow<'_, str> {
    match escape_line(text) {
        Cow::Borrowed(same) => break_commands(same),
        Cow::Owned(escaped) => Cow::Owned(break_commands(&escaped).into_owned()),
    }
}

/// The lines of a text, each harmless by itself; the caller puts something of its own before each.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.lines().map(|text| match escape_text(text) {
        Cow::Borrowed(same) => break_commands(same),
        Cow::Owned(escaped) => Cow::Owned(break_commands(&escaped).into_owned()),
    })
}

/// Byte offsets of the characters that would begin a CI command, ascending.
pub(crate) fn command_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = Vec::new();
    for (at, pair) in bytes.windows(2).enumerate() {
        let begins = match pair {
            b"::" => text[..at].chars().next_back().is_none_or(char::is_whitespace),
            b"##" => {
                let after = bytes[at + 2..].iter().find(|byte| !byte.is_ascii_alphabetic());
                after == Some(&b'[')
            }
            _ => false,
        };
        if begins {
            starts.push(at);
        }
    }
    // A colon of ours may follow.
    if let Some(before) = text.strip_suffix(':')
        && before.chars().next_back().is_none_or(char::is_whitespace)
    {
        starts.push(before.len());
    }
    starts
}

/// Breaks up what a CI system would obey; white space before `::` is judged within this text, whose start counts as such.
fn break_commands(text: &str) -> Cow<'_, str> {
    if !text.contains("::") && !text.contains("##") && !text.ends_with(':') {
        return Cow::Borrowed(text);
    }
    let starts = command_starts(text);
    if starts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + starts.len() * 3);
    let mut done = 0;
    for at in starts {
        safe.push_str(&text[done..at]);
        safe.push_str(shown(text.as_bytes()[at] == b':'));
        done = at + 1;
    }
    safe.push_str(&text[done..]);
    Cow::Owned(safe)
}

/// How the first character of a command is shown.
pub(crate) fn shown(colon: bool) -> &'static str {
    if colon { "\\x3a" } else { "\\x23" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_broken_up_and_other_text_is_not() {
        let cases = [
            ("::error::x", "\\x3a:error::x"),
            ("a  ::set-output name=x::y", "a  \\x3a:set-output name=x::y"),
            ("std::io::Error", "std::io::Error"),
            ("a ##[error]b", "a \\x23#[error]b"),
            ("x##vso[task]", "x\\x23#vso[task]"),
            ("### heading", "### heading"),
            ("###[group]", "#\\x23#[group]"),
            ("\u{a0}::x", "\u{a0}\\x3a:x"),
            ("::::", "\\x3a:::"),
            ("and so on:", "and so on:"),
            ("a :", "a \\x3a"),
            (":", "\\x3a"),
        ];
        for (given, wanted) in cases {
            assert_eq!(line(given), wanted, "{given:?}");
        }
    }

    #[test]
    fn each_line_of_a_text_is_harmless() {
        assert_eq!(lines("a\r\n ::b\u{1b}").collect::<Vec<_>>(), ["a", " \\x3a:b\\x1b"]);
    }
}
