//! `tool_quality`: judge how the tools of a server describe themselves.

use mcprove_model::{Act, Diagnostics, Expectation, Vocabulary};

use super::Suite;
use super::list::Kind;
use crate::assertion_file::block::Input;
use crate::field::Field;
use crate::schema::fragment;

pub(super) const KIND: Kind = Kind {
    key: "tool_quality",
    summary: "Judge how the tools of a server describe themselves.",
    fields: &[FIELDS],
    decode,
};

const FIELDS: &[Field] = &[Field::optional("expect", || fragment::expect(Vocabulary::ToolQuality))];

#[expect(clippy::unnecessary_wraps, reason = "every kind of test is decoded by a function like this")]
fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    Some((Act::ToolQuality, input.expect(Vocabulary::ToolQuality, found)))
}
