//! Invisible characters.

use mcprove_model::Severity;

use super::{Example, Rule, Scope, texts::texts};
use crate::hidden_text::hidden_character;
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "TXT-001",
    name: "hidden-characters",
    summary: "a name, description or schema has invisible characters",
    severity: Severity::Error,
    why: "A model reads what a person does not see: zero-width, bidirectional, tag and control characters hide orders in \
          a tool that was reviewed, and make two names look the same.",
    help: "remove them",
    bad: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters\u200b and returns their titles", "inputSchema": {"type": "object"}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    texts(view.tool, &mut |at, text, is_name| {
        if let Some(letter) = hidden_character(text, is_name) {
            let what = if is_name { "a name" } else { "a text" };
            faults.add(at, format!("{what} has the hidden character U+{:04X}", u32::from(letter)));
        }
    });
}
