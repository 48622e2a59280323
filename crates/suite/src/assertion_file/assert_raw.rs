//! `assert_raw`: send any message, or any text, and judge the reply, if there is one.

use mcprove_model::{Act, Diagnostics, Node, Raw, Vocabulary};
use serde_json::json;

use super::block::{self, Block, DecodedBlock, Input};
use super::texts;
use crate::field::Field;
use crate::schema::fragment;

pub(crate) const BLOCK: Block = Block {
    key: "assert_raw",
    summary: "Send any message, or any text, and judge the reply, if there is one.",
    fields: FIELDS,
    companions: &[],
    needs_server: true,
    decode,
};

const FIELDS: &[Field] = &[
    Field::optional("expect", || fragment::expect(Vocabulary::Raw)),
    Field::optional("method", || fragment::text("The method of the message.")),
    Field::optional("notification", || fragment::flag("Send it without an id.")),
    Field::optional("params", || json!({"description": "The params of the message, of any kind."})),
    Field::optional(
        "text",
        || json!({"type": ["string", "number", "boolean", "null"], "description": "A line that is sent as it is written."}),
    ),
];

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<DecodedBlock> {
    let node = input.node;
    let raw = match node.get("text") {
        Some(text) => decode_text(node, text, found),
        None => decode_message(input, found),
    };
    for key in ["method", "params", "text"] {
        if let Some(value) = node.get(key) {
            input.scope.check(value, found);
        }
    }
    let expect = input.expect(Vocabulary::Raw, found);
    Some(DecodedBlock::new(Act::Raw(raw?), expect))
}

/// A text is sent as it is written; an empty one is an empty line.
fn decode_text(node: &Node, text: &Node, found: &mut Diagnostics<'_>) -> Option<Raw> {
    let entries = node.as_map().unwrap_or_default();
    for other in entries.iter().filter(|entry| matches!(entry.key.text.as_str(), "method" | "notification" | "params"))
    {
        let message = format!("`{}` and `text` are mutually exclusive: `text` is sent unchanged", other.key.text);
        found.error_with_help("two-acts", other.key.span, message, "keep one of the two");
    }
    texts::as_text(text, "`text`", found).map(Raw::Text)
}

fn decode_message(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Raw> {
    let node = input.node;
    let notification = match node.get("notification").filter(|flag| !flag.is_null()) {
        Some(flag) => found.boolean(flag, "`notification`").unwrap_or_default(),
        None => false,
    };
    let params = node.get("params").cloned();
    let has_method = node.get("method").is_some_and(|method| !method.is_null());
    if !has_method && !input.is_misspelt("method") {
        let help = "add `method:`, and `params:` if it has any, or `text:` with what is to be sent";
        found.error_with_help("nothing-done", input.place, "`assert_raw` sends nothing", help);
    }
    let method = block::text(node, "method", found)?;
    Some(Raw::Message { method, params, notification })
}
