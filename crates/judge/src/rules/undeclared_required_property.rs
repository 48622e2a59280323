//! Required properties that are not declared.

use mcprove_model::{Severity, nearest};

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::Json;

pub(super) const RULE: Rule = Rule {
    id: "VAL-006",
    name: "undeclared-required-property",
    summary: "required names a property that is not declared",
    severity: Severity::Error,
    why: "The name in `required` is misspelt, or its property was removed. A closed object can then never be valid; \
          an open one requires a value without a description.",
    help: "correct the name, or declare the property",
    bad: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {"host": {"type": "string"}}, "required": ["hsot"]}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {"host": {"type": "string"}}, "required": ["host"]}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, site) in view.tree.sites() {
        if site.condition || view.tree.takes_undeclared(id) {
            continue;
        }
        for required in site.word(Word::Required).into_iter().flat_map(Json::items) {
            let Some(name) = required.as_text().filter(|name| !view.tree.is_declared(id, name)) else { continue };
            let names: Vec<_> = site.properties().filter_map(|(name, _)| name.as_text()).collect();
            let message = format!("`required` names `{name}`, which is not declared");
            let fault = faults.add(required, message);
            if let Some(near) = nearest(&name, names.iter().map(AsRef::as_ref)) {
                fault.help(format!("did you mean `{near}`?"));
            }
        }
    }
}
