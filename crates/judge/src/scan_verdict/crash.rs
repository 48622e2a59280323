//! Marks of unhandled exceptions that SDKs leave in their error texts.

use std::sync::LazyLock;

use regex::Regex;

/// Remains of an exception after an SDK has wrapped it.
const MARKERS: &[&str] = &[
    // The Python SDKs put the bare text of an exception after the name of the tool: a `KeyError` is a quoted key.
    r"(?m)^Error (?:executing|calling) tool '?[\w.-]+'?: (?:'[^'\n]{1,80}'|\d+)\s*$",
    r"(?m)^Error (?:executing|calling) tool '?[\w.-]+'?:\s*$",
    r"\b(?:float |integer )?(?:division|modulo)(?: or modulo)? by zero\b",
    r"\bmissing \d+ required (?:positional|keyword-only) arguments?:",
    r"\bgot an unexpected keyword argument '",
    r"\bobject of type '\w+' has no len\(\)",
    r"\b(?:not enough|too many) values to unpack\b",
    r"\bname '\w+' is not defined\b",
    r"\bcannot access (?:local|free) variable '",
    r"\bunhashable type: '",
    r"\bcoroutine '[\w.]+' was never awaited\b",
    r"\bexpected str, bytes or os\.PathLike object, not \w+",
    r"\b(?:object|method) is not JSON serializable\b",
    // The TypeScript SDK
    r"\b[\w$]+ is not (?:defined|a constructor)\b",
    r"\bUnexpected token .{1,20} in JSON at position \d+",
    // rmcp and other Rust servers
    r"\btool (?:task )?panicked\b|\bJoinError::Panic\b",
    // Go
    r"\bpanic recovered\b|\bruntime error: ",
    // Java
    r"\b[a-z]+(?:\.[a-z]+)+\.[A-Z]\w*(?:Exception|Error)\b",
];

static COMPILED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| MARKERS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());

/// The part of an error text that marks an unhandled exception.
pub(super) fn sdk_marker(text: &str) -> Option<&str> {
    let head = &text[..text.floor_char_boundary(20_000)];
    COMPILED.iter().find_map(|marker| marker.find(head)).map(|found| {
        let start = head[..found.start()].rfind('\n').map_or(0, |at| at + 1);
        &head[start..]
    })
}

/// True if a text holds a stack trace: then it is not a worded error, whatever its cause.
pub(super) fn is_trace(text: &str) -> bool {
    crate::unhandled_exception::stack::find(text).is_some() || text.contains("Traceback (most recent call last)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_sdks_are_found_and_plain_errors_are_not() {
        assert_eq!(COMPILED.len(), MARKERS.len(), "every pattern compiles");
        for text in [
            "Error executing tool divide: division by zero",
            "Error calling tool 'divide': float division by zero",
            "Error executing tool get_user: 'name'",
            "Error executing tool get_user: 7",
            "Error executing tool f: f() missing 1 required positional argument: 'x'",
            "Error executing tool f: not enough values to unpack (expected 2, got 1)",
            "Error executing tool f: name 'requets' is not defined",
            "MCP error -32603: fetchAll is not defined",
            "org.springframework.dao.DataAccessException: boom",
        ] {
            assert!(sdk_marker(text).is_some(), "{text}");
        }
        for text in [
            "Error executing tool read: File not found: x",
            "Unknown sheet 'x'",
            "the value must not be zero",
            "Error: 'title' is required",
            "invalid literal for int() with base 10: 'x'",
        ] {
            assert_eq!(sdk_marker(text), None, "{text}");
        }
    }
}
