//! `always-holds`: a check that cannot fail.

use mcprove_judge::matchers::is_found_everywhere;
use mcprove_model::{Diagnostics, Entry, Finding, Node};

use super::{Rule, Subject, each_entry, fixes, items};

pub(super) const RULE: Rule = Rule {
    id: "always-holds",
    summary: "A check that cannot fail: it looks for an empty text, or for an expression that is found in any text.",
    why: "A test with such a check looks as if it tested something.",
    bad: "server: {command: x}\nassert:\n  tool: a\n  expect:\n    not_error: true\n    contains: ''\n    \
          matches_regex: [x*]\n",
    good: "server: {command: x}\nassert:\n  tool: a\n  expect:\n    not_error: true\n    contains: a\n    \
           matches_regex: ['^$']\n",
    run,
};

/// Keys that look for texts.
const TEXTS: &[&str] = &[
    "contains",
    "contains-all",
    "contains-any",
    "contains_any",
    "contains_data",
    "ends-with",
    "icontains",
    "starts-with",
    "system_prompt_contains",
];

/// Keys that look for expressions.
const EXPRESSIONS: &[&str] = &["matches_regex", "regex"];

fn run(subject: &Subject<'_>, found: &mut Diagnostics<'_>) {
    each_entry(subject.document, &mut |above, entry, map| {
        let is_expected = above.iter().any(|key| matches!(*key, "expect" | "expect_sampling" | "matcher"));
        let is_negated = above.contains(&"not");
        let key = entry.key.text.as_str();
        if !is_expected || is_negated {
            return;
        }
        let is_idle = |node: &Node| {
            if TEXTS.contains(&key) { is_empty(node) } else { is_expression_for_all(node) }
        };
        if TEXTS.contains(&key) || EXPRESSIONS.contains(&key) {
            for item in items(&entry.value).iter().filter(|item| is_idle(item)) {
                report(entry, item, map, found);
            }
        }
    });
}

fn is_empty(node: &Node) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.is_text() && scalar.text.is_empty())
        || node.as_map().is_some_and(<[Entry]>::is_empty)
}

fn is_expression_for_all(node: &Node) -> bool {
    node.as_text().is_some_and(is_found_everywhere)
}

fn report(entry: &Entry, item: &Node, map: &Node, found: &mut Diagnostics<'_>) {
    let source = found.source();
    let message = format!("`{}` cannot fail: {}", entry.key.text, why(&entry.key.text));
    let mut finding = Finding::warning(RULE.id, message).at(source.place(item.span));
    finding.help = Some("say what must be there, or remove it".to_owned());
    if items(&entry.value).len() == 1 {
        finding.fix = fixes::remove_entry(source, entry, map);
    }
    found.add(finding);
}

fn why(key: &str) -> &'static str {
    if EXPRESSIONS.contains(&key) { "the expression is found in any text" } else { "nothing is in everything" }
}
