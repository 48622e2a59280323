//! `exact`: these were called, in this order, and nothing else.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use serde_json::Value;

use super::{NONE, tools_of, tools_schema};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};
use crate::diff::{self, Sides};
use crate::excerpt::quoted;

const NAME: &str = "exact";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "Exactly these tools were called, in this order; an empty list asks for no calls at all.",
    decode,
    schema,
    examples: &[
        holds(
            r#"{"type": "exact", "tools": ["read", "edit"]}"#,
            Seen::Trace(r#"[{"tool": "read"}, {"tool": "edit"}]"#),
        ),
        holds(r#"{"type": "exact", "tools": []}"#, Seen::Trace("[]")),
        fails(
            r#"{"type": "exact", "tools": ["edit", "read"]}"#,
            Seen::Trace(r#"[{"tool": "read"}, {"tool": "edit"}]"#),
        ),
        fails(r#"{"type": "exact", "tools": "read"}"#, Seen::Trace(r#"[{"tool": "read"}, {"tool": "read"}]"#)),
        fails(r#"{"type": "exact", "tools": []}"#, Seen::Trace(r#"[{"tool": "read"}]"#)),
    ],
};

#[derive(Debug)]
struct Exact {
    tools: Vec<String>,
}

fn decode(item: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    found.known_keys(item, "`exact`", &["type", "tools"]);
    let tools = super::tools(item, NAME, found);
    tools.map(|tools| shape::planned(NAME, item.span, Exact { tools })).into_iter().collect()
}

fn schema() -> Value {
    super::item_schema(NAME, &[("tools", tools_schema())], &["tools"])
}

impl Check for Exact {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let names = tools_of(seen);
        if names == self.tools {
            return Ok(());
        }
        let same = names.iter().zip(&self.tools).take_while(|(a, b)| a == b).count();
        let at = same + 1;
        let message = match (self.tools.get(same), names.get(same)) {
            (Some(wanted), Some(called)) => {
                format!("call {at} is {}, not {}", quoted(called), quoted(wanted))
            }
            (Some(wanted), None) => format!("the calls end before call {at}, {}", quoted(wanted)),
            (None, Some(called)) => format!("call {at}, {}, is one too many", quoted(called)),
            (None, None) => "the calls differ".to_owned(),
        };
        Err(Mismatch {
            message,
            expected: named::shown(&self.tools, NONE),
            actual: named::shown(&names, NONE),
            diff: (self.tools.len() > 1 && names.len() > 1).then(|| {
                diff::unified(Sides { old: "expected", new: "actual" }, &self.tools.join("\n"), &names.join("\n"))
            }),
            help: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::Trial;

    #[test]
    fn the_first_difference_is_named() {
        let message = |tools: &str, trace: &'static str| {
            let asked = format!(r#"{{"type": "exact", "tools": {tools}}}"#);
            Trial(super::super::CHECKS).mismatch(NAME, &asked, Seen::Trace(trace)).message
        };
        let trace = r#"[{"tool": "a"}, {"tool": "b"}]"#;
        assert_eq!(message(r#"["a", "c"]"#, trace), "call 2 is `b`, not `c`");
        assert_eq!(message(r#"["a", "b", "c"]"#, trace), "the calls end before call 3, `c`");
        assert_eq!(message(r#"["a"]"#, trace), "call 2, `b`, is one too many");
    }
}
