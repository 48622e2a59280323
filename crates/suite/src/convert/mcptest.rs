//! A suite file of mcptest → the same file without what mcprove does not know. Pure: text in, text out.
//!
//! Keys that mcprove refuses are commented out where they have lines of their own, and cut out elsewhere; each is listed with its
//! place in the original. Comments, order and layout stay.

use std::fmt::Write as _;

use mcprove_model::{Entry, Finding, Kind, Node, Place, Severity, SourceFile};

use crate::schema::editor_line;
use crate::yaml;

/// The start of the line that names the schema of a file to editors.
const EDITOR: &str = "# yaml-language-server:";

/// The most entries that are left out of one file.
const MOST: usize = 1_000;

/// A rewritten file.
#[derive(Debug, Default)]
pub struct Rewritten {
    /// Its text.
    pub text: String,
    /// Keys that were left out, with their places in the original.
    pub left_out: Vec<Finding>,
    /// Number of values that were written in another way.
    pub rewritten: usize,
    /// Other mistakes in the file; with any, it is not written.
    pub errors: Vec<Finding>,
}

/// Rewrites a file; `check` loads a text in its place and returns all findings.
pub fn rewrite(path: &str, original: &str, check: impl Fn(&str) -> Vec<Finding>) -> Rewritten {
    let mut result = Rewritten { text: original.to_owned(), ..Rewritten::default() };
    // Lines that were added above each line of the original are known by these.
    let mut added: Vec<u32> = Vec::new();
    for _ in 0..MOST {
        let errors: Vec<Finding> = check(&result.text).into_iter().filter(is_of_suite).collect();
        let Some(refused) = errors.iter().find(|finding| finding.rule == "unsupported-key") else {
            result.errors = errors;
            break;
        };
        let Some((text, line)) = without(path, &result.text, refused) else {
            result.errors = errors;
            break;
        };
        let mut finding = refused.clone();
        if let Some(Place::Text(place)) = &mut finding.place {
            let above = added.iter().filter(|at| **at <= place.line).count();
            place.line -= u32::try_from(above).unwrap_or(0);
            place.end_line -= u32::try_from(above).unwrap_or(0);
        }
        finding.severity = Severity::Warning;
        finding.message = finding.message.replace("is not supported", "was left out");
        result.left_out.push(finding);
        added.extend(line);
        result.text = text;
    }
    if !result.errors.is_empty() {
        // Places in the original are of more use than those in a text that is not shown.
        let mut of_original: Vec<Finding> = check(original).into_iter().filter(is_of_suite).collect();
        of_original.retain(|finding| finding.rule != "unsupported-key");
        if !of_original.is_empty() {
            result.errors = of_original;
        }
    }
    if result.errors.is_empty() {
        result.rewrite_values(path);
        result.name_schema();
    }
    result
}

impl Rewritten {
    /// Writes values in mcprove's way: its own program, and captured values in braces.
    fn rewrite_values(&mut self, path: &str) {
        let source = SourceFile::new(path.to_owned(), self.text.clone());
        let (documents, _) = yaml::parse(&source);
        let mut edits = Vec::new();
        for server in documents.iter().filter_map(|node| node.get("servers")?.as_map()).flatten() {
            let words = server.value.get("command").and_then(Node::as_list).unwrap_or_default();
            if let [program, mock, ..] = words
                && program.as_text() == Some("mcptest")
                && mock.as_text() == Some("mock")
            {
                edits.push((program.span.start as usize, program.span.end as usize, "mcprove".to_owned()));
            }
        }
        for steps in documents.iter().filter_map(|node| node.get("stepwise")) {
            let (start, end) = (steps.span.start as usize, steps.span.end as usize);
            for (at, _) in self.text[start..end].match_indices("${capture:") {
                let begin = start + at;
                let name = begin + "${capture:".len();
                if let Some(length) = self.text[name..end].find('}') {
                    let replacement = format!("{{{{{}}}}}", &self.text[name..name + length]);
                    edits.push((begin, name + length + 1, replacement));
                }
            }
        }
        edits.sort_unstable();
        self.rewritten = edits.len();
        for (start, end, text) in edits.into_iter().rev() {
            self.text.replace_range(start..end, &text);
        }
    }

    /// Names mcprove's schema to editors in the first line.
    fn name_schema(&mut self) {
        let line = editor_line("suite");
        match self.text.split_once('\n') {
            Some((first, rest)) if first.starts_with(EDITOR) => self.text = format!("{line}{rest}"),
            _ => self.text.insert_str(0, &line),
        }
    }
}

/// True for a mistake in the suite; a variable that is not set here is none.
fn is_of_suite(finding: &Finding) -> bool {
    finding.severity.fails() && finding.rule != "required-variable"
}

/// The text without the entry that a finding is about, and the line that a comment was added above, if one was.
fn without(path: &str, text: &str, finding: &Finding) -> Option<(String, Option<u32>)> {
    let Some(Place::Text(place)) = &finding.place else { return None };
    if place.file != path {
        return None;
    }
    let line_start = line_offset(text, place.line)?;
    let line = &text[line_start..];
    let column = line.char_indices().nth(place.column as usize - 1).map_or(0, |(at, _)| at);
    let source = SourceFile::new(path.to_owned(), text.to_owned());
    let (documents, _) = yaml::parse(&source);
    let found = documents.iter().find_map(|document| find(document, line_start + column))?;
    let (start, end) = extent(found.entry());
    let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let after = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let is_alone = text[begin..start].trim().is_empty()
        && (text[end..after].trim().is_empty() || text[end..after].trim().starts_with('#'))
        && found.entries.len() > 1;
    if is_alone {
        let indent = &text[begin..start];
        let why = finding.help.as_deref().unwrap_or("mcprove does not have it");
        let mut lines = format!("{indent}# left out: {why}\n");
        for line in text[begin..after].lines() {
            let kept = line.strip_prefix(indent).unwrap_or(line);
            let _ = writeln!(lines, "{indent}# {kept}");
        }
        let rest = text[after..].strip_prefix('\n').unwrap_or(&text[after..]);
        return Some((format!("{}{lines}{rest}", &text[..begin]), Some(place.line)));
    }
    let (cut_from, cut_to) = match (found.at.checked_sub(1), found.entries.get(found.at + 1)) {
        (_, Some(next)) => (start, next.key.span.start as usize),
        (Some(before), None) => (extent(&found.entries[before]).1, end),
        (None, None) => return None,
    };
    Some((format!("{}{}", &text[..cut_from], &text[cut_to..]), None))
}

/// An entry of a map.
struct FoundEntry<'n> {
    entries: &'n [Entry],
    at: usize,
}

impl<'n> FoundEntry<'n> {
    fn entry(&self) -> &'n Entry {
        &self.entries[self.at]
    }
}

/// The entry whose key or value begins at an offset; where it is the only one of its map, the entry around it.
fn find(node: &Node, offset: usize) -> Option<FoundEntry<'_>> {
    match &node.kind {
        Kind::Map(entries) => entries.iter().enumerate().find_map(|(at, entry)| {
            let found = FoundEntry { entries, at };
            if entry.key.span.start as usize == offset {
                return Some(found);
            }
            match find(&entry.value, offset) {
                Some(inner) if inner.entries.len() > 1 => Some(inner),
                Some(_) => Some(found),
                None => (entry.value.span.start as usize == offset && entry.value.as_map().is_none()).then_some(found),
            }
        }),
        Kind::List(items) => items.iter().find_map(|item| find(item, offset)),
        Kind::Scalar(_) => None,
    }
}

fn extent(entry: &Entry) -> (usize, usize) {
    (entry.key.span.start as usize, entry.value.span.end.max(entry.key.span.end) as usize)
}

fn line_offset(text: &str, line: u32) -> Option<usize> {
    let before = line.checked_sub(1)? as usize;
    if before == 0 {
        return Some(0);
    }
    text.match_indices('\n').nth(before - 1).map(|(at, _)| at + 1)
}
