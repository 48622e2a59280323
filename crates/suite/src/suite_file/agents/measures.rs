//! Blocks that measure what an agent did, each with what is expected of the measure.

use mcprove_judge::agent_measures::{MEASURES, MeasureKind};
use mcprove_model::{AgentGate, Diagnostics, Node, Vocabulary};
use serde_json::Value;

use crate::assertion_file::expectation;
use crate::assertion_file::templates::Scope;
use crate::schema::fragment;

/// Decodes all of them.
pub(super) fn decode(test: &Node, sets: &[Vec<String>], scope: &Scope, found: &mut Diagnostics<'_>) -> Vec<AgentGate> {
    MEASURES.iter().filter_map(|kind| decode_one(kind, test, sets, scope, found)).collect()
}

/// The JSON Schema of a block.
pub(super) fn schema(key: &str) -> Value {
    let Some(kind) = MEASURES.iter().find(|kind| kind.key == key) else { return Value::Null };
    let (mut properties, required) = (kind.schema)();
    properties["expect"] = fragment::expect(Vocabulary::Targets(kind.targets));
    fragment::map(kind.summary, properties, required)
}

fn decode_one(
    kind: &MeasureKind,
    test: &Node,
    sets: &[Vec<String>],
    scope: &Scope,
    found: &mut Diagnostics<'_>,
) -> Option<AgentGate> {
    // A plain list of sets measures nothing by itself.
    let node = test.get(kind.key).filter(|node| !node.is_null() && node.as_list().is_none())?;
    let what = format!("`{}`", kind.key);
    found.map(node, &what)?;
    let (properties, _) = (kind.schema)();
    let known: Vec<&str> =
        properties.as_object().into_iter().flat_map(|map| map.keys().map(String::as_str)).chain(["expect"]).collect();
    found.known_keys(node, &what, &known);
    let measure = (kind.decode)(node, sets, found)?;
    let written = node.get("expect").filter(|expect| expect.as_list().is_none_or(|list| !list.is_empty()));
    let default = Node::from_json(node.span, serde_json::from_str(kind.default).unwrap_or_default());
    let expect = expectation::decode(written.or(Some(&default)), Vocabulary::Targets(kind.targets), scope, found);
    Some(AgentGate { measure, expect })
}
