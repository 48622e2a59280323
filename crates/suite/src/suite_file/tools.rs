//! `tools`: call a tool and judge its result, and how it takes wrong requests.

use mcprove_model::{Act, Diagnostics, Entry, Expectation, Kind as NodeKind, Node};
use serde_json::Value;

use super::Suite;
use super::list::Kind;
use super::{claims, negative_path};
use crate::assertion_file::assert_tool;
use crate::assertion_file::block::Input;

pub(super) const KIND: Kind = Kind {
    key: "tools",
    summary: "Call a tool and judge its result.",
    keys: KEYS,
    required: assert_tool::BLOCK.required,
    properties,
    decode,
};

/// Those of `assert`, and what only a file with many tests asks of a tool.
const KEYS: &[&str] = &[
    "args",
    "beside",
    "cancel_after",
    "capture_progress",
    "client_capabilities",
    "expect",
    "fuzz",
    "negative_path",
    "repeat",
    "retry",
    "tool",
];

fn properties() -> Value {
    let mut properties = (assert_tool::BLOCK.properties)();
    properties[claims::KEY] = claims::schema();
    properties[negative_path::KEY] = negative_path::schema();
    properties
}

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let test = &input.entry.value;
    let negative = test.as_map().unwrap_or_default().iter().find(|entry| entry.key.text == negative_path::KEY);
    let negative_path = negative.and_then(|entry| negative_path::decode(&entry.value, test, input.scope, found));
    let claims = claims::decode(test, found);
    let own = [claims::KEY, negative_path::KEY];
    let asked = if own.iter().all(|key| test.get(key).is_none()) {
        (assert_tool::BLOCK.decode)(input, found)?
    } else {
        let call = Entry { key: input.entry.key.clone(), value: without(test, &own) };
        (assert_tool::BLOCK.decode)(&Input { document: &call.value, entry: &call, scope: input.scope }, found)?
    };
    let act = match asked.act {
        Act::CallTool(call) => Act::CallTool(mcprove_model::CallTool { claims, negative_path, ..call }),
        other => other,
    };
    Some((act, asked.expect))
}

/// A map without some of its keys.
pub(super) fn without(map: &Node, keys: &[&str]) -> Node {
    let kept = |entry: &&Entry| !keys.contains(&entry.key.text.as_str());
    let entries = map.as_map().unwrap_or_default().iter().filter(kept).cloned().collect();
    Node { span: map.span, kind: NodeKind::Map(entries) }
}
