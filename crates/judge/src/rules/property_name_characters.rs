//! Parameter names that hosts do not take.

use mcprove_model::{Severity, shorten};

use super::{Example, Rule, Scope};
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "POR-008",
    name: "property-name-characters",
    summary: "a parameter name has characters or a length that hosts reject",
    severity: Severity::Warning,
    why: "Anthropic takes `^[a-zA-Z0-9_.-]{1,64}$` as names of parameters, and rejects the whole request with one \
          that is different, such as `filter[id]` or `$top`.",
    help: "use at most 64 letters, digits, `_`, `.` and `-`",
    bad: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"filter[id]": {"type": "string"}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "find", "inputSchema": {"type": "object", "properties": {"filter.id": {"type": "string"}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    // Hosts look at the parameters of the tool, not at what is nested in them.
    for parameter in view.tree.parameters() {
        let is_taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let name = &parameter.name;
        if !name.chars().all(is_taken) || name.is_empty() || name.len() > 64 {
            faults.add(
                parameter.schema,
                format!("the parameter name `{}` is not taken by all hosts", shorten(name, 100)),
            );
        }
    }
}
