//! `assert_sampling`: call a tool that asks a model for help, answer in the model's place, and judge both.

use mcprove_model::{Act, Diagnostics, Node, SamplingReply, Vocabulary};
use serde_json::json;

use super::block::{Block, DecodedBlock, Input, Script};
use super::{expectation, texts};
use crate::field::Field;
use crate::schema::fragment;
use crate::server::client_capabilities;

pub(crate) const BLOCK: Block = Block {
    key: "assert_sampling",
    summary: "Call a tool that asks a model for help, answer in the model's place, and judge both.",
    fields: FIELDS,
    companions: &[],
    needs_server: true,
    decode,
};

const FIELDS: &[Field] = &[
    Field::optional("args", || fragment::any_map("The arguments of the call.")),
    Field::optional("expect", || fragment::expect(Vocabulary::Sampling)),
    Field::optional("expect_sampling", mcprove_judge::checks::sampling_schema),
    Field::optional("mock_model", || fragment::text("The model's name in the answer.")),
    Field::optional("mock_text", || fragment::scalar("What the model answers.")),
    Field::optional("responses", || {
        json!({
            "type": "array",
            "minItems": 1,
            "items": {"anyOf": [fragment::scalar("An answer."), client_capabilities::sampling_reply_schema()]},
            "description": "What the model answers, one after the other; the last one repeats.",
        })
    }),
    Field::optional("stop_reason", || fragment::text("Why the model stopped.")),
    Field::required("tool", || fragment::text("The tool to call.")),
];

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<DecodedBlock> {
    let node = input.node;
    let call = input.call(found);
    // Answers are fixed when the session is opened, before anything is captured.
    let scope = input.scope.before_setup();
    for key in ["mock_model", "mock_text", "responses", "stop_reason"] {
        if let Some(value) = node.get(key) {
            scope.check(value, found);
        }
    }
    let replies = replies(node, found);
    let parts = input.expectations(&["expect", "expect_sampling"]);
    let expect = expectation::decode(parts.as_ref(), Vocabulary::Sampling, input.scope, found);
    let script = Script { replies, span: input.place };
    Some(DecodedBlock { script: Some(script), ..DecodedBlock::new(Act::CallTool(call?), expect) })
}

/// The scripted answers, if any are written.
fn replies(node: &Node, found: &mut Diagnostics<'_>) -> Option<Vec<SamplingReply>> {
    let silent = client_capabilities::silent_model();
    let mut text = |key, default: &str| texts::optional(node, key, found).unwrap_or(default).to_owned();
    let one = SamplingReply {
        text: text("mock_text", &silent.text),
        model: text("mock_model", &silent.model),
        stop_reason: text("stop_reason", &silent.stop_reason),
    };
    let written = |key: &str| node.get(key).filter(|value| !value.is_null());
    match (written("mock_text"), written("responses")) {
        (Some(_), None) => Some(vec![one]),
        (None, None) => None,
        (None, Some(responses)) => {
            let items = found.list(responses, "`responses`");
            if responses.as_list().is_some_and(<[Node]>::is_empty) {
                let help = "write the texts that the model answers, in order";
                found.error_with_help("no-responses", responses.span, "`responses` lists no answers", help);
            }
            let mut reply = |item| client_capabilities::sampling_reply(item, "an answer", &one, found);
            Some(items.iter().filter_map(&mut reply).collect())
        }
        (Some(text), Some(_)) => {
            let help = "put the text first in `responses`, and remove `mock_text`";
            found.error_with_help("two-scripts", text.span, "`mock_text` and `responses` are mutually exclusive", help);
            Some(Vec::new())
        }
    }
}
