//! `regex`: a regular expression is found in the value.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Mismatch, Node};
use regex::Regex;
use serde_json::{Value, json};

use crate::bounded_regex::BoundedRegex;

use super::{Decoded, Matcher, MatcherKind, fails, holds, mismatch, shown};

pub(super) const KIND: MatcherKind = MatcherKind {
    name: "regex",
    summary: "The expression is found anywhere in the text, or in the JSON of what is not a text.",
    decode,
    schema: || json!({"type": "string"}),
    examples: &[holds(r#""^a.c$""#, r#""abc""#), fails(r#""^b""#, r#""abc""#), holds(r#""^[0-9]+$""#, "42")],
};

#[derive(Debug)]
struct RegexMatcher(BoundedRegex);

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Decoded {
    match BoundedRegex::compile(found.text(node, "`regex`")?) {
        Ok(regex) => Some(Arc::new(RegexMatcher(regex))),
        Err(why) => {
            let text = format!("this is not a regular expression: {why}");
            found.error_with_help("bad-regex", node.span, text, "look-around and back-references are not supported");
            None
        }
    }
}

/// True if an expression is found in any text whatever; one that is none is found in nothing.
pub fn is_found_everywhere(pattern: &str) -> bool {
    // An expression that must match something, or an end of the text, fails on one of these.
    let texts = ["", "a", "Z9", " ", "\n", "{\"x\": [1]}", "\u{e9}\u{4e2d}"];
    Regex::new(pattern).is_ok_and(|regex| texts.iter().all(|text| regex.is_match(text)))
}

impl Matcher for RegexMatcher {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        if self.0.is_match(&shown(value)) {
            return Ok(());
        }
        Err(mismatch("does not match the expression", self.0.as_str(), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_cannot_fail_are_known() {
        for pattern in ["", ".*", "x*", "a|", "(foo)?", "^"] {
            assert!(is_found_everywhere(pattern), "{pattern}");
        }
        for pattern in ["^$", "^a*$", "x", ".+", "("] {
            assert!(!is_found_everywhere(pattern), "{pattern}");
        }
    }
}
