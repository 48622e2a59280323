//! More tools than a request may have.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{ListingView, RuleFaults};

pub(super) const RULE: Rule = Rule {
    id: "POR-013",
    name: "more-tools-than-hosts-take",
    summary: "a server lists more than 128 tools",
    severity: Severity::Warning,
    why: "OpenAI and Copilot take 128 tools in a request, of all servers together, and reject it with more.",
    help: "offer fewer tools, or let the configuration choose groups of them",
    bad: Example::Many {
        tool: r#"{"name": "search_letters_{n}", "description": "Searches shelf number {n} of the archive", "inputSchema": {"type": "object"}}"#,
        count: 129,
        filler: 0,
    },
    good: Example::Many {
        tool: r#"{"name": "search_letters_{n}", "description": "Searches shelf number {n} of the archive", "inputSchema": {"type": "object"}}"#,
        count: 128,
        filler: 0,
    },
    fix: None,
    run: Scope::Listing(run),
};

/// Tools that a request may have.
const MOST: usize = 128;

fn run<'c>(view: &ListingView<'c>, faults: &mut RuleFaults<'_, 'c>) {
    let count = view.tools().len();
    if let (true, Some(list)) = (count > MOST, view.list()) {
        faults.add(list, format!("the server lists {count} tools, more than {MOST}"));
    }
}
