//! JSON that is safe to print: what a terminal or a CI system would obey is written as `\u` escapes.
//!
//! The escaped characters can only stand inside JSON strings, so the escapes mean the same text.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};

/// Indented by two, with a line break at the end.
pub fn pretty(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b"  "));
    // Our own types have string keys and no failing serialisers; memory takes every byte.
    let _ = value.serialize(&mut serializer);
    bytes.push(b'\n');
    escaped(String::from_utf8(bytes).unwrap_or_default(), is_obeyed)
}

/// Without white space and safe inside `<script>`: no `<`, so no tag can begin or end in it.
pub(crate) fn for_script(value: &impl Serialize) -> String {
    escaped(serde_json::to_string(value).unwrap_or_default(), |c| c == '<' || is_obeyed(c))
}

/// Without white space, on one line.
pub fn line(value: &impl Serialize) -> String {
    escaped(serde_json::to_string(value).unwrap_or_default(), is_obeyed)
}

/// A string with its quotes.
pub(crate) fn string(text: &str) -> String {
    escaped(serde_json::to_string(text).unwrap_or_default(), is_obeyed)
}

fn is_obeyed(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn escaped(json: String, must: fn(char) -> bool) -> String {
    if !json.contains("##") && !json.contains(must) {
        return json;
    }
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    let mut last = '\0';
    for c in json.chars() {
        // The second `#` of `##[` and its like is enough to break the command up.
        if must(c) || c == '#' && last == '#' {
            let _ = write!(safe, "\\u{:04x}", u32::from(c));
        } else {
            safe.push(c);
        }
        last = c;
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_mean_the_same_text() {
        let hostile = "##[error]</script>\u{9b}\u{2028}<!--\u{1b}[31m###";
        for json in [pretty(&hostile), for_script(&hostile), string(hostile)] {
            assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), hostile);
            assert!(!json.contains("##"), "{json}");
            assert!(!json.contains('\u{9b}'), "{json}");
        }
        assert!(!for_script(&hostile).contains('<'));
    }
}
