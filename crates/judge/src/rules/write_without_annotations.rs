//! Tools that write and do not say so.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::Json;

pub(super) const RULE: Rule = Rule {
    id: "USE-009",
    name: "write-without-annotations",
    summary: "a tool that changes something has no annotations that say so",
    severity: Severity::Warning,
    why: "Hosts decide by `annotations` what needs the approval of a person. Without them they assume the worst of \
          every tool, and people learn to approve without looking.",
    help: "add `annotations` with `readOnlyHint` or `destructiveHint`",
    bad: Example::Tool(
        r#"{"name": "delete_letter", "description": "Deletes a letter from the archive for good", "inputSchema": {"type": "object"}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "delete_letter", "description": "Deletes a letter from the archive for good", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false, "destructiveHint": true}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

/// Words of a tool's name that tell that it changes something.
const VERBS: &[&str] = &[
    "append",
    "archive",
    "cancel",
    "clear",
    "commit",
    "create",
    "delete",
    "deploy",
    "destroy",
    "drop",
    "edit",
    "erase",
    "execute",
    "grant",
    "insert",
    "install",
    "kill",
    "merge",
    "modify",
    "move",
    "overwrite",
    "patch",
    "post",
    "publish",
    "purge",
    "push",
    "put",
    "remove",
    "rename",
    "replace",
    "reset",
    "restart",
    "revoke",
    "save",
    "send",
    "submit",
    "terminate",
    "truncate",
    "uninstall",
    "update",
    "upload",
    "write",
];

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let Some(name) = view.name.as_deref() else { return };
    let Some(verb) = words(name).into_iter().find(|word| VERBS.contains(&word.as_str())) else { return };
    let annotations = view.tool.get("annotations");
    let says = |hint: &str| annotations.and_then(|all| all.get(hint)).and_then(Json::as_bool).is_some();
    if !says("readOnlyHint") && !says("destructiveHint") {
        let at = annotations.or_else(|| view.tool.get("name")).unwrap_or(view.tool);
        faults.add(at, format!("the tool changes something (`{verb}`) and has no annotations that say so"));
    }
}

/// The words of a name in lower case, whether they are joined by capitals or by signs.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && after_small {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        after_small = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_words() {
        assert_eq!(words("get_user-ByID.v2"), ["get", "user", "by", "id", "v2"]);
        assert_eq!(words("resetDataset"), ["reset", "dataset"]);
        assert!(words("__").is_empty());
    }
}
