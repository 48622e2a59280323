//! `assert_notifications`: call a tool and judge what the server announces meanwhile.

use mcprove_model::{Act, Diagnostics, Vocabulary};
use serde_json::{Value, json};

use super::block::{self, Asked, Block, Caller, Input};
use super::expectation;
use crate::schema::fragment;

pub(crate) const BLOCK: Block = Block {
    key: "assert_notifications",
    summary: "Call a tool and judge what the server announces meanwhile.",
    keys: KEYS,
    required: &["tool"],
    properties,
    companions: &[],
    needs_server: true,
    decode,
};

const KEYS: &[&str] = &["args", "expect", "tool"];

fn properties() -> Value {
    json!({
        "args": fragment::any_map("The arguments of the call."),
        "expect": fragment::expect(Vocabulary::Notifications),
        "tool": fragment::text("The tool to call."),
    })
}

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Asked> {
    let node = &input.entry.value;
    found.map(node, "`assert_notifications`")?;
    found.known_keys(node, "`assert_notifications`", KEYS);
    let caller = Caller { node, what: "`assert_notifications`", span: input.entry.key.span, keys: KEYS };
    let call = block::call(&caller, input.scope, found);
    let expect = expectation::decode(node.get("expect"), Vocabulary::Notifications, input.scope, found);
    Some(Asked::new(Act::Notifications(call?), expect))
}
