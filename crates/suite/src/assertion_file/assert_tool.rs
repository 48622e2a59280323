//! `assert`: call a tool and judge its result.

use mcprove_model::{Act, CallTool, Diagnostics};

use super::block::{self, Asked, Block, Caller, Input};
use super::expectation;

pub(super) const BLOCK: Block = Block { key: "assert", companions: &[], needs_server: true, decode: Some(decode) };

const KEYS: &[&str] = &["args", "capture_progress", "expect", "tool"];

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Asked> {
    let node = &input.entry.value;
    found.map(node, "`assert`")?;
    found.known_keys(node, "`assert`", KEYS);
    let tool = block::tool(&Caller { node, what: "`assert`", span: input.entry.key.span, keys: KEYS }, found);
    let args = block::arguments(node, found);
    // Progress is always captured here; the key is accepted because older files need it.
    if let Some(flag) = node.get("capture_progress").filter(|flag| !flag.is_null()) {
        found.boolean(flag, "`capture_progress`");
    }
    if let Some(tool) = &tool {
        input.scope.check(tool, found);
    }
    input.scope.check(&args, found);
    let expect = expectation::decode(node.get("expect"), input.scope, found);
    Some(Asked { act: Act::CallTool(CallTool { tool: tool?, args, cancel_after: None, lose_response: false }), expect })
}
