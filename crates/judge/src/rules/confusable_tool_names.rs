//! Tools whose names differ in spelling only.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{ListingView, RuleFaults, name_of};

pub(super) const RULE: Rule = Rule {
    id: "USE-007",
    name: "confusable-tool-names",
    summary: "two tool names differ only in case or separators",
    severity: Severity::Warning,
    why: "A model that means one of `get_user` and `getUser` may write the other, and nothing in the name shows \
          which was meant.",
    help: "rename one of them after what sets it apart",
    bad: Example::Tools(
        r#"[{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}, {"name": "searchLetters", "description": "Searches the archive for photographs, by place and year", "inputSchema": {"type": "object"}}]"#,
    ),
    good: Example::Tools(
        r#"[{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object"}}, {"name": "search_photographs", "description": "Searches the archive for photographs, by place and year", "inputSchema": {"type": "object"}}]"#,
    ),
    fix: None,
    run: Scope::Listing(run),
};

fn run<'c>(view: &ListingView<'c>, faults: &mut RuleFaults<'_, 'c>) {
    let mut seen: HashMap<String, Cow<'_, str>> = HashMap::new();
    for (tool, json) in view.tools() {
        let Some(name) = name_of(json) else { continue };
        let plain = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        match seen.entry(plain) {
            Entry::Vacant(entry) => drop(entry.insert(name)),
            Entry::Occupied(entry) if *entry.get() != name => {
                let at = json.get("name").unwrap_or(json);
                faults.add_to(tool, at, format!("`{name}` is easily mistaken for the tool `{}`", entry.get()));
            }
            // The same name is another rule's matter.
            Entry::Occupied(_) => {}
        }
    }
}
