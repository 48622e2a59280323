//! `assert_notifications`: call a tool and judge what the server announces meanwhile.

use mcprove_model::{Act, CallTool, Diagnostics, Vocabulary};

use super::block::{self, Block, Caller, DecodedBlock, Input};
use super::{expectation, time};
use crate::field::{self, Field};
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
    let node = &input.entry.value;
    found.map(node, "`assert_notifications`")?;
    found.known_keys(node, "`assert_notifications`", &field::keys(FIELDS));
    let caller =
        Caller { node, what: "`assert_notifications`", span: input.entry.key.span, keys: &field::keys(FIELDS) };
    let call = block::call(&caller, input.scope, found);
    let expect = expectation::decode(node.get("expect"), Vocabulary::Notifications, input.scope, found);
    let settle = time::settle(node, found);
    Some(DecodedBlock::new(Act::Notifications(CallTool { settle, ..call? }), expect))
}
