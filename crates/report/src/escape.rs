//! The one escape function for untrusted text in lines that a terminal or a CI system reads.
//!
//! CI systems obey commands in what a job prints: GitHub runs `::error::…` at the start of a line after any white space,
//! and `##[…]` anywhere; Azure and `TeamCity` know `##vso[…]` and `##teamcity[…]`. A server must not be able to issue these
//! through mcprove, so the first character of each is shown as an escape. A line is bounded, too: no name is worth
//! megabytes of terminal.

use std::borrow::Cow;

use mcprove_model::{escape_line, escape_text, shorten};

/// The most characters of one line.
pub(crate) const LINE_CHARS: usize = 2_000;

/// The most characters of a name.
pub(crate) const NAME_CHARS: usize = 300;

/// One line: control characters and line breaks are escaped, CI commands broken up, what is too long is cut.
pub fn line(text: &str) -> Cow<'_, str> {
    // Most lines are plain, and some are written a hundred thousand times.
    if text.len() <= LINE_CHARS && text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b':' && byte != b'#')
    {
        return Cow::Borrowed(text);
    }
    escaped(text, LINE_CHARS, escape_line)
}

/// One line of at most `limit` characters.
pub(crate) fn line_within(text: &str, limit: usize) -> Cow<'_, str> {
    escaped(text, limit, escape_line)
}

/// A name: as [`line`], and shorter.
pub fn name(text: &str) -> Cow<'_, str> {
    if text.len() <= NAME_CHARS { line(text) } else { escaped(text, NAME_CHARS, escape_line) }
}

/// Last guard before printing: text that is already escaped and painted stays as it is; what got past the
/// other functions of this module does not. Colours stay, every other control sequence is escaped.
pub fn printed(text: &str) -> Cow<'_, str> {
    guarded(text, color_length)
}

/// As [`printed`], where nothing of ours is coloured: every control sequence is foreign.
pub fn printed_plain(text: &str) -> Cow<'_, str> {
    guarded(text, |_| None)
}

fn guarded(text: &str, length_of_color: fn(&str) -> Option<usize>) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n') && byte != b':' && byte != b'#';
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let mut rest = line;
        while let Some(at) = rest.find('\u{1b}') {
            let (before, sequence) = rest.split_at(at);
            safe.push_str(&escape_text(before));
            let length = length_of_color(sequence);
            match length {
                Some(length) => safe.push_str(&sequence[..length]),
                None => safe.push_str("\\x1b"),
            }
            rest = &sequence[length.unwrap_or(1)..];
        }
        safe.push_str(&escape_text(rest));
        safe.push_str(end);
    }
    if !safe.contains("::") && !safe.contains("##") {
        return if safe == text { Cow::Borrowed(text) } else { Cow::Owned(safe) };
    }
    let lines = safe.split_inclusive('\n').map(|line| {
        let is_command =
            line.trim_start().starts_with("::") || command_starts(line).iter().any(|at| line[*at..].starts_with("##"));
        if is_command { break_commands(line) } else { Cow::Borrowed(line) }
    });
    Cow::Owned(lines.collect())
}

/// The length of a sequence that sets colours; `None` for any other.
fn color_length(sequence: &str) -> Option<usize> {
    let inner = sequence.strip_prefix("\u{1b}[")?;
    let end = inner.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    inner[end..].starts_with('m').then_some(end + 3)
}

/// The lines of a text, each harmless by itself; the caller puts something of its own before each.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.lines().map(|text| escaped(text, LINE_CHARS, escape_text))
}

fn escaped(text: &str, limit: usize, escape: fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    // It is cut before it is escaped: escapes make a text longer, and must stay whole.
    match shorten(text, limit) {
        Cow::Borrowed(whole) => match escape(whole) {
            Cow::Borrowed(same) => break_commands(same),
            Cow::Owned(escaped) => Cow::Owned(break_commands(&escaped).into_owned()),
        },
        Cow::Owned(cut) => Cow::Owned(break_commands(&escape(&cut)).into_owned()),
    }
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

/// Escaped form of the first character of a command.
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

    #[test]
    fn what_is_printed_obeys_nobody_but_us() {
        for same in ["a: b\n\tc é\n", "\u{1b}[1m\u{1b}[31mx\u{1b}[0m\n", "std::io::Error\nx ::y\n", "### a\n", ""] {
            assert_eq!(printed(same), same);
        }
        assert_eq!(printed("a\r\u{1b}[2Kb\u{1b}]0;t\u{7}\u{202e}\n"), "a\\r\\x1b[2Kb\\x1b]0;t\\x07\\u{202e}\n");
        assert_eq!(printed("a\n  ::error::b\n::c\nx ##[d]\n"), "a\n  \\x3a:error::b\n\\x3a:c\nx \\x23#[d]\n");
    }

    #[test]
    fn what_is_too_long_is_cut_and_the_rest_counted() {
        let long = "x".repeat(20 << 20);
        for shown in [line(&long), name(&long), lines(&long).next().expect("a line")] {
            assert!(shown.len() < 2_100 && shown.ends_with(" more bytes)"), "{} bytes", shown.len());
        }
        assert!(name(&long).len() < 400);
    }
}
