//! Regular expressions as authors of existing files write them.
//!
//! The tool whose files we run has Go's syntax, where a `{` that begins no repetition and a `[` inside a class are
//! plain characters: `{"id":\d+}` is valid there. Patterns that the `regex` crate rejects are tried in that reading.

use regex::Regex;

/// Compiles a pattern; the error is a message for the author.
pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    match Regex::new(pattern) {
        Ok(regex) => Ok(regex),
        Err(error) => Regex::new(&with_plain_brackets(pattern)).map_err(|_| last_line(&error)),
    }
}

/// The pattern with a backslash before every bracket that Go takes as a plain character.
fn with_plain_brackets(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut in_class = false;
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            '\\' => length += rest[1..].chars().next().map_or(0, char::len_utf8),
            '[' if in_class && !rest.starts_with("[:") => out.push('\\'),
            '[' if in_class => length = rest.find(":]").map_or(1, |end| end + 2),
            '[' => {
                in_class = true;
                // A `]` that comes first in a class is a plain character.
                length = ["[^]", "[]", "[^", "["].iter().find(|open| rest.starts_with(**open)).map_or(1, |o| o.len());
            }
            ']' => in_class = false,
            '{' if !in_class && !begins_repetition(rest) => out.push('\\'),
            _ => {}
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Whether a text begins with `{n}`, `{n,}` or `{n,m}`.
fn begins_repetition(text: &str) -> bool {
    let Some((inner, _)) = text[1..].split_once('}') else { return false };
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    !least.is_empty() && is_number(least) && is_number(most)
}

/// The part of the error that names the fault; the lines before it draw the pattern.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn brackets_that_are_plain_in_go_are_plain_here() {
        for (pattern, text) in [
            (r#"{"id":\d+}"#, r#"x{"id":12}"#),
            ("{{name}}", "{{name}}"),
            (r"a{x", "a{x"),
            (r"a{2}{", "aa{"),
            ("[[]x", "[x"),
            ("[^[]{", "y{"),
            ("[]a]{", "]{"),
            (r"[\]]{", "]{"),
            ("[[:alpha:]]{", "b{"),
        ] {
            let regex = compile(pattern).expect(pattern);
            assert_eq!(regex.find(text).map(|found| found.end()), Some(text.len()), "{pattern} as {regex}");
        }
        assert!(!compile("^a{2}$").expect("a pattern").is_match("a{2}"));
    }

    #[test]
    fn the_fault_is_named_in_one_line() {
        assert_eq!(compile("(").expect_err("unclosed"), "unclosed group");
        assert!(compile("(?=x)").expect_err("look-around").contains("look-around"));
    }

    proptest! {
        #[test]
        fn any_pattern_compiles_or_is_named(pattern in r"[\[\]{}\\(|)*^:,0-9aä-]{0,16}") {
            if let Err(fault) = compile(&pattern) {
                prop_assert!(!fault.is_empty() && !fault.contains('\n'));
            }
        }
    }
}
