//! The text of a snapshot file: sections that people read in review.
//!
//! A section begins with `=== case NAME` or `=== value NAME`, and every line up to the next one is its text. A line of the
//! text that would look like a beginning, or that begins with a backslash, has a backslash before it. A line with
//! characters that cannot be seen, such as a carriage return, is written as a backslash and a JSON string.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;

use mcprove_model::{Snapshot, SnapshotKind, is_active};

const HEAD: &str = "# Stored replies. `mcprove snapshot --update` writes this file; read its changes as you read code.";
const MARK: &str = "=== ";

/// The stored texts of one suite file, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotFile {
    /// The sections.
    pub sections: Vec<Snapshot>,
}

/// A line that is not as this program writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The line, from 1.
    pub line: usize,
    /// Description of the error.
    pub reason: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl SnapshotFile {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut sections: Vec<(SnapshotKind, String, Vec<Cow<'_, str>>)> = Vec::new();
        // The last line ends with a line feed too, so the rest is not a line.
        let text = text.strip_suffix('\n').unwrap_or(text);
        for (index, line) in text.split('\n').enumerate() {
            // Git on Windows may have changed the ends of lines.
            let line = line.strip_suffix('\r').unwrap_or(line);
            if let Some(head) = line.strip_prefix(MARK) {
                let (kind, name) = section(head).map_err(|reason| Unreadable { line: index + 1, reason })?;
                if sections.iter().any(|(k, n, _)| *k == kind && *n == name) {
                    let reason = format!("`{name}` has a section already");
                    return Err(Unreadable { line: index + 1, reason });
                }
                sections.push((kind, name, Vec::new()));
            } else if let Some((_, _, lines)) = sections.last_mut() {
                lines.push(unescaped_line(line).map_err(|reason| Unreadable { line: index + 1, reason })?);
            } else if !line.is_empty() && !line.starts_with('#') {
                let reason = format!("text before the first section, which begins with `{MARK}`");
                return Err(Unreadable { line: index + 1, reason });
            }
        }
        let sections = sections.into_iter().map(|(kind, name, lines)| Snapshot { kind, name, text: lines.join("\n") });
        Ok(Self { sections: sections.collect() })
    }

    /// The text of the file.
    pub fn write(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for section in &self.sections {
            let name = escaped_name(&section.name);
            let _ = writeln!(text, "{MARK}{} {name}", word(section.kind));
            for line in section.text.split('\n') {
                if line.chars().any(is_hidden) {
                    let _ = writeln!(text, "\\{}", json_string(line));
                    continue;
                }
                if line.starts_with(MARK) || line.starts_with('\\') {
                    text.push('\\');
                }
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }

    /// A stored text.
    pub fn get(&self, kind: SnapshotKind, name: &str) -> Option<&str> {
        let found = self.sections.iter().find(|section| section.kind == kind && section.name == name);
        found.map(|section| section.text.as_str())
    }

    /// Stores a text, in the place of an earlier one of the same name.
    pub fn set(&mut self, snapshot: Snapshot) {
        let same = |known: &&mut Snapshot| known.kind == snapshot.kind && known.name == snapshot.name;
        match self.sections.iter_mut().find(same) {
            Some(known) => known.text = snapshot.text,
            None => self.sections.push(snapshot),
        }
    }
}

fn word(kind: SnapshotKind) -> &'static str {
    match kind {
        SnapshotKind::Case => "case",
        SnapshotKind::Value => "value",
    }
}

fn section(head: &str) -> Result<(SnapshotKind, String), String> {
    let (kind, name) = head.split_once(' ').ok_or_else(|| "a section needs a name".to_owned())?;
    let kind = match kind {
        "case" => SnapshotKind::Case,
        "value" => SnapshotKind::Value,
        other => return Err(format!("a section is a `case` or a `value`, not `{other}`")),
    };
    Ok((kind, unescaped_name(name)))
}

/// True for characters that would not survive a review: a tab does.
fn is_hidden(c: char) -> bool {
    c != '\t' && is_active(c)
}

/// A line as a JSON string in which everything can be seen.
fn json_string(line: &str) -> String {
    let mut text = String::from("\"");
    for c in line.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\r' => text.push_str("\\r"),
            c if is_hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

fn unescaped_line(line: &str) -> Result<Cow<'_, str>, String> {
    match line.strip_prefix('\\') {
        Some(json) if json.starts_with('"') => {
            // A tab is allowed in a line, but not in JSON.
            let text = serde_json::from_str(&json.replace('\t', "\\t"));
            text.map(Cow::Owned).map_err(|error| format!("not a JSON string: {error}"))
        }
        rest => Ok(Cow::Borrowed(rest.unwrap_or(line))),
    }
}

/// A name on one line.
fn escaped_name(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped_name(line: &str) -> String {
    let mut name = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        name.push(match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            (c, false) => c,
        });
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn case(name: &str, text: &str) -> Snapshot {
        Snapshot { kind: SnapshotKind::Case, name: name.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_file_reads_as_people_expect() {
        let file = SnapshotFile { sections: vec![case("echo", "result\n\nhi\n"), case("other", "=== case x\n\\")] };
        let text = file.write();
        assert_eq!(text, format!("{HEAD}\n=== case echo\nresult\n\nhi\n\n=== case other\n\\=== case x\n\\\\\n"));
        assert_eq!(SnapshotFile::parse(&text), Ok(file));
    }

    #[test]
    fn what_is_not_a_snapshot_file_says_where() {
        let told = |text: &str| SnapshotFile::parse(text).expect_err(text).to_string();
        assert!(told("hello").starts_with("line 1: text before the first section"));
        assert!(told("# x\n=== thing a").contains("line 2: a section is a `case` or a `value`, not `thing`"));
        assert!(told("=== case a\nx\n=== case a\ny").contains("line 3: `a` has a section already"));
        assert_eq!(SnapshotFile::parse(""), Ok(SnapshotFile::default()));
    }

    #[test]
    fn a_text_takes_the_place_of_the_one_before() {
        let mut file = SnapshotFile::default();
        file.set(case("a", "1"));
        file.set(case("b", "2"));
        file.set(case("a", "3"));
        assert_eq!(file.sections, [case("a", "3"), case("b", "2")]);
        assert_eq!(file.get(SnapshotKind::Value, "a"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(texts in proptest::collection::btree_map("[a-z\\\\\r ]{1,8}", "(=== |case|\\\\|\"|\n|\r\n|\r|\t|\u{1b}|\u{e0041}|\u{feff}|é|x ){0,12}", 0..4)) {
            let sections = texts.iter().map(|(name, text)| case(&format!("n{name}"), text)).collect();
            let file = SnapshotFile { sections };
            prop_assert_eq!(SnapshotFile::parse(&file.write()), Ok(file));
        }
    }
}
