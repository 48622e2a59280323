//! Collects what is wrong with an authored file while it is decoded, so that thirty mistakes give thirty findings.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use crate::{Entry, Finding, Key, Node, Redactor, SourceFile, Span, nearest};

/// Findings that are kept of one file; the rest is counted. A file with a million mistakes has one that explains them.
const MOST: usize = 2_000;

/// Findings about one file, in the order they were found.
#[derive(Debug)]
pub struct Diagnostics<'s> {
    source: &'s SourceFile,
    findings: Vec<Finding>,
    /// Findings that were not kept, and those of them that make the file unusable.
    left_out: usize,
    left_out_errors: usize,
}

impl<'s> Diagnostics<'s> {
    /// Starts an empty collection for a file.
    pub fn new(source: &'s SourceFile) -> Self {
        Self { source, findings: Vec::new(), left_out: 0, left_out_errors: 0 }
    }

    /// The file spoken of.
    pub fn source(&self) -> &'s SourceFile {
        self.source
    }

    /// Masks secrets in all findings so far.
    pub fn mask(&mut self, secrets: &[String]) {
        if !secrets.is_empty() && !self.findings.is_empty() {
            let redactor = Redactor::new(secrets.iter().map(String::as_str));
            self.findings.iter_mut().for_each(|finding| redactor.finding(finding));
        }
    }

    /// All findings; the last one counts those that were not kept.
    pub fn into_findings(mut self) -> Vec<Finding> {
        let message = format!("{} more mistakes are left out", self.left_out);
        let help = "correct those that are listed first";
        if self.left_out_errors > 0 {
            self.findings.push(Finding::error("too-many", message).help(help));
        } else if self.left_out > 0 {
            self.findings.push(Finding::warning("too-many", message).help(help));
        }
        self.findings
    }

    /// Number of findings so far.
    pub fn count(&self) -> usize {
        self.findings.len() + self.left_out
    }

    /// Number of findings that make the file unusable.
    pub fn error_count(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity.fails()).count() + self.left_out_errors
    }

    /// Adds a finding that makes the file unusable.
    pub fn error(&mut self, rule: &'static str, span: Span, message: impl Into<String>) {
        if self.has_room(true) {
            self.findings.push(Finding::error(rule, message).at(self.source.place(span)));
        }
    }

    /// Adds a finding that makes the file unusable, with what to do next.
    pub fn error_with_help(
        &mut self,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<Cow<'static, str>>,
    ) {
        if self.has_room(true) {
            self.findings.push(Finding::error(rule, message).at(self.source.place(span)).help(help.into()));
        }
    }

    /// Adds a finding that is an error only under `--strict`.
    pub fn warning(&mut self, rule: &'static str, span: Span, message: impl Into<String>, help: Option<String>) {
        if self.has_room(false) {
            let mut finding = Finding::warning(rule, message).at(self.source.place(span));
            finding.help = help;
            self.findings.push(finding);
        }
    }

    /// Adds a finding as it is.
    pub fn add(&mut self, finding: Finding) {
        if self.has_room(finding.severity.fails()) {
            self.findings.push(finding);
        }
    }

    /// True if one more finding is kept; otherwise it is counted.
    fn has_room(&mut self, is_error: bool) -> bool {
        let has_room = self.findings.len() < MOST;
        if !has_room {
            self.left_out += 1;
            self.left_out_errors += usize::from(is_error);
        }
        has_room
    }

    /// The entries of a map whose keys must all be known; what is not a map, or not known, is reported.
    pub fn known_keys<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> &'n [Entry] {
        let Some(entries) = self.map(node, what) else { return &[] };
        for entry in entries {
            if !known.contains(&entry.key.text.as_str()) {
                self.unknown_key(&entry.key, what, known);
            }
        }
        entries
    }

    /// Reports a key that means nothing here.
    pub fn unknown_key(&mut self, key: &Key, what: &str, known: &[&str]) {
        if self.findings.len() >= MOST {
            self.has_room(true);
            return;
        }
        let help = match nearest(&key.text, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known keys of {what}: {}", known.join(", ")),
        };
        self.error_with_help("unknown-key", key.span, format!("unknown key `{}` in {what}", key.text), help);
    }

    /// Reports a value of the wrong kind.
    pub fn wrong_kind(&mut self, node: &Node, what: &str, expected: &str) {
        self.error("wrong-type", node.span, format!("{what} must be {expected}, found {}", node.kind_name()));
    }

    /// The entries of a map.
    pub fn map<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Entry]> {
        let entries = node.as_map();
        if entries.is_none() {
            self.wrong_kind(node, what, "a map");
        }
        entries
    }

    /// The items of a list.
    pub fn list<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        let items = node.as_list();
        if items.is_none() {
            self.wrong_kind(node, what, "a list");
        }
        items.unwrap_or_default()
    }

    /// The items of a list, where a single value stands for a list of one.
    pub fn one_or_many<'n>(&mut self, node: &'n Node) -> &'n [Node] {
        node.as_list().unwrap_or(std::slice::from_ref(node))
    }

    /// A text; numbers and booleans are taken as written.
    pub fn text<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        let text = node.as_text();
        if text.is_none() {
            self.wrong_kind(node, what, "text");
        }
        text
    }

    /// A boolean.
    pub fn boolean(&mut self, node: &Node, what: &str) -> Option<bool> {
        let value = node.as_bool();
        if value.is_none() {
            self.wrong_kind(node, what, "true or false");
        }
        value
    }

    /// A whole number within bounds.
    pub fn count_within(&mut self, node: &Node, what: &str, bounds: RangeInclusive<u64>) -> Option<u64> {
        let count = node.as_count().filter(|count| bounds.contains(count));
        if count.is_none() {
            let (least, most) = bounds.into_inner();
            self.wrong_kind(node, what, &format!("a whole number from {least} to {most}"));
        }
        count
    }

    /// A whole number that is not negative.
    pub fn count_of(&mut self, node: &Node, what: &str) -> Option<u64> {
        let value = node.as_count();
        if value.is_none() {
            self.wrong_kind(node, what, "a whole number, 0 or more");
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;

    #[test]
    fn a_million_mistakes_are_counted_and_the_first_are_kept() {
        let source = SourceFile::new("a.yaml", "a: 1\n");
        let mut found = Diagnostics::new(&source);
        for _ in 0..MOST + 3 {
            found.error("unknown-key", Span::new(0, 1), "unknown key `a`");
        }
        found.warning("odd", Span::new(0, 1), "odd", None);
        assert_eq!((found.count(), found.error_count()), (MOST + 4, MOST + 3));
        let findings = found.into_findings();
        assert_eq!(findings.len(), MOST + 1);
        let last = findings.last().expect("a finding");
        assert_eq!((last.severity, last.message.as_str()), (Severity::Error, "4 more mistakes are left out"));
    }

    #[test]
    fn warnings_that_are_left_out_do_not_make_a_file_unusable() {
        let source = SourceFile::new("a.yaml", "a: 1\n");
        let mut found = Diagnostics::new(&source);
        for _ in 0..=MOST {
            found.warning("odd", Span::new(0, 1), "odd", None);
        }
        assert!(found.into_findings().iter().all(|finding| !finding.severity.fails()));
    }
}
