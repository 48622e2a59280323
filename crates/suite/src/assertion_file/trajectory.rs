//! `trajectory` with `trace` or `audit_log`: judge a sequence of tool calls without any server.

use mcprove_model::{Act, Diagnostics, Node, Trajectory, Vocabulary};
use serde_json::{Value, json};

use super::block::{self, Block, Caller, DecodedBlock, Input};
use super::expectation;
use crate::field::{self, Field};
use crate::schema::fragment;

pub(crate) const BLOCK: Block = Block {
    key: "trajectory",
    summary: "Judge a sequence of tool calls without any server.",
    fields: FIELDS,
    companions: &["audit_log", "trace"],
    needs_server: false,
    decode,
};

const FIELDS: &[Field] = &[
    Field::optional("audit_log", || fragment::text("The path of a log of calls.")),
    Field::optional(
        "trace",
        || json!({"type": "array", "items": field::map("A call.", CALL), "description": "The calls."}),
    ),
    Field::required("trajectory", items_schema),
];

const CALL: &[Field] = &[
    Field::optional("args", || fragment::any_map("Its arguments.")),
    Field::required("tool", || fragment::text("Its tool.")),
];

fn items_schema() -> Value {
    let mut items = mcprove_judge::checks::trajectory_schema();
    items["description"] = "Expectations about the calls.".into();
    items
}

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<DecodedBlock> {
    let document = input.node;
    let source = match (document.get("trace"), document.get("audit_log")) {
        (Some(trace), None) => decode_trace(trace, input, found),
        (None, Some(log)) => decode_log(log, input, found),
        (Some(_), Some(log)) => {
            let help = "give each a file or a `---` document of its own";
            found.error_with_help("two-acts", log.span, "`audit_log` and `trace` are mutually exclusive", help);
            None
        }
        (None, None) => {
            let message = "`trajectory` has no calls to judge";
            let help = "add `trace:` with a list of calls, or `audit_log:` with the path of a log";
            found.error_with_help("missing-key", input.place, message, help);
            None
        }
    };
    let items = document.get("trajectory");
    if items.is_none() && !input.is_misspelt("trajectory") {
        let message = format!("`{}` is there, but no `trajectory` says what it must be like", input.key);
        let help = "add `trajectory:`, for example `- {type: order, tools: [first, second]}`";
        found.error_with_help("missing-key", input.place, message, help);
    }
    // An empty list is worth a word, so it is decoded too.
    let expect = match items {
        Some(items) if items.is_null() => {
            mcprove_judge::checks::decode_trajectory(items, found);
            expectation::decode(None, Vocabulary::Trajectory, input.scope, found)
        }
        items => expectation::decode(items, Vocabulary::Trajectory, input.scope, found),
    };
    Some(DecodedBlock::new(Act::Trajectory(source?), expect))
}

fn decode_trace(trace: &Node, input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Trajectory> {
    let mut is_sound = trace.as_list().is_some();
    for call in found.list(trace, "`trace`") {
        is_sound &= is_call(call, input, found);
    }
    is_sound.then(|| Trajectory::Trace(trace.clone()))
}

fn is_call(call: &Node, input: &Input<'_>, found: &mut Diagnostics<'_>) -> bool {
    let Some(entries) = found.map(call, "a call of `trace`") else { return false };
    let span = entries.first().map_or(call.span, |entry| entry.key.span);
    found.known_keys(call, "a call of `trace`", &field::keys(CALL));
    let caller = Caller { node: call, what: "this call of `trace`", span, keys: &field::keys(CALL) };
    block::call(&caller, input.scope, found).is_some()
}

fn decode_log(log: &Node, input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Trajectory> {
    input.scope.check(log, found);
    let path = found.text(log, "`audit_log`")?;
    if path.trim().is_empty() {
        found.error_with_help("missing-key", log.span, "`audit_log` is empty", "write the path of a log");
        return None;
    }
    Some(Trajectory::AuditLog(log.clone()))
}
