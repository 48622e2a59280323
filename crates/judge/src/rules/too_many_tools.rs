//! Servers with more tools than a model can keep apart.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{ListingView, RuleFaults};

pub(super) const RULE: Rule = Rule {
    id: "USE-011",
    name: "too-many-tools",
    summary: "a server lists more than 40 tools",
    severity: Severity::Warning,
    why: "Models choose worse the more tools there are, and every one of them is paid for in each request. Model \
          vendors advise fewer than 20 at a time, and hosts have cut off at 40.",
    help: "offer fewer, broader tools, or let the configuration choose groups of them",
    bad: Example::Many {
        tool: r#"{"name": "search_letters_{n}", "description": "Searches shelf number {n} of the archive", "inputSchema": {"type": "object"}}"#,
        count: 41,
        filler: 0,
    },
    good: Example::Many {
        tool: r#"{"name": "search_letters_{n}", "description": "Searches shelf number {n} of the archive", "inputSchema": {"type": "object"}}"#,
        count: 40,
        filler: 0,
    },
    fix: None,
    run: Scope::Listing(run),
};

/// More than these are too many.
const MOST: usize = 40;

fn run<'c>(view: &ListingView<'c>, faults: &mut RuleFaults<'_, 'c>) {
    let count = view.tools().len();
    if let (true, Some(list)) = (count > MOST, view.list()) {
        faults.add(list, format!("the server lists {count} tools, more than {MOST}"));
    }
}
