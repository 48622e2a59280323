//! `count`: a tool was called this many times.

use mcprove_model::{Check, Diagnostics, Mismatch, Node, Observation, PlannedCheck};
use serde_json::Value;

use super::{NONE, THREE, described, times, tool_schema, tools_of};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, named, shape};
use crate::excerpt::quoted;

const NAME: &str = "count";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "A tool was called at least `min` and at most `max` times; one of the two may be left out.",
    decode,
    schema,
    examples: &[
        holds(r#"{"type": "count", "tool": "read", "min": 1, "max": 2}"#, THREE),
        holds(r#"{"type": "count", "tool": "read", "max": 0}"#, Seen::Trace("[]")),
        fails(r#"{"type": "count", "tool": "read", "min": 1}"#, Seen::Trace(r#"[{"tool": "edit"}]"#)),
        fails(r#"{"type": "count", "tool": "read", "max": 1}"#, Seen::Trace(r#"[{"tool": "read"}, {"tool": "read"}]"#)),
    ],
};

#[derive(Debug)]
struct Count {
    tool: String,
    least: Option<u64>,
    most: Option<u64>,
}

fn decode(item: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    found.known_keys(item, "`count`", &["type", "tool", "min", "max"]);
    let bound = |key: &str, found: &mut Diagnostics<'_>| {
        item.get(key).filter(|node| !node.is_null()).map(|node| shape::count(key, node, found))
    };
    let (least, most) = (bound("min", found), bound("max", found));
    let tool = super::required(item, NAME, "tool", found);
    if least.is_none() && most.is_none() {
        let message = "`count` has neither `min` nor `max`, so it checks nothing";
        let help = "add `min:` or `max:`; `presence` asks whether a tool was called at all";
        found.warning("nothing-asked", item.span, message, Some(help.to_owned()));
        return Vec::new();
    }
    let (least, most) = (least.flatten(), most.flatten());
    if least.zip(most).is_some_and(|(least, most)| least > most) {
        found.error_with_help("never-holds", item.span, "`min` is more than `max`", "swap them");
        return Vec::new();
    }
    let Some(tool) = tool.and_then(|tool| found.text(tool, "`tool`")) else { return Vec::new() };
    vec![shape::planned(NAME, item.span, Count { tool: tool.to_owned(), least, most })]
}

fn schema() -> Value {
    let properties = [
        ("tool", tool_schema()),
        ("min", described(shape::count_schema(), "The fewest calls.")),
        ("max", described(shape::count_schema(), "The most calls.")),
    ];
    super::item_schema(NAME, &properties, &["tool"])
}

impl Check for Count {
    fn judge(&self, seen: &Observation) -> Result<(), Mismatch> {
        let names = tools_of(seen);
        let calls = names.iter().filter(|name| **name == self.tool).count();
        let count = calls as u64;
        let tool = quoted(&self.tool);
        let called = if count == 0 { "never called".to_owned() } else { format!("called {}", times(calls)) };
        let (than, expected) = match (self.least, self.most) {
            (Some(least), _) if count < least => {
                (format!("fewer than {least} times"), format!("at least {least} calls of {tool}"))
            }
            (_, Some(most)) if count > most => {
                (format!("more than {most} times"), format!("at most {most} calls of {tool}"))
            }
            (Some(_) | None, Some(_) | None) => return Ok(()),
        };
        Err(Mismatch {
            message: format!("{tool} was {called}, {than}"),
            expected,
            actual: named::shown(&names, NONE),
            diff: None,
            help: if count == 0 { named::did_you_mean(&self.tool, &names) } else { None },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::Trial;

    #[test]
    fn bounds_that_cross_are_a_finding() {
        let asked = r#"{"type": "count", "tool": "a", "min": 2, "max": 1}"#;
        assert_eq!(Trial(super::super::CHECKS).findings(NAME, asked)[0].rule, "never-holds");
    }

    #[test]
    fn the_number_of_calls_is_told() {
        let asked = r#"{"type": "count", "tool": "a", "max": 1}"#;
        let seen = Seen::Trace(r#"[{"tool": "a"}, {"tool": "a"}]"#);
        let mismatch = Trial(super::super::CHECKS).mismatch(NAME, asked, seen);
        assert_eq!(mismatch.message, "`a` was called twice, more than 1 times");
        assert_eq!(mismatch.actual, "a → a");
    }
}
