//! Names longer than hosts take.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "POR-001",
    name: "long-tool-name",
    summary: "a tool name has more than 64 characters",
    severity: Severity::Warning,
    why: "OpenAI and many hosts take 64 characters at most, and they put the name of the server before it: the \
          request with such a tool is rejected as a whole, or the tool is left out.",
    help: "shorten the name to 64 characters, better to 40",
    bad: Example::Tool(
        r#"{"name": "search_the_archive_for_letters_of_any_author_by_place_year_and_mention", "inputSchema": {"type": "object"}}"#,
    ),
    good: Example::Tool(r#"{"name": "search_letters", "inputSchema": {"type": "object"}}"#),
    fix: None,
    run: Scope::Tool(run),
};

/// Characters that every host takes.
const MOST: usize = 64;

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let count = view.name.as_deref().map_or(0, |name| name.chars().count());
    if count > MOST {
        let at = view.tool.get("name").unwrap_or(view.tool);
        faults.add(at, format!("the name has {count} characters, more than {MOST}"));
    }
}
