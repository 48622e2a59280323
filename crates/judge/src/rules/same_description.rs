//! Tools that describe themselves alike.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{ListingView, RuleFaults, name_of};

pub(super) const RULE: Rule = Rule {
    id: "USE-008",
    name: "same-description",
    summary: "two tools have the same description",
    severity: Severity::Warning,
    why: "Of tools with the same description a model takes the first or any; what sets them apart must be said.",
    help: "say in each description when to use this tool rather than the other",
    bad: Example::Tools(
        r#"[{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}, {"name": "search_photographs", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}]"#,
    ),
    good: Example::Tools(
        r#"[{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}, {"name": "search_photographs", "description": "Searches the archive for photographs, by place and year", "inputSchema": {"type": "object"}}]"#,
    ),
    fix: None,
    run: Scope::Listing(run),
};

fn run<'c>(view: &ListingView<'c>, faults: &mut RuleFaults<'_, 'c>) {
    let mut seen: HashMap<String, Option<Cow<'_, str>>> = HashMap::new();
    for (tool, json) in view.tools() {
        let Some(at) = json.get("description") else { continue };
        let text = at.as_text().unwrap_or_default().trim().to_lowercase();
        let name = name_of(json);
        match seen.entry(text) {
            Entry::Occupied(entry) if !entry.key().is_empty() && *entry.get() != name => {
                let other = entry.get().as_deref().unwrap_or("(no name)");
                faults.add_to(tool, at, format!("the tool `{other}` has the same description"));
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(entry) => drop(entry.insert(name)),
        }
    }
}
