//! Gates of an agent in addition to `expect`: recovery, the choice of a tool, tools that do the same.

use mcprove_model::{Diagnostics, Node, Recovery, ToolSelection};
use serde_json::{Value, json};

use super::budget::count;
use crate::assertion_file::{block, texts};
use crate::field::{self, Field};
use crate::schema::fragment;

const RECOVERY: &[Field] = &[
    Field::optional("allow_unhit", || fragment::flag("Accept that no call meets a fault.")),
    Field::required("max_detection_ms", || fragment::count("The budget for giving up one call that hangs.", 1)),
    Field::optional("max_recovery_ms", || {
        fragment::count("The budget until it has recovered; unbounded when left out.", 0)
    }),
    Field::optional("require_clean_timeout", || {
        fragment::flag("True if it must give up within the budget for detection.")
    }),
];

const SELECTION: &[Field] = &[
    Field::required("expected_tool", || fragment::text("The tool; one of its `equal_function_sets` counts too.")),
    Field::optional("max_total_tokens", || fragment::count("The most tokens a run may use.", 1)),
    Field::optional("min_selection_rate", || {
        json!({
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "The minimum share of runs in which it is called; 1 when left out.",
        })
    }),
];

/// Decodes `recovery`.
pub(super) fn decode_recovery(test: &Node, found: &mut Diagnostics<'_>) -> Option<Recovery> {
    let entry = test.as_map()?.iter().find(|entry| entry.key.text == "recovery" && !entry.value.is_null())?;
    let node = &entry.value;
    field::entries(node, "`recovery`", RECOVERY, found)?;
    let mut flag = |key: &str| {
        let value = node.get(key).filter(|value| !value.is_null());
        value.and_then(|value| found.boolean(value, &format!("`{key}`"))).unwrap_or(false)
    };
    let (require_clean_timeout, allow_unhit) = (flag("require_clean_timeout"), flag("allow_unhit"));
    let max_recovery_ms = count(node, "max_recovery_ms", 0, found);
    if node.get("max_detection_ms").is_none_or(Node::is_null)
        && !texts::is_misspelt(node.as_map()?, "max_detection_ms", &field::keys(RECOVERY))
    {
        let help = "add `max_detection_ms:`, the time within which one call that hangs must be given up";
        found.error_with_help("missing-key", entry.key.span, "`recovery` has no `max_detection_ms`", help);
    }
    let max_detection_ms = count(node, "max_detection_ms", 1, found)?;
    Some(Recovery { max_detection_ms, max_recovery_ms, require_clean_timeout, allow_unhit, span: entry.key.span })
}

/// Decodes `tool_selection`.
pub(super) fn decode_tool_selection(test: &Node, found: &mut Diagnostics<'_>) -> Option<ToolSelection> {
    let entry = test.as_map()?.iter().find(|entry| entry.key.text == "tool_selection" && !entry.value.is_null())?;
    let node = &entry.value;
    field::entries(node, "`tool_selection`", SELECTION, found)?;
    let expected = block::named(node, "expected_tool", entry.key.span, found);
    let rate = match node.get("min_selection_rate").filter(|rate| !rate.is_null()) {
        None => 1.0,
        Some(rate) => {
            let share = rate.as_number().and_then(serde_json::Number::as_f64).filter(|s| (0.0..=1.0).contains(s));
            if share.is_none() {
                found.wrong_kind(rate, "`min_selection_rate`", "a number from 0 to 1");
            }
            share.unwrap_or(1.0)
        }
    };
    let max_total_tokens = count(node, "max_total_tokens", 1, found);
    Some(ToolSelection {
        expected_tool: expected?.as_text()?.to_owned(),
        min_selection_rate: rate,
        max_total_tokens,
        span: entry.key.span,
    })
}

/// Decodes `equal_function_sets`.
pub(super) fn decode_sets(test: &Node, found: &mut Diagnostics<'_>) -> Vec<Vec<String>> {
    let Some(sets) = test.get("equal_function_sets").filter(|sets| !sets.is_null()) else { return Vec::new() };
    if sets.as_map().is_some() {
        return mcprove_judge::agent_measures::classes(sets);
    }
    let sets = found.list(sets, "`equal_function_sets`").iter();
    sets.map(|set| texts::list(set, "a set of `equal_function_sets`", found)).collect()
}

/// The JSON Schema of `recovery`.
pub(super) fn recovery_schema() -> Value {
    field::map("Required recovery from injected faults; in virtual time, nothing sleeps.", RECOVERY)
}

/// The JSON Schema of `tool_selection`.
pub(super) fn tool_selection_schema() -> Value {
    field::map("The tool it must choose.", SELECTION)
}
