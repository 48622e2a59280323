//! Tools with the same name.

use std::collections::HashSet;

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{ListingView, RuleFaults, name_of};

pub(super) const RULE: Rule = Rule {
    id: "USE-006",
    name: "duplicate-tool-name",
    summary: "two tools have the same name",
    severity: Severity::Critical,
    why: "A call names its tool, so of two tools with one name a host can reach only one; several hosts reject the \
          whole list.",
    help: "give each tool a name of its own",
    bad: Example::Tools(
        r#"[{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}, {"name": "search_letters", "description": "Searches the archive for photographs, by place and year", "inputSchema": {"type": "object"}}]"#,
    ),
    good: Example::Tools(
        r#"[{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}, {"name": "search_photographs", "description": "Searches the archive for photographs, by place and year", "inputSchema": {"type": "object"}}]"#,
    ),
    fix: None,
    run: Scope::Listing(run),
};

fn run<'c>(view: &ListingView<'c>, faults: &mut RuleFaults<'_, 'c>) {
    let mut seen = HashSet::new();
    for (tool, json) in view.tools() {
        let Some(name) = name_of(json) else { continue };
        if !seen.insert(name.clone()) {
            faults.add_to(
                tool,
                json.get("name").unwrap_or(json),
                format!("another tool before this one is called `{name}` too"),
            );
        }
    }
}
