//! Names with characters that hosts do not take.

use mcprove_model::{Severity, shorten};

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "POR-002",
    name: "tool-name-characters",
    summary: "a tool name has characters other than letters, digits, _ and -",
    severity: Severity::Warning,
    why: "The protocol allows dots and slashes, but Anthropic and OpenAI take `[A-Za-z0-9_-]` only, and reject the \
          whole request with one name that has others.",
    help: "use letters, digits, `_` and `-`",
    bad: Example::Tool(r#"{"name": "letters.search", "inputSchema": {"type": "object"}}"#),
    good: Example::Tool(r#"{"name": "letters_search", "inputSchema": {"type": "object"}}"#),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let name = view.name.as_deref().unwrap_or_default();
    if let Some(c) = name.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-')) {
        let at = view.tool.get("name").unwrap_or(view.tool);
        faults.add(at, format!("the name `{}` has the character `{c}`", shorten(name, 80)));
    }
}
