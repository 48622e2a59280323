//! `tools`: call a tool and judge its result, and how it takes wrong requests.

use mcprove_model::{Act, Diagnostics, Expectation};

use super::Suite;
use super::list::Kind;
use super::{claims, fixtures, metamorphic, negative_path, transform};
use crate::assertion_file::assert_tool;
use crate::assertion_file::block::Input;
use crate::field::Field;
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
    let negative = input.entry(negative_path::KEY);
    let negative_path = negative.and_then(|entry| negative_path::decode(&entry.value, input, found)).map(Box::new);
    let claims = claims::decode(input.node, found).map(Box::new);
    let injected = fixtures::named(input.node, suite, found).map(Box::new);
    let default = suite.defaults.transform.as_ref().map(|default| suite.default_at(default, input.place));
    let rewriting = input.node.get(transform::KEY).or(default.as_ref()).filter(|node| !node.is_null());
    let transform = rewriting.and_then(|node| transform::decode(node, found)).map(Box::new);
    let asked = (assert_tool::BLOCK.decode)(input, found)?;
    let act = match asked.act {
        Act::CallTool(call) => {
            Act::CallTool(mcprove_model::CallTool { claims, negative_path, transform, injected, ..call })
        }
        other => other,
    };
    Some((act, asked.expect))
}
