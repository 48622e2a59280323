//! `only`: nothing but these was called.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use serde_json::Value;

use super::{NONE, tools_of, tools_schema};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};
use crate::excerpt::{self, quoted};

const NAME: &str = "only";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "No tool but these was called; not all of them need be.",
    decode,
    schema,
    examples: &[
        holds(
            r#"{"type": "only", "tools": ["read", "edit", "write"]}"#,
            Seen::Trace(r#"[{"tool": "edit"}, {"tool": "read"}, {"tool": "read"}]"#),
        ),
        holds(r#"{"type": "only", "tools": []}"#, Seen::Trace("[]")),
        fails(r#"{"type": "only", "tools": "read"}"#, Seen::Trace(r#"[{"tool": "edit"}, {"tool": "read"}]"#)),
        fails(r#"{"type": "only", "tools": []}"#, Seen::Trace(r#"[{"tool": "read"}]"#)),
    ],
};

#[derive(Debug)]
struct Only {
    tools: Vec<String>,
}

fn decode(item: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    found.known_keys(item, "`only`", &["type", "tools"]);
    let tools = super::tools(item, NAME, found);
    tools.map(|tools| shape::planned(NAME, item.span, Only { tools })).into_iter().collect()
}

fn schema() -> Value {
    super::item_schema(NAME, &[("tools", tools_schema())], &["tools"])
}

impl Check for Only {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let names = tools_of(seen);
        let mut others: Vec<String> = Vec::new();
        for name in names.iter().filter(|name| !self.tools.contains(name)) {
            if !others.contains(&quoted(name)) {
                others.push(quoted(name));
            }
        }
        if others.is_empty() {
            return Ok(());
        }
        let were = if others.len() == 1 { "was" } else { "were" };
        Err(Mismatch {
            message: format!("{} {were} called too", excerpt::head(&others.join(", "), 120)),
            expected: match self.tools.as_slice() {
                [] => NONE.to_owned(),
                tools => format!("only {}", excerpt::around(&tools.join(", "), 0..0)),
            },
            actual: named::shown(&names, NONE),
            ..Mismatch::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::Trial;

    #[test]
    fn each_other_tool_is_named_once() {
        let seen = Seen::Trace(r#"[{"tool": "b"}, {"tool": "a"}, {"tool": "b"}, {"tool": "c"}]"#);
        let mismatch = Trial(super::super::CHECKS).mismatch(NAME, r#"{"type": "only", "tools": ["a"]}"#, seen);
        assert_eq!(mismatch.message, "`b`, `c` were called too");
    }
}
