//! Descriptions that say nothing.

use mcprove_model::{Severity, shorten};

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "USE-002",
    name: "vague-description",
    summary: "a description is too short or says no more than the name",
    severity: Severity::Critical,
    why: "A description that repeats the name or stands for one that was never written helps a model no more than \
          none. Twenty characters are the least in which a tool can say what it does.",
    help: "say in a sentence what the tool does, when to use it and what it returns",
    bad: Example::Tool(
        r#"{"name": "search_letters", "description": "Search letters", "inputSchema": {"type": "object"}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

/// Placeholders in place of a real description.
const PLACEHOLDERS: &[&str] = &["todo", "tbd", "fixme", "description", "no description", "lorem ipsum", "placeholder"];
/// The least number of characters in which a tool can say what it does.
pub(super) const LEAST: usize = 20;

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let (Some(text), Some(at)) = (view.description.as_deref(), view.tool.get("description")) else { return };
    let text = text.trim();
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let plain: String = letters(text);
    let name: String = letters(view.name.as_deref().unwrap_or_default());
    let lower = text.to_lowercase();
    if text.is_empty() {
        // Another rule speaks of descriptions that are not there at all.
    } else if plain == name {
        faults.add(at, "the description says no more than the name");
    } else if PLACEHOLDERS
        .iter()
        .any(|word| lower.trim_end_matches(['.', ':', '!']) == *word || lower.starts_with("lorem ipsum"))
    {
        faults.add(at, format!("`{}` is not a description", shorten(text, 40)));
    } else if text.chars().count() < LEAST {
        faults.add(at, format!("the description `{text}` has fewer than {LEAST} characters"));
    }
}
