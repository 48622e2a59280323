//! Identity of failures: the tool, the kind, the message without its details, and the shape of the stack.

use std::sync::LazyLock;

use mcprove_model::shorten;
use regex::Regex;

use super::verdict::FuzzVerdict;

/// Number of stack frames that distinguish failures: deep recursion would otherwise never look the same.
const FRAMES: usize = 5;

/// Details that change from call to call, and what stands for them.
const DETAILS: &[(&str, &str)] = &[
    (r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}", "<id>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?", "<time>"),
    // Quoted text is kept if it looks like a name, because names distinguish places.
    (r#""(?:[^"\\]|\\.)*""#, "<text>"),
    (r"'(?:[^'\\]|\\.)*'", "<text>"),
    (r"`[^`]*`", "<text>"),
    (r"(?:/[\w.@+-]+){2,}/?", "<path>"),
    (r"[A-Za-z]:\\[^\s:]+", "<path>"),
    (r"0x[0-9a-fA-F]+", "<n>"),
    (r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", "<n>"),
];

static COMPILED: LazyLock<Vec<(Regex, &'static str)>> =
    LazyLock::new(|| DETAILS.iter().filter_map(|(pattern, sign)| Some((Regex::new(pattern).ok()?, *sign))).collect());

static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^.[A-Za-z_$][\w$.]{0,23}.$").ok());

/// The key under which failures of the same cause are one; none when nothing failed.
pub fn signature(tool: &str, verdict: &FuzzVerdict) -> Option<String> {
    if *verdict == FuzzVerdict::Handled {
        return None;
    }
    let kind = verdict.kind();
    let Some(evidence) = verdict.evidence() else { return Some(format!("{tool} | {kind}")) };
    let mut stack: Vec<&str> = evidence.stack.iter().map(String::as_str).collect();
    stack.dedup();
    stack.truncate(FRAMES);
    let message = normalised(&evidence.message);
    Some(format!("{tool} | {kind} | {message} | {}", stack.join(" > ")))
}

/// A message without the details of one call.
fn normalised(message: &str) -> String {
    let mut text = message.to_owned();
    for (pattern, sign) in COMPILED.iter() {
        let quoted = *sign == "<text>";
        let replaced = pattern.replace_all(&text, |found: &regex::Captures<'_>| {
            let is_name = quoted && NAME.as_ref().is_some_and(|name| name.is_match(&found[0]));
            if is_name { found[0].to_owned() } else { (*sign).to_owned() }
        });
        text = replaced.into_owned();
    }
    shorten(&text.split_whitespace().collect::<Vec<_>>().join(" "), 160).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Evidence;
    use super::*;

    fn crash(message: &str, stack: &[&str]) -> FuzzVerdict {
        let stack = stack.iter().map(|&frame| frame.to_owned()).collect();
        FuzzVerdict::Crash(Evidence { message: message.to_owned(), stack })
    }

    #[test]
    fn details_of_one_call_do_not_tell_failures_apart() {
        assert_eq!(COMPILED.len(), DETAILS.len(), "every pattern compiles");
        for (one, other) in [
            ("invalid value 'aaa bbb' at 17", "invalid value '' at 4"),
            ("no /tmp/x1/a.txt at 2024-01-01T00:00:00Z", "no /tmp/x2/b/c.txt at 2025-12-31T23:59:59.123+02:00"),
            ("id f81d4fae-7dec-41d0-8765-00a0c91e6bf6", "id 00000000-7dec-41d0-8765-00a0c91e6bf6"),
            ("len is 3 but the index is 5", "len is 30 but the index is -1"),
            ("fault at 0xdeadbeef", "fault at 0x12"),
        ] {
            assert_eq!(signature("t", &crash(one, &[])), signature("t", &crash(other, &[])), "{one}");
        }
        let deep: Vec<&str> = vec!["walk"; 12];
        assert_eq!(signature("t", &crash("x", &deep)), signature("t", &crash("x", &["walk"])));
    }

    #[test]
    fn different_causes_stay_different() {
        let reading = |name: &str| crash(&format!("Cannot read properties of undefined (reading '{name}')"), &["run"]);
        assert_ne!(signature("t", &reading("length")), signature("t", &reading("trim")));
        assert_ne!(signature("t", &reading("x")), signature("other", &reading("x")));
        assert_ne!(signature("t", &crash("x", &["a"])), signature("t", &crash("x", &["b"])));
        let leak = FuzzVerdict::Leak(Evidence::new("x"));
        assert_ne!(signature("t", &leak), signature("t", &crash("x", &[])));
        assert_eq!(signature("t", &FuzzVerdict::Hang).as_deref(), Some("t | hang"));
        assert_eq!(signature("t", &FuzzVerdict::Handled), None);
    }
}
