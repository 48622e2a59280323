//! `assert_notifications`: call a tool and judge what the server announces meanwhile.

use mcprove_model::{Act, CallTool, Diagnostics, Vocabulary};

use super::block::{Block, DecodedBlock, Input};
use super::time;
use crate::field::Field;
use crate::schema::fragment;

pub(crate) const BLOCK: Block = Block {
    key: "assert_notifications",
    summary: "Call a tool and judge what the server announces meanwhile.",
    fields: FIELDS,
    companions: &[],
    needs_server: true,
    decode,
};

const FIELDS: &[Field] = &[
    Field::optional("args", || fragment::any_map("The arguments of the call.")),
    Field::optional("expect", || fragment::expect(Vocabulary::Notifications)),
    Field::optional("settle", time::settle_schema),
    Field::required("tool", || fragment::text("The tool to call.")),
];

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<DecodedBlock> {
    let call = input.call(found);
    let expect = input.expect(Vocabulary::Notifications, found);
    let settle = time::settle(input.node, found);
    Some(DecodedBlock::new(Act::Notifications(CallTool { settle, ..call? }), expect))
}
