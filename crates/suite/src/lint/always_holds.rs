//! `always-holds`: a check that cannot fail.

use mcprove_judge::matchers::{is_found_everywhere, is_true_of_everything};
use mcprove_model::{Diagnostics, Entry, Finding, Node};

use super::{Rule, Subject, each_entry, fixes, items};

pub(super) const RULE: Rule = Rule {
    id: "always-holds",
    summary: "A check that cannot fail: it looks for an empty text, for an expression that is found in any text, or for \
              nothing at least.",
    why: "A test with such a check looks as if it tested something.",
    bad: "server: {command: x}\nassert:\n  tool: a\n  expect:\n    not_error: true\n    contains: ''\n    \
          matches_regex: [x*]\n    in_order: ['']\n    min_progress: 0\n",
    good: "server: {command: x}\nassert:\n  tool: a\n  expect:\n    not_error: true\n    contains: a\n    \
           matches_regex: ['^$']\n    in_order: [a]\n    min_progress: 1\n",
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
    "in_order",
    "starts-with",
    "system_prompt_contains",
];

/// Keys that look for expressions.
const EXPRESSIONS: &[&str] = &["matches_regex", "regex"];

/// Keys that count, whose counts are never below 0.
const LEAST: &[&str] = &["min_count", "min_messages", "min_progress", "min_requests", "min_results"];

/// Keys that bound a number from below: a length is never below 0.
const LEAST_OF_LENGTHS: &[&str] = &["gte"];

fn run(subject: &Subject<'_>, found: &mut Diagnostics<'_>) {
    each_entry(subject.document, &mut |above, entry, map| {
        let is_expected =
            above.iter().any(|key| matches!(*key, "expect" | "expect_notification" | "expect_sampling" | "matcher"));
        let is_negated = above.contains(&"not");
        let key = entry.key.text.as_str();
        if !is_expected || is_negated {
            return;
        }
        let is_of_length = above.last() == Some(&"length") && LEAST_OF_LENGTHS.contains(&key);
        let is_zero = entry.value.as_number().and_then(serde_json::Number::as_f64).is_some_and(|least| least <= 0.0);
        let is_true = key == "cel" && entry.value.as_text().is_some_and(is_true_of_everything);
        if is_true || is_zero && (is_of_length || LEAST.contains(&key)) {
            report(entry, &entry.value, map, found);
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
    if key == "cel" {
        return "it is true of any value";
    }
    if LEAST.contains(&key) || LEAST_OF_LENGTHS.contains(&key) {
        return "there are never fewer than 0";
    }
    if EXPRESSIONS.contains(&key) { "the expression is found in any text" } else { "nothing is in everything" }
}

#[cfg(test)]
mod tests {
    use mcprove_model::{Revision, SourceFile};

    use crate::{lint::lint, yaml};

    fn found(expect: &str) -> usize {
        let text = format!("server: {{command: x}}\nassert: {{tool: a, expect: {expect}}}\n");
        let source = SourceFile::new("a.yaml", text.as_str());
        let (documents, _) = yaml::parse(&source);
        lint(&source, &documents, Revision::NEWEST).iter().filter(|finding| finding.rule == super::RULE.id).count()
    }

    #[test]
    fn lower_bounds_of_nothing_are_found() {
        for expect in [
            "{in_order: ['']}",
            "{min_progress: 0}",
            "{min_results: 0}",
            "{expect_notification: {method: x, min_count: 0}}",
            "[{target: a, matcher: {length: {gte: 0}}}]",
            "[{target: a, matcher: {cel: 'true'}}]",
            "[{target: a, matcher: {cel: '1 + 1 == 2'}}]",
        ] {
            assert_eq!(found(expect), 1, "{expect}");
        }
    }

    #[test]
    fn what_can_fail_is_not_found() {
        for expect in [
            "{in_order: [a]}",
            "{min_progress: 1}",
            "{max_results: 0}",
            "[{target: a, matcher: {gte: 0}}]",
            "[{target: a, matcher: {length: {lte: 0}}}]",
            "[{target: a, matcher: {cel: 'value'}}]",
            "[{target: a, matcher: {cel: 'false'}}]",
            "[{target: a, matcher: {cel: '('}}]",
            "[{target: a, matcher: {not: {cel: 'true'}}}]",
        ] {
            assert_eq!(found(expect), 0, "{expect}");
        }
    }
}
