//! Objects that require nothing.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};
use crate::tighten::FixStep;

pub(super) const RULE: Rule = Rule {
    id: "SCH-001",
    name: "no-required-list",
    summary: "an object declares properties and requires none of them",
    severity: Severity::Warning,
    why: "Without a `required` list the server cannot rely on any argument being present, and a call with nothing in it \
          is valid. Missing arguments then surface as faults deep in the server instead of as a rejected call.",
    help: "list in `required` what must be there",
    bad: Example::Tool(
        r#"{"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "maxLength": 200}}, "additionalProperties": false}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "maxLength": 200}}, "required": ["query"], "additionalProperties": false}}"#,
    ),
    fix: Some(FixStep::Require),
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (id, site) in view.tree.sites() {
        let Some(presence) = view.tree.presence(id).filter(|presence| presence.none) else { continue };
        let message = "the object declares properties but no `required` list, so the server cannot rely on any of them being there";
        let fault = faults.add(site.json, message);
        if presence.decided_elsewhere {
            let help = "list in `required` what must be there; alternatives or limits in this schema decide what may be, \
                        so `--fix` leaves it alone";
            fault.help(help).by_hand();
        } else if presence.missing.is_empty() {
            let help =
                "list in `required` what must be there; every property has a default, so `--fix` leaves it alone";
            fault.help(help).by_hand();
        }
    }
}
