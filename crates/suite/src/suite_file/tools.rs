//! `tools`: call a tool and judge its result.

use mcprove_model::{Act, Diagnostics, Expectation};

use super::Suite;
use super::list::Kind;
use crate::assertion_file::assert_tool;
use crate::assertion_file::block::Input;

pub(super) const KIND: Kind = Kind {
    key: "tools",
    summary: "Call a tool and judge its result.",
    keys: assert_tool::BLOCK.keys,
    required: assert_tool::BLOCK.required,
    properties: assert_tool::BLOCK.properties,
    decode,
};

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let asked = (assert_tool::BLOCK.decode)(input, found)?;
    Some((asked.act, asked.expect))
}
