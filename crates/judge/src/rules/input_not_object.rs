//! Input schemas that are not of type object.

use mcprove_model::{Severity, shorten};

use super::{Example, Rule, Scope};
use crate::input_schema::Word;
use crate::lint::{RuleFaults, ToolView};

pub(super) const RULE: Rule = Rule {
    id: "VAL-003",
    name: "input-not-object",
    summary: "the root of an input schema is not of type object",
    severity: Severity::Error,
    why: "Arguments are always an object, and the protocol requires `\"type\": \"object\"` at the root. Clients that \
          check it reject the whole list of tools, not only the one.",
    help: "set `type` to `object` at the root",
    bad: Example::Tool(r#"{"name": "ping", "inputSchema": {"properties": {}}}"#),
    good: Example::Tool(r#"{"name": "ping", "inputSchema": {"type": "object", "properties": {}}}"#),
    fix: None,
    run: Scope::Tool(run),
};

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    let Some((_, root)) = view.tree.sites().next() else { return };
    let Some(kind) = root.word(Word::Type) else {
        faults.add(root.json, "the root of the input schema has no `type`, expected `object`");
        return;
    };
    if !kind.is_text("object") {
        let shown = shorten(kind.raw(), 60).into_owned();
        faults.add(kind, format!("the root of the input schema has the type {shown}, expected `object`"));
    }
}
