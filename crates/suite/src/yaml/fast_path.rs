//! The YAML that most suites are written in, read in one pass: block maps and lists, plain and quoted scalars, and
//! collections in brackets, each on one line.
//!
//! The full parser takes some four hundred instructions for each byte, which is most of what loading ten thousand tests
//! costs. Whatever is not certain here (anchors, tags, block scalars, values over several lines, anything that may be
//! a mistake) is left to it: this reader gives up, and never says that something is wrong. That both read the same is
//! asserted for every file that a build with debug assertions reads.

use std::borrow::Cow;

use mcprove_model::{Entry, Key, Kind, Node, ScalarStyle, Span};

use super::scalar;

/// Deeper files are left to the full parser, which reports its bound.
const MAX_DEPTH: usize = 64;
/// Keys are compared with all others of their map; in larger maps that would take long.
const MAX_KEYS: usize = 64;
/// The full parser has a bound for keys in one line, far above this.
const MAX_KEY: usize = 200;

/// The one document of a text; `None` when it is not all everyday YAML.
pub(super) fn read(text: &str) -> Option<Node> {
    // Tabs and line breaks other than line feeds have special rules, and so has white space outside ASCII.
    let is_odd = |c: char| c != '\n' && (c.is_control() || (c != ' ' && c.is_whitespace()) || c == '\u{feff}');
    // Without an early end, the compiler looks at many bytes at once.
    let has_control = |bytes: &[u8]| bytes.iter().fold(false, |has, byte| has | is_control(*byte));
    if text.as_bytes().chunks(256).any(has_control) || !text.is_ascii() && text.contains(is_odd) {
        return None;
    }
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, depth: 0, entries: Vec::new(), items: Vec::new() };
    let first = reader.next_line()?;
    if first.indent > 0 {
        return None;
    }
    let document = reader.map(first.start, 0)?;
    reader.next_line().is_none().then_some(document)
}

fn is_control(byte: u8) -> bool {
    (byte < b' ' && byte != b'\n') || byte == 0x7f
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// Where the first line begins that has not been read.
    at: usize,
    depth: usize,
    /// The entries of the maps that are being read, so that each map is allocated once, in its size.
    entries: Vec<Entry>,
    /// The items of the lists that are being read.
    items: Vec<Node>,
}

/// A line with something on it.
struct Line {
    indent: usize,
    /// Where its first word begins.
    start: usize,
}

impl Reader<'_> {
    /// The next line with something on it; it stays the next until it is passed.
    fn next_line(&mut self) -> Option<Line> {
        loop {
            let start = self.after_blanks(self.at);
            match self.bytes.get(start)? {
                b'\n' => self.at = start + 1,
                b'#' => self.pass_line(start),
                _ => return Some(Line { indent: start - self.at, start }),
            }
        }
    }

    fn pass_line(&mut self, from: usize) {
        let rest = &self.bytes[from..];
        self.at = from + rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |length| length + 1);
    }

    fn after_blanks(&self, at: usize) -> usize {
        at + self.bytes[at..].iter().take_while(|byte| **byte == b' ').count()
    }

    /// True if the rest of a line is empty, from a place behind blanks.
    fn is_over(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), None | Some(b'\n' | b'#'))
    }

    /// True if a blank or the end of the line comes next, as must behind a `-` or a `:`.
    fn is_apart(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), None | Some(b'\n' | b' '))
    }

    fn is_dash(&self, at: usize) -> bool {
        self.bytes.get(at) == Some(&b'-') && self.is_apart(at + 1)
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Node>) -> Option<Node> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    /// A map or a list that begins on a line of its own.
    fn block(&mut self, line: &Line) -> Option<Node> {
        if self.is_dash(line.start) { self.list(line.start, line.indent) } else { self.map(line.start, line.indent) }
    }

    fn list(&mut self, start: usize, column: usize) -> Option<Node> {
        let first = self.items.len();
        let mut dash = start;
        loop {
            let item = self.after_blanks(dash + 1);
            let read = if self.is_over(item) {
                self.pass_line(item);
                match self.next_line() {
                    Some(line) if line.indent > column => self.nested(|reader| reader.block(&line))?,
                    Some(_) | None => absent(dash + 1),
                }
            } else {
                let inner = column + item - dash;
                if self.is_dash(item) {
                    self.nested(|reader| reader.list(item, inner))?
                } else if self.key(item).is_some() {
                    self.nested(|reader| reader.map(item, inner))?
                } else {
                    self.value(item, column)?
                }
            };
            self.items.push(read);
            match self.next_line() {
                Some(line) if line.indent == column && self.is_dash(line.start) => dash = line.start,
                Some(line) if line.indent > column => return None,
                Some(_) | None => break,
            }
        }
        let end = self.items.last()?.span.end;
        Some(collection(start, end, Kind::List(self.items.drain(first..).collect())))
    }

    fn map(&mut self, start: usize, column: usize) -> Option<Node> {
        let first = self.entries.len();
        let mut at = start;
        loop {
            let (key, behind) = self.key(at)?;
            let value = self.after_blanks(behind);
            let value = if self.is_over(value) {
                self.pass_line(value);
                match self.next_line() {
                    Some(line) if line.indent > column => self.nested(|reader| reader.block(&line))?,
                    // A list may be indented as little as the key it belongs to.
                    Some(line) if line.indent == column && self.is_dash(line.start) => {
                        self.nested(|reader| reader.list(line.start, column))?
                    }
                    Some(_) | None => absent(behind),
                }
            } else {
                self.value(value, column)?
            };
            self.add(first, key, value)?;
            match self.next_line() {
                Some(line) if line.indent == column && !self.is_dash(line.start) => at = line.start,
                Some(line) if line.indent >= column => return None,
                Some(_) | None => break,
            }
        }
        let end = self.entries.last()?.value.span.end;
        Some(collection(start, end, Kind::Map(self.entries.drain(first..).collect())))
    }

    /// A value that begins on the line of its key or dash and must end there; the next line is not indented further.
    fn value(&mut self, start: usize, column: usize) -> Option<Node> {
        let node = match self.bytes[start] {
            b'{' | b'[' | b'"' | b'\'' => self.closed(start)?,
            _ => self.plain(start, |bytes, at| match bytes[at] {
                b'\n' => Ends::Here,
                b'#' if bytes[at - 1] == b' ' => Ends::Here,
                b':' if matches!(bytes.get(at + 1), None | Some(b' ' | b'\n')) => Ends::Unclear,
                _ => Ends::Later,
            })?,
        };
        let end = node.span.end as usize;
        let rest = self.after_blanks(end);
        if !self.is_over(rest) || self.bytes.get(rest) == Some(&b'#') && rest == end {
            return None;
        }
        self.pass_line(rest);
        let ends_here = self.next_line().is_none_or(|line| line.indent <= column);
        ends_here.then_some(node)
    }

    /// A value that says itself where it ends: in quotes or in brackets.
    fn closed(&mut self, start: usize) -> Option<Node> {
        match self.bytes[start] {
            b'{' => self.nested(|reader| reader.braces(start)),
            b'[' => self.nested(|reader| reader.brackets(start)),
            _ => {
                let (text, end) = self.quoted(start)?;
                Some(Node::text_at(Span::new(start, end), &*text))
            }
        }
    }

    fn braces(&mut self, start: usize) -> Option<Node> {
        let first = self.entries.len();
        let end = self.row(start, b'}', |reader, at| {
            let (key, behind) = reader.key(at)?;
            let value = reader.in_brackets(reader.after_blanks(behind))?;
            let end = value.span.end;
            reader.add(first, key, value)?;
            Some(end)
        })?;
        Some(collection(start, end, Kind::Map(self.entries.drain(first..).collect())))
    }

    fn brackets(&mut self, start: usize) -> Option<Node> {
        let first = self.items.len();
        let end = self.row(start, b']', |reader, at| {
            let item = reader.in_brackets(at)?;
            reader.items.push(item);
            reader.items.last().map(|item| item.span.end)
        })?;
        Some(collection(start, end, Kind::List(self.items.drain(first..).collect())))
    }

    /// Reads comma-separated items in brackets; `one` returns the end of each, and the row ends behind its closer.
    fn row(&mut self, start: usize, closer: u8, mut one: impl FnMut(&mut Self, usize) -> Option<u32>) -> Option<u32> {
        let mut at = self.after_blanks(start + 1);
        let mut end = at;
        if self.bytes.get(at) != Some(&closer) {
            loop {
                let behind = one(self, at)? as usize;
                end = self.after_blanks(behind);
                match self.bytes.get(end)? {
                    b',' if self.bytes.get(end + 1) == Some(&b' ') => at = self.after_blanks(end + 1),
                    byte if *byte == closer => break,
                    _ => return None,
                }
            }
        }
        Some(Span::new(end + 1, 0).start)
    }

    /// A value between brackets, where more ends a plain one.
    fn in_brackets(&mut self, start: usize) -> Option<Node> {
        match self.bytes.get(start)? {
            b'{' | b'[' | b'"' | b'\'' => self.closed(start),
            _ => self.plain(start, |bytes, at| match bytes[at] {
                b',' | b']' | b'}' => Ends::Here,
                b'\n' | b'{' | b'[' | b'#' | b'"' | b'\'' | b'?' => Ends::Unclear,
                // The full parser takes a dash that nothing follows for the beginning of a list.
                b'-' if bytes[at - 1] == b' ' && matches!(bytes.get(at + 1), Some(b',' | b']' | b'}')) => Ends::Unclear,
                b':' if !bytes.get(at + 1).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'/') => {
                    Ends::Unclear
                }
                _ => Ends::Later,
            }),
        }
    }

    /// A scalar without quotes, up to where `ends` says, without the blanks before that.
    fn plain(&self, start: usize, ends: impl Fn(&[u8], usize) -> Ends) -> Option<Node> {
        let first = *self.bytes.get(start)?;
        let is_sign = first == b'-' && self.bytes.get(start + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !(is_sign || first >= 0x80 || first.is_ascii_alphanumeric() || b"_$(./+~^\\;=<".contains(&first)) {
            return None;
        }
        let mut end = start + 1;
        while end < self.bytes.len() {
            match ends(self.bytes, end) {
                Ends::Here => break,
                Ends::Later => end += 1,
                Ends::Unclear => return None,
            }
        }
        let text = self.text[start..end].trim_end_matches(' ');
        let span = Span::new(start, start + text.len());
        Some(Node { span, kind: Kind::Scalar(scalar::read(text, ScalarStyle::Plain)) })
    }

    /// The key that begins here, and the place behind its colon.
    fn key(&self, start: usize) -> Option<(Key, usize)> {
        let (text, end) = match self.bytes.get(start)? {
            b'"' | b'\'' => self.quoted(start)?,
            _ => {
                let rest = &self.bytes[start..];
                let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_$./-".contains(&byte);
                let length = rest.iter().take_while(|byte| is_word(**byte)).count();
                // What begins with a dash may be a list, or the end of a document.
                if length == 0 || rest[0] == b'-' {
                    return None;
                }
                (Cow::Borrowed(&self.text[start..start + length]), start + length)
            }
        };
        let is_key = end - start <= MAX_KEY && self.bytes.get(end) == Some(&b':') && self.is_apart(end + 1);
        is_key.then(|| (Key { text: (&*text).into(), span: Span::new(start, end) }, end + 1))
    }

    /// Adds an entry to the map whose entries begin at `first`; a duplicate key is left to the full parser, which reports it.
    fn add(&mut self, first: usize, key: Key, value: Node) -> Option<()> {
        let entries = &self.entries[first..];
        if entries.len() == MAX_KEYS || entries.iter().any(|entry| entry.key.text == key.text) {
            return None;
        }
        self.entries.push(Entry { key, value });
        Some(())
    }

    /// The text in quotes, and the place behind them.
    fn quoted(&self, start: usize) -> Option<(Cow<'_, str>, usize)> {
        let quote = self.bytes[start];
        let mut text = Cow::Borrowed("");
        let mut from = start + 1;
        let mut at = from;
        loop {
            match *self.bytes.get(at)? {
                b'\n' => return None,
                b'\\' if quote == b'"' => {
                    let meant = match self.bytes.get(at + 1)? {
                        b'"' => "\"",
                        b'\\' => "\\",
                        b'/' => "/",
                        b'n' => "\n",
                        b't' => "\t",
                        _ => return None,
                    };
                    text.to_mut().push_str(&self.text[from..at]);
                    text.to_mut().push_str(meant);
                    at += 2;
                    from = at;
                }
                byte if byte == quote && quote == b'\'' && self.bytes.get(at + 1) == Some(&quote) => {
                    text.to_mut().push_str(&self.text[from..=at]);
                    at += 2;
                    from = at;
                }
                byte if byte == quote => break,
                _ => at += 1,
            }
        }
        if text.is_empty() {
            text = Cow::Borrowed(&self.text[from..at]);
        } else {
            text.to_mut().push_str(&self.text[from..at]);
        }
        Some((text, at + 1))
    }
}

/// Result of a test for the end of a plain scalar.
enum Ends {
    Here,
    Later,
    /// The full parser has to say.
    Unclear,
}

fn collection(start: usize, end: u32, kind: Kind) -> Node {
    Node { span: Span { end, ..Span::new(start, start) }, kind }
}

/// A value that was left out.
fn absent(at: usize) -> Node {
    Node { span: Span::new(at, at), kind: Kind::Scalar(scalar::read("", ScalarStyle::Plain)) }
}

#[cfg(test)]
mod tests;
