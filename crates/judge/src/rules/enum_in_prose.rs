//! Values that are listed in words only.

use std::sync::LazyLock;

use mcprove_model::{Severity, shorten};
use regex::Regex;

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::Json;

pub(super) const RULE: Rule = Rule {
    id: "USE-005",
    name: "enum-in-prose",
    summary: "a description lists the values of a string, and the schema does not",
    severity: Severity::Warning,
    why: "Hosts and models keep to an `enum`; values that are listed only in a description are misspelt, translated \
          or made up.",
    help: "list the values in `enum`",
    bad: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "description": "The order: one of 'asc' or 'desc'"}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "enum": ["asc", "desc"], "description": "The order: one of 'asc' or 'desc'"}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, site) in view.tree.sites() {
        if site.condition || !site.allows_type("string") || view.tree.lists_values(id) || site.has(Word::Pattern) {
            continue;
        }
        let Some(description) = site.word(Word::Description).and_then(Json::as_text) else { continue };
        if let Some(values) = listed(&description) {
            let values = shorten(&values.join("`, `"), 80).into_owned();
            faults.add(
                site.json,
                format!("{} may be `{values}` by its description, and anything by its schema", view.tree.noun(id)),
            );
        }
    }
}

/// The values that a text lists after words like "one of", when there are two or more.
fn listed(text: &str) -> Option<Vec<&str>> {
    static LEAD: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"(?i)\b(?:one of|either|must be|can be|allowed values?|valid values?|possible values?|options?)\b";
        Regex::new(words).expect("a regular expression")
    });
    static VALUE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^[\s:,/|(]*(?:(?:are|is|or|and|:)\s+)*(?:"([\w./-]+)"|'([\w./-]+)'|`([\w./-]+)`)"#)
            .expect("a regular expression")
    });
    let lead = LEAD.find(text)?;
    let mut rest = &text[lead.end()..];
    let mut values = Vec::new();
    while let Some(found) = VALUE.captures(rest) {
        values.extend(found.iter().skip(1).flatten().next().map(|value| value.as_str()));
        rest = &rest[found.get(0).map_or(0, |whole| whole.end())..];
    }
    (values.len() > 1).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_after_a_lead() {
        for (text, values) in [
            ("Sort order, one of: 'asc', 'desc'.", Some(vec!["asc", "desc"])),
            ("Must be \"a\" or \"b\"", Some(vec!["a", "b"])),
            ("Valid values are `x`, `y` and `z-1`", Some(vec!["x", "y", "z-1"])),
            ("either 'on' or 'off'", Some(vec!["on", "off"])),
            ("must be 'x'", None),
            ("the file \"a\" or \"b\"", None),
            ("one of the files", None),
            ("", None),
        ] {
            assert_eq!(listed(text), values, "{text}");
        }
    }
}
