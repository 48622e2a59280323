//! Tools whose names look the same.

use std::borrow::Cow;

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::hidden_text::{is_transposed, looks_like};
use crate::lint::{ListingView, RuleFaults, name_of};

pub(super) const RULE: Rule = Rule {
    id: "TXT-003",
    name: "look-alike-tool-names",
    summary: "two tool names look the same, or differ by two letters that changed places",
    severity: Severity::Warning,
    why: "A name that looks like another one is how a tool takes the calls that were meant for that: letters of another \
          script, `0` for `o`, `fiel` for `file`. If it is a typo, models will make the other one.",
    help: "rename one of them",
    bad: Example::Tools(
        r#"[{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}, {"name": "search_1etters", "description": "Searches the archive for photographs, by place and year", "inputSchema": {"type": "object"}}]"#,
    ),
    good: Example::Tools(
        r#"[{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}, {"name": "search_letter", "description": "Searches one letter, by place and year", "inputSchema": {"type": "object"}}]"#,
    ),
    fix: None,
    run: Scope::Listing(run),
};

/// The most names that are compared with each other.
const MOST: usize = 500;

fn run<'c>(view: &ListingView<'c>, faults: &mut RuleFaults<'_, 'c>) {
    let mut seen: Vec<(Cow<'_, str>, String)> = Vec::new();
    for (tool, json) in view.tools().take(MOST) {
        let Some(name) = name_of(json) else { continue };
        let look = looks_like(&name);
        // Names that differ in case alone are another rule's matter.
        let is_like = |(other, other_look): &&(Cow<'_, str>, String)| {
            !other.eq_ignore_ascii_case(&name) && (*other_look == look || is_transposed(other, &name))
        };
        if let Some((other, _)) = seen.iter().find(is_like) {
            faults.add_to(tool, json.get("name").unwrap_or(json), format!("`{name}` looks like the tool `{other}`"));
        }
        seen.push((name, look));
    }
}
