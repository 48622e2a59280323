//! Messages of unhandled exceptions: worded by a language, not by a server's author.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::Echo;

/// The longest text that is taken for nothing but an error message.
const SHORT: usize = 600;

/// Messages that runtimes write, one language a line.
const PATTERNS: &[&str] = &[
    // C and others
    r"(?i)\bsegmentation fault\b|\bcore dumped\b|has overflowed its stack",
    // .NET
    r"System\.\w+Exception\b|Object reference not set to an instance of an object",
    // Go
    r"(?m)^panic: |runtime error: (?:index out of range|invalid memory|slice bounds|integer divide)|nil pointer dereference|goroutine \d+ \[running\]",
    // Java
    r"\bjava\.(?:lang|util|io)\.[\w.]*(?:Exception|Error)\b|\bNullPointerException\b|\bClassCastException\b|Exception in thread \x22",
    // JavaScript
    r"Cannot read propert(?:y|ies) of (?:undefined|null)|Cannot read property '[^']*' of (?:undefined|null)|Cannot set propert(?:y|ies) of (?:undefined|null)|Cannot destructure property|Cannot convert undefined or null to object|(?:undefined|null) is not (?:an object|a function|iterable)|\b[\w$]+(?:\.[\w$]+)+ is not (?:a function|iterable)|Maximum call stack size exceeded|Converting circular structure to JSON|(?:Unhandled|Uncaught)\s?PromiseRejection|Invalid (?:array|string) length|Do not know how to serialize a BigInt",
    // PHP
    r"PHP Fatal error: |Uncaught (?:Type)?Error: |Call to a member function \w+\(\) on null",
    // Python
    r"Traceback \(most recent call last\)|'NoneType' object|\b'?\w+'? object (?:has no attribute|is not (?:subscriptable|iterable|callable))|unsupported operand type\(s\)|(?:list|string|tuple) index out of range|maximum recursion depth exceeded|argument of type '\w+' is not (?:iterable|a container)|\b(?:AttributeError|IndexError|UnboundLocalError|RecursionError|NameError|ZeroDivisionError): |can only concatenate str|must be str, not \w+|indices must be integers",
    // Ruby
    r"undefined method [`']\w+[?!]?' for (?:nil|an instance)|NoMethodError",
    // Rust
    r"thread '[^']*' (?:\(\d+\) )?panicked at|called `(?:Option|Result)::unwrap\(\)` on|index out of bounds: the len is|attempt to (?:add|subtract|multiply|divide|negate) (?:with overflow|by zero)|byte index \d+ is not a char boundary|end byte index \d+ is",
    // Any
    r"(?i)\b(?:unhandled|uncaught) (?:exception|error|promise rejection)\b",
];

/// Whole messages that say no more than that something is broken.
const NOTHING_BUT: &[&str] = &["internal error", "internal server error", "unexpected error", "unknown error"];

static COMPILED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());

/// All patterns at once: most texts match none of them, and that takes one look.
static ANY: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(PATTERNS).ok());

/// The message of an unhandled exception in a text that reports a failure, unless the arguments held it: the line it
/// is on.
pub(crate) fn find<'t>(text: &'t str, echo: &Echo<'_>) -> Option<&'t str> {
    if says_nothing(text) && !echo.repeats(text) {
        return Some(text.trim());
    }
    let head = &text[..text.floor_char_boundary(20_000)];
    if ANY.as_ref().is_some_and(|any| !any.is_match(head)) {
        return None;
    }
    let all = COMPILED.iter().flat_map(|pattern| pattern.find_iter(head).take(20));
    let found = all.filter(|found| !echo.repeats(found.as_str())).min_by_key(regex::Match::start)?;
    let start = head[..found.start()].rfind('\n').map_or(0, |at| at + 1);
    let end = head[found.start()..].find('\n').map_or(head.len(), |at| found.start() + at);
    Some(head[start..end].trim())
}

/// True if a text says no more than that something is broken.
fn says_nothing(text: &str) -> bool {
    let bare = text.trim().trim_end_matches(['.', '!']);
    let bare = match bare.get(..7) {
        Some(start) if start.eq_ignore_ascii_case("error: ") => &bare[7..],
        Some(_) | None => bare,
    };
    NOTHING_BUT.iter().any(|nothing| bare.eq_ignore_ascii_case(nothing))
}

/// True if a text that claims success is nothing but an error message.
pub(crate) fn is_all_there_is(text: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "error",
        "typeerror",
        "rangeerror",
        "referenceerror",
        "traceback (most",
        "exception",
        "panic:",
        "uncaught",
        "unhandled",
        "internal error",
        "internal server",
    ];
    let text = text.trim_start();
    let head = text[..text.floor_char_boundary(24)].to_ascii_lowercase();
    let begins = BEGINNINGS.iter().any(|beginning| head.starts_with(beginning));
    begins && (text.len() <= SHORT || head.starts_with("traceback (most") || head.starts_with("panic:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_runtimes_are_recognised() {
        assert_eq!(COMPILED.len(), PATTERNS.len(), "every pattern compiles");
        assert!(ANY.is_some(), "and all of them together");
        let none = Echo::of(&serde_json::Value::Null);
        for text in [
            "Cannot read properties of undefined (reading 'length')",
            "Error: Cannot read property 'x' of null",
            "args.name.trim is not a function",
            "Error executing tool add: 'NoneType' object is not subscriptable",
            "Error executing tool f: unsupported operand type(s) for +: 'int' and 'str'",
            "'int' object has no attribute 'lower'",
            "maximum recursion depth exceeded while calling a Python object",
            "tool panicked: thread 'main' panicked at src/x.rs",
            "attempt to multiply with overflow",
            "panic: boom",
            "runtime error: index out of range [3] with length 2",
            "java.lang.NullPointerException: Cannot invoke",
            "System.NullReferenceException: Object reference not set",
            "Internal server error.",
            "Error: internal error",
            "Unhandled exception in tool",
            "RangeError: Maximum call stack size exceeded",
            "first line\nRangeError: Invalid array length\nlast",
        ] {
            assert!(find(text, &none).is_some(), "{text}");
        }
        assert_eq!(find("a\n  RangeError: Invalid array length\nb", &none), Some("RangeError: Invalid array length"));
    }

    #[test]
    fn only_a_text_that_is_an_error_message_is_taken_for_one() {
        assert!(is_all_there_is("Error: Cannot read properties of undefined"));
        assert!(is_all_there_is("  Traceback (most recent call last):\n"));
        assert!(!is_all_there_is("The log says: Error: x"));
        assert!(!is_all_there_is(&format!("Error codes and what they mean\n{}", "x".repeat(1000))));
        assert!(!is_all_there_is(""));
    }
}
