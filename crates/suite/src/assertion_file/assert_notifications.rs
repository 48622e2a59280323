//! `assert_notifications`: call a tool and judge what the server announces meanwhile.

use mcprove_model::{Act, Diagnostics, Vocabulary};

use super::block::{self, Asked, Block, Caller, Input};
use super::expectation;

pub(crate) const BLOCK: Block = Block { key: "assert_notifications", companions: &[], needs_server: true, decode };

const KEYS: &[&str] = &["args", "expect", "tool"];

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Asked> {
    let node = &input.entry.value;
    found.map(node, "`assert_notifications`")?;
    found.known_keys(node, "`assert_notifications`", KEYS);
    let caller = Caller { node, what: "`assert_notifications`", span: input.entry.key.span, keys: KEYS };
    let call = block::call(&caller, input.scope, found);
    let expect = expectation::decode(node.get("expect"), Vocabulary::Notifications, input.scope, found);
    Some(Asked::new(Act::Notifications(call?), expect))
}
