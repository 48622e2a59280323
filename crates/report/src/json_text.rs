//! JSON that is safe to print: what a terminal or a CI system would obey is written as `\u` escapes.
//!
//! The escaped characters can only occur inside JSON strings, so the escapes mean the same text.

use std::fmt::Write as _;
use std::io;

use mcprove_model::is_active;
use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter, Serializer};

/// The most bytes of one string; the rest is counted. The event log alone has everything.
pub(crate) const STRING_BYTES: usize = 64 << 10;

/// Indented by two, with a line break at the end.
pub fn pretty(value: &impl Serialize) -> String {
    let mut json = written(value, PrettyFormatter::with_indent(b"  "));
    json.push('\n');
    escaped(json, is_obeyed)
}

/// The same with every string in full, for files that are read again.
pub fn stored(value: &impl Serialize) -> String {
    // Our own types have string keys and no failing serialisers.
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    escaped(json + "\n", is_obeyed)
}

/// Without white space and safe inside `<script>`: no `<`, so no tag can begin or end in it.
pub(crate) fn for_script(value: &impl Serialize) -> String {
    escaped(written(value, CompactFormatter), |c| c == '<' || is_obeyed(c))
}

/// Without white space, on one line.
pub fn line(value: &impl Serialize) -> String {
    escaped(written(value, CompactFormatter), is_obeyed)
}

/// A string with its quotes.
pub(crate) fn string(text: &str) -> String {
    line(&text)
}

fn written(value: &impl Serialize, formatter: impl Formatter) -> String {
    let mut bytes = Vec::new();
    let bounded = Bounded { inner: formatter, left: STRING_BYTES, cut: 0 };
    let mut serializer = Serializer::with_formatter(&mut bytes, bounded);
    // Our own types have string keys and no failing serialisers; memory takes every byte.
    let _ = value.serialize(&mut serializer);
    String::from_utf8(bytes).unwrap_or_default()
}

/// Writes at most [`STRING_BYTES`] of each string, and how much was left out.
struct Bounded<F> {
    inner: F,
    left: usize,
    cut: usize,
}

impl<F: Formatter> Formatter for Bounded<F> {
    fn begin_string<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        (self.left, self.cut) = (STRING_BYTES, 0);
        self.inner.begin_string(writer)
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let end = fragment.floor_char_boundary(self.left);
        // What follows a cut is left out, however short it is.
        self.left = if end < fragment.len() { 0 } else { self.left - end };
        self.cut += fragment.len() - end;
        self.inner.write_string_fragment(writer, &fragment[..end])
    }

    fn write_char_escape<W: ?Sized + io::Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        if self.left == 0 {
            self.cut += 1;
            return Ok(());
        }
        self.left -= 1;
        self.inner.write_char_escape(writer, escape)
    }

    fn end_string<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.cut > 0 {
            write!(writer, "… ({} more bytes)", self.cut)?;
        }
        self.inner.end_string(writer)
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.inner.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.inner.begin_object_key(writer, first)
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object_key(writer)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object_value(writer)
    }
}

/// Controls below the space are escaped by every JSON writer.
fn is_obeyed(c: char) -> bool {
    c >= '\u{7f}' && is_active(c)
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
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
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
        let hostile = "##[error]</script>\u{9b}\u{2028}\u{e0041}<!--\u{1b}[31m###";
        for json in [pretty(&hostile), for_script(&hostile), string(hostile)] {
            assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), hostile);
            assert!(!json.contains("##"), "{json}");
            assert!(!json.contains(['\u{9b}', '\u{e0041}']), "{json}");
        }
        assert!(!for_script(&hostile).contains('<'));
    }
    #[test]
    fn long_strings_are_cut_and_the_rest_is_counted() {
        let text = format!("{}é\n\"more", "x".repeat(STRING_BYTES - 1));
        let value = serde_json::json!({"a": [text.clone(), "short"]});
        for json in [pretty(&value), line(&value), for_script(&value)] {
            let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
            let shown = read["a"][0].as_str().expect("a string");
            assert!(shown.ends_with("x… (8 more bytes)"), "{}", &shown[shown.len() - 40..]);
            assert_eq!(read["a"][1], "short");
        }
    }
}
