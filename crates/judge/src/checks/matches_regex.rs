//! `matches_regex`: every one of these patterns is found in the text.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use regex::RegexBuilder;

use super::example::{fails, holds};
use super::{CheckKind, Seen, pattern, shape};
use crate::bounded_regex::BoundedRegex;
use crate::excerpt::{self, quoted};

const NAME: &str = "matches_regex";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "Each of these regular expressions is found somewhere in the text.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["\\d+ files", "^found"]"#, Seen::Text("found 12 files")),
        holds(r#""(?m)^b$""#, Seen::Text("a\nb")),
        fails(r#"["\\d+ files", "^12"]"#, Seen::Text("found 12 files")),
        fails(r#""^b$""#, Seen::Text("a\nb")),
    ],
};

#[derive(Debug)]
struct MatchesRegex {
    regex: BoundedRegex,
    written: String,
}

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    let mut checks = Vec::new();
    for text in shape::texts(NAME, node, found) {
        match pattern::compile(text.text) {
            Ok(regex) => {
                checks.push(shape::planned(NAME, text.span, MatchesRegex { regex, written: text.text.to_owned() }));
            }
            Err(fault) => {
                let message = format!("{} is not a regular expression: {fault}", quoted(text.text));
                let help = "the syntax is that of the `regex` crate: no look-around, no back-references; \
                            a plain `(`, `[`, `*`, `+`, `?` or `.` needs a backslash";
                found.error_with_help("bad-regex", text.span, message, help);
            }
        }
    }
    checks
}

impl Check for MatchesRegex {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        if self.regex.is_match(&seen.text) {
            return Ok(());
        }
        let near = self.looser(&seen.text);
        let view = near.as_ref().map_or(0..0, |(range, _)| range.clone());
        Err(Mismatch {
            message: format!("the text does not match {}", quoted(&self.written)),
            expected: excerpt::around(&self.written, 0..0),
            actual: excerpt::of_text(seen, view),
            diff: None,
            help: near.map(|(_, help)| help),
        })
    }
}

impl MatchesRegex {
    /// The match if case is ignored, or if `^` and `$` also match at the ends of lines.
    fn looser(&self, text: &str) -> Option<(std::ops::Range<usize>, String)> {
        let find = |builder: &mut RegexBuilder| Some(builder.build().ok()?.find(text)?.range());
        if let Some(range) = find(RegexBuilder::new(self.regex.as_str()).case_insensitive(true)) {
            let help = format!("{} would match if case were ignored: begin with `(?i)`", quoted(&text[range.clone()]));
            return Some((range, help));
        }
        let range = find(RegexBuilder::new(self.regex.as_str()).multi_line(true))?;
        let help = "it would match a line: begin with `(?m)` for `^` and `$` to mean the ends of lines".to_owned();
        Some((range, help))
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::{findings, mismatch, text};
    use super::*;

    #[test]
    fn a_pattern_that_is_none_is_a_finding() {
        let findings = findings(NAME, r#"["ok", "(", "(?=x)"]"#);
        assert_eq!(findings.len(), 2);
        assert!(findings.iter().all(|finding| finding.rule == "bad-regex"));
        assert_eq!(findings[0].message, "`(` is not a regular expression: unclosed group");
    }

    #[test]
    fn a_flag_that_would_help_is_named() {
        assert!(mismatch(NAME, r#""HELLO""#, &text("hello")).help.expect("help").contains("(?i)"));
        assert!(mismatch(NAME, r#""^b$""#, &text("a\nb")).help.expect("help").contains("(?m)"));
        assert_eq!(mismatch(NAME, r#""z""#, &text("a")).help, None);
    }
}
