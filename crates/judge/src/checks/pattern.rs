//! Regular expressions as authors of existing files write them.
//!
//! The tool whose files are run here has Go's syntax (RE2). A pattern is translated so that it means the same: `\Q…\E`
//! quotes, `\<` is a plain character, `\w \d \s \b` know ASCII only, and inside a class `[`, `&&`, `--` and `~~` are plain
//! characters. A `{` that begins no repetition is plain, too: `{"id":\d+}` is valid there.

use crate::bounded_regex::BoundedRegex;

/// Compiles a pattern; the error is a message for the author.
pub(super) fn compile(pattern: &str) -> Result<BoundedRegex, String> {
    BoundedRegex::compile(&translated(pattern)).or_else(|_| BoundedRegex::compile(pattern))
}

/// The pattern in the syntax of the `regex` crate.
fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        rest = match c {
            '\\' => outside_class(rest, &mut out),
            '[' => class(rest, &mut out),
            '{' if !begins_repetition(rest) => {
                out.push_str(r"\{");
                &rest[1..]
            }
            _ => {
                out.push(c);
                &rest[c.len_utf8()..]
            }
        };
    }
    out
}

/// Translates an escape outside of classes and returns what follows it.
fn outside_class<'p>(rest: &'p str, out: &mut String) -> &'p str {
    if let Some(quoted) = rest.strip_prefix(r"\Q") {
        let (text, after) = quoted.split_once(r"\E").unwrap_or((quoted, ""));
        out.push_str(&regex::escape(text));
        return after;
    }
    let Some(escaped) = rest[1..].chars().next() else {
        out.push('\\');
        return "";
    };
    match escaped {
        'b' | 'B' => out.extend([r"(?-u:\", escaped.encode_utf8(&mut [0; 4]), ")"]),
        // Quoting that was never opened.
        'E' => {}
        '<' | '>' => out.push(escaped),
        _ => match ascii_class(escaped) {
            Some((negation, members)) => out.extend(["[", negation, members, "]"]),
            None => out.extend(['\\', escaped]),
        },
    }
    &rest[1 + escaped.len_utf8()..]
}

/// The meaning of a one-letter class in Go.
fn ascii_class(letter: char) -> Option<(&'static str, &'static str)> {
    let members = match letter.to_ascii_lowercase() {
        'w' => "0-9A-Za-z_",
        'd' => "0-9",
        's' => r"\t\n\f\r ",
        _ => return None,
    };
    Some((if letter.is_ascii_uppercase() { "^" } else { "" }, members))
}

/// Translates a class, which `rest` begins with, and returns what follows it.
fn class<'p>(rest: &'p str, out: &mut String) -> &'p str {
    let mut inside = &rest[1..];
    out.push('[');
    if let Some(after) = inside.strip_prefix('^') {
        out.push('^');
        inside = after;
    }
    let mut is_first = true;
    while let Some(c) = inside.chars().next() {
        if c == ']' && !is_first {
            out.push(']');
            return &inside[1..];
        }
        is_first = false;
        if let Some(length) = posix_class(inside) {
            out.push_str(&inside[..length]);
            inside = &inside[length..];
            continue;
        }
        inside = member(inside, out);
        // A `-` between two members makes a range of them; one before the end is plain.
        let is_range = inside.starts_with('-') && !inside.starts_with("-]") && inside.len() > 1;
        if is_range {
            out.push('-');
            inside = member(&inside[1..], out);
        }
    }
    // Never closed: the compiler says so.
    inside
}

/// The length of `[:name:]`, where a text begins with it.
fn posix_class(text: &str) -> Option<usize> {
    let name = text.strip_prefix("[:")?;
    let end = name.find(":]")?;
    name[..end].bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'^').then_some(end + 4)
}

/// Translates one member of a class and returns what follows it.
fn member<'p>(text: &'p str, out: &mut String) -> &'p str {
    let Some(c) = text.chars().next() else { return text };
    if c != '\\' {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(c);
        return &text[c.len_utf8()..];
    }
    let Some(escaped) = text[1..].chars().next() else {
        out.push_str(r"\\");
        return "";
    };
    match ascii_class(escaped) {
        Some(("", members)) => out.push_str(members),
        Some((negation, members)) => out.extend(["[", negation, members, "]"]),
        // The braces of `\p{…}` and `\x{…}` belong to it.
        None if text[1 + escaped.len_utf8()..].starts_with('{') => {
            let length = text.find('}').map_or(text.len(), |end| end + 1);
            out.push_str(&text[..length]);
            return &text[length..];
        }
        None => out.extend(['\\', escaped]),
    }
    &text[1 + escaped.len_utf8()..]
}

/// True if a text begins with `{n}`, `{n,}` or `{n,m}`.
fn begins_repetition(text: &str) -> bool {
    let Some((inner, _)) = text[1..].split_once('}') else { return false };
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    !least.is_empty() && is_number(least) && is_number(most)
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
            assert_eq!(regex.find(text).map(|found| found.end()), Some(text.len()), "{pattern} as {}", regex.as_str());
        }
        assert!(!compile("^a{2}$").expect("a pattern").is_match("a{2}"));
    }

    #[test]
    fn patterns_mean_what_they_mean_in_go() {
        for (pattern, found, not_found) in [
            (r"\Qa.b\E+", "a.bbb", "axb"),
            (r"\Q[x", "[x", "x"),
            (r"\<b\>", "<b>", "b"),
            ("[a&&b]", "&", "c"),
            ("^[+--]$", ",", "."),
            ("^[a~~b]$", "~", "c"),
            (r"^\w+$", "abc_1", "\u{e9}t\u{e9}"),
            (r"^[\w-]+$", "a-b", "\u{e9}"),
            (r"^\d$", "7", "\u{667}"),
            (r"^\s$", " ", "\u{a0}"),
            (r"^[\S]$", "\u{a0}", " "),
            (r"\bt", "\u{e9}t", "at"),
            (r"^[\p{Greek}]$", "\u{3b1}", "a"),
            (r"^[a\-z]$", "-", "b"),
            (r"^\p{L}$", "\u{e9}", "1"),
        ] {
            let regex = compile(pattern).expect(pattern);
            let regex: &regex::Regex = &regex;
            assert!(regex.is_match(found), "{pattern} as {regex} on {found}");
            assert!(!regex.is_match(not_found), "{pattern} as {regex} on {not_found}");
        }
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
