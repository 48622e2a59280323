//! Exceptions nobody caught, as they show in the text of a reply.

/// Marks that stand in stack traces and crash reports, and hardly anywhere else.
const MARKS: &[&str] = &[
    "Traceback (most recent call last)",
    "panicked at",
    "stack backtrace:",
    "goroutine 1 [running]",
    "panic: runtime error",
    "Exception in thread",
    "NullPointerException",
    "Unhandled exception",
    "UnhandledPromiseRejection",
    "Segmentation fault",
    "Cannot read properties of undefined",
    "Cannot read properties of null",
    "is not a function\n",
];

/// The place in a text where an unhandled exception shows, if one does.
pub fn unhandled(text: &str) -> Option<&str> {
    let marked = MARKS.iter().filter_map(|mark| text.find(mark)).min();
    marked.or_else(|| node_frame(text)).map(|at| &text[at..])
}

/// A stack frame of Node: a line that begins with `at` and ends with a line and a column in brackets.
fn node_frame(text: &str) -> Option<usize> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let inner =
            trimmed.strip_prefix("at ").and_then(|rest| rest.strip_suffix(')')).and_then(|rest| rest.rsplit_once('('));
        let numbers = |place: &str| place.rsplit(':').take(2).filter(|part| part.parse::<u32>().is_ok()).count() == 2;
        let is_file = |place: &str| place.contains(['/', '\\']) || place.starts_with("node:");
        if inner.is_some_and(|(_, place)| is_file(place) && numbers(place)) {
            return Some(offset);
        }
        offset += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unhandled;

    #[test]
    fn traces_are_seen_and_plain_errors_are_not() {
        for text in [
            "Traceback (most recent call last):\n  File \"x.py\", line 1",
            "TypeError: x\n    at foo (/srv/index.js:10:5)\n",
            "thread 'main' panicked at src/main.rs:3:5",
        ] {
            assert!(unhandled(text).is_some(), "{text}");
        }
        for text in ["File not found: /tmp/x", "Meet at the (old) bridge", "error at line 3", "at noon (12:30:00)"] {
            assert!(unhandled(text).is_none(), "{text}");
        }
    }
}
