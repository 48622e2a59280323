//! `tools`: call a tool and judge its result, and how it takes wrong requests.

use mcprove_model::{Act, Diagnostics, Entry, Expectation, Kind as NodeKind, Node};

use super::Suite;
use super::list::Kind;
use super::{claims, fixtures, metamorphic, negative_path, transform};
use crate::assertion_file::assert_tool;
use crate::assertion_file::block::Input;
use crate::field::{self, Field};
use crate::schema::fragment;

pub(super) const KIND: Kind = Kind {
    key: "tools",
    summary: "Call a tool and judge its result.",
    fields: &[assert_tool::BLOCK.fields, OWN],
    decode,
};

/// Keys of a tool test that only suite files have.
const OWN: &[Field] = &[
    Field::optional(claims::KEY, claims::schema),
    Field::preview(fixtures::INJECT, || {
        fragment::text("The name of an error of `fixtures` that stands in for the answer; the server is not called.")
    }),
    Field::optional("input_responses", || {
        fragment::any_map(
            "Answers to requests for input by their key: what the user enters, or a whole answer (`action`).",
        )
    }),
    Field::preview(metamorphic::KEY, metamorphic::schema),
    Field::optional(negative_path::KEY, negative_path::schema),
    Field::optional(transform::KEY, transform::schema),
];

fn decode(input: &Input<'_>, suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let test = &input.entry.value;
    let negative = test.as_map().unwrap_or_default().iter().find(|entry| entry.key.text == negative_path::KEY);
    let negative_path = negative.and_then(|entry| negative_path::decode(&entry.value, test, input.scope, found));
    let claims = claims::decode(test, found);
    let injected = fixtures::named(test, suite, found).map(Box::new);
    let related = test.as_map().unwrap_or_default().iter().find(|entry| entry.key.text == metamorphic::KEY);
    let related = related.filter(|entry| !entry.value.is_null());
    let metamorphic = related.and_then(|entry| metamorphic::decode(entry, input.scope, found)).map(Box::new);
    let rewriting = test.get(transform::KEY).filter(|node| !node.is_null());
    let transform = rewriting.and_then(|node| transform::decode(node, found)).map(Box::new);
    let own = field::keys(OWN);
    let asked = if own.iter().all(|key| test.get(key).is_none()) {
        (assert_tool::BLOCK.decode)(input, found)?
    } else {
        let call = Entry { key: input.entry.key.clone(), value: without(test, &own) };
        (assert_tool::BLOCK.decode)(&Input { document: &call.value, entry: &call, scope: input.scope }, found)?
    };
    let act = match asked.act {
        Act::CallTool(call) => {
            Act::CallTool(mcprove_model::CallTool { claims, negative_path, transform, metamorphic, injected, ..call })
        }
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
