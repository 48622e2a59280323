//! `nothing-expected`: a test that passes whatever the answer.

use mcprove_model::{Diagnostics, Entry, Node};

use super::{Rule, Subject};
use crate::{assertion_file, suite_file};

pub(super) const RULE: Rule = Rule {
    id: "nothing-expected",
    summary: "A test without `expect` passes whatever the answer, unless it is a protocol error.",
    why: "It shows that the server answers, and nothing about the answer.",
    bad: "servers: {a: {command: x}}\ntools:\n  - {name: one, tool: a}\n",
    good: "servers: {a: {command: x}}\ntools:\n  - {name: one, tool: a, expect: {not_error: true}}\n  \
           - {name: two, tool: a, verify: [{tool: b, expect: {contains: x}}]}\n  \
           - {name: three, tool: a, negative_path: {}}\n  - {name: five, tool: a, fuzz: {}}\n\
           tool_quality: [{name: four}]\n",
    run,
};

/// Keys that say what is expected.
const EXPECT: &[&str] =
    &["expect", "expect_notification", "expect_sampling", "recovery", "tool_selection", "trajectory"];

/// Keys that expect something even where nothing is under them.
const EXPECT_BY_THEMSELVES: &[&str] = &["fuzz", "negative_path", "recovery", "tool_selection"];

/// Lists whose tests expect something even where they do not say so.
const LISTS: &[&str] = &["tool_quality"];

fn run(subject: &Subject<'_>, found: &mut Diagnostics<'_>) {
    let document = subject.document;
    if !suite_file::is_suite(document) {
        if let Some(block) = assertion_file::block_of(document)
            && !expects(&block.value)
            && !is_spread(block)
            && !verifies(document)
        {
            report(block.key.span, found);
        }
        return;
    }
    if document.get("defaultTest").is_some_and(expects) {
        return;
    }
    for entry in document.as_map().unwrap_or_default() {
        if !suite_file::is_list(&entry.key.text) || LISTS.contains(&entry.key.text.as_str()) {
            continue;
        }
        for test in entry.value.as_list().unwrap_or_default() {
            if !expects(test) && !verifies(test) {
                let place = test.as_map().and_then(<[Entry]>::first).map_or(test.span, |first| first.key.span);
                report(place, found);
            }
        }
    }
}

fn report(span: mcprove_model::Span, found: &mut Diagnostics<'_>) {
    let message = "nothing is expected here: it passes whatever the answer, unless it is a protocol error";
    let help = "add `expect:`, for example `expect: {not_error: true}`";
    found.warning(RULE.id, span, message, Some(help.to_owned()));
}

/// A trajectory is itself what is expected.
fn is_spread(block: &Entry) -> bool {
    assertion_file::block::is_spread(&block.key.text)
}

fn expects(node: &Node) -> bool {
    let is_something = |node: &Node| {
        let is_empty = node.as_map().is_some_and(<[Entry]>::is_empty) || node.as_list().is_some_and(<[Node]>::is_empty);
        !node.is_null() && !is_empty
    };
    EXPECT.iter().any(|key| node.get(key).is_some_and(is_something))
        || EXPECT_BY_THEMSELVES.iter().any(|key| node.get(key).is_some())
}

fn verifies(test: &Node) -> bool {
    test.get("verify").and_then(Node::as_list).is_some_and(|steps| steps.iter().any(expects))
}
