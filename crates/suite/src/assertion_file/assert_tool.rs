//! `assert`: call a tool and judge its result.

use std::ops::RangeInclusive;
use std::time::Duration;

use mcprove_model::{Act, CallTool, Diagnostics, Node, Span, Vocabulary};
use serde_json::json;

use super::block::{Block, DecodedBlock, Input};
use super::{concurrent_calls, fuzz, texts, time};
use crate::field::Field;
use crate::schema::fragment;
use crate::suite_file::metamorphic;

pub(crate) const BLOCK: Block = Block {
    key: "assert",
    summary: "Call a tool and judge its result.",
    fields: FIELDS,
    companions: &[],
    needs_server: true,
    decode,
};

const REPEATS: RangeInclusive<u64> = 1..=1_000_000;

const FIELDS: &[Field] = &[
    Field::optional("args", || fragment::any_map("The arguments of the call.")),
    Field::optional("beside", concurrent_calls::schema),
    Field::optional("cancel_after", || fragment::duration("Cancel the call after this time.")),
    Field::optional("capture_progress", || fragment::flag("Accepted for older files: progress is always captured.")),
    Field::optional("expect", || fragment::expect(Vocabulary::Tool)),
    Field::optional("fuzz", fuzz::schema),
    Field::optional(metamorphic::KEY, metamorphic::schema),
    Field::optional("repeat", || fragment::count_within("Number of calls in a row; each answer is judged.", &REPEATS)),
    Field::optional("retry", || {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {"lose_response": fragment::flag("Drop the first reply and call again.")},
            "description": "Repeat the call as a client would that lost the reply.",
        })
    }),
    Field::optional("settle", time::settle_schema),
    Field::required("tool", || fragment::text("The tool to call.")),
];

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<DecodedBlock> {
    let node = input.node;
    let call = input.call(found);
    // Progress is always captured here; the key is accepted because older files need it.
    if let Some(flag) = node.get("capture_progress").filter(|flag| !flag.is_null()) {
        found.boolean(flag, "`capture_progress`");
    }
    let cancel_after = time::optional(node, "cancel_after", found);
    let lose_response = lose_response(node, found);
    report_contradictions(input, lose_response, found);
    let expect = input.expect(Vocabulary::Tool, found);
    let repeat = repeat(node, found);
    let fuzz = fuzz::decode(node, input.scope, found);
    let mut call = call?;
    call.cancel_after = cancel_after;
    call.lose_response = lose_response;
    call.repeat = repeat;
    call.beside = concurrent_calls::decode(node, &call.tool, input.scope, found);
    call.fuzz = fuzz;
    call.metamorphic = input
        .entry(metamorphic::KEY)
        .filter(|entry| !entry.value.is_null())
        .and_then(|entry| metamorphic::decode(entry, input.scope, found))
        .map(Box::new);
    call.settle = time::settle(node, found);
    Some(DecodedBlock::new(Act::CallTool(call), expect))
}

/// `retry: {lose_response: true}`.
fn lose_response(block: &Node, found: &mut Diagnostics<'_>) -> bool {
    let Some(retry) = block.get("retry").filter(|retry| !retry.is_null()) else { return false };
    let entries = found.known_keys(retry, "`retry`", &["lose_response"]);
    let flag = entries.iter().find(|entry| entry.key.text == "lose_response");
    let flag = flag.map(|flag| found.boolean(&flag.value, "`lose_response`"));
    let is_quiet = matches!(flag, None | Some(Some(false))) && retry.as_map().is_some();
    if is_quiet && !texts::is_misspelt(entries, "lose_response", &["lose_response"]) {
        let message = "`retry` repeats nothing: only `lose_response: true` does";
        let help = "write `retry: {lose_response: true}`, or remove `retry`".to_owned();
        found.warning("nothing-asked", retry.span, message, Some(help));
    }
    flag.flatten().unwrap_or_default()
}

/// A call whose time is over before it is cancelled is never cancelled.
pub(crate) fn report_late_cancel(act: &Act, block: &Node, timeout: Option<Duration>, found: &mut Diagnostics<'_>) {
    let Act::CallTool(CallTool { cancel_after: Some(cancel_after), .. }) = act else { return };
    let (Some(timeout), Some(node)) = (timeout, block.get("cancel_after")) else { return };
    if *cancel_after >= timeout {
        let message = format!("`cancel_after` is not before the timeout of {timeout:?}, so nothing is cancelled");
        found.error_with_help("never-holds", node.span, message, "cancel earlier, or raise `timeout`");
    }
}

/// `repeat: 3`; once when it is left out.
fn repeat(block: &Node, found: &mut Diagnostics<'_>) -> u32 {
    let Some(times) = block.get("repeat").filter(|times| !times.is_null()) else { return 1 };
    match found.count_within(times, "`repeat`", REPEATS).map(u32::try_from) {
        Some(Ok(times)) => {
            let others = ["beside", "cancel_after", "retry"];
            if let Some(other) = others.into_iter().find(|other| block.get(other).is_some_and(|node| !node.is_null())) {
                let message = format!("`repeat` and `{other}` cannot both be asked of one call");
                found.error_with_help("two-acts", times_span(block), message, "give each a document of its own");
            }
            times
        }
        Some(Err(_)) | None => 1,
    }
}

fn times_span(block: &Node) -> Span {
    block.get("repeat").map_or(block.span, |times| times.span)
}

/// A call that is cancelled and one that is repeated are two different cases, and silence needs a reason.
fn report_contradictions(input: &Input<'_>, lose_response: bool, found: &mut Diagnostics<'_>) {
    let cancel = input.entry("cancel_after").filter(|entry| !entry.value.is_null());
    let cancelled = input.expect.and_then(|expect| expect.get("cancelled"));
    match (cancel, cancelled) {
        (Some(cancel), _) if lose_response => {
            let message = "a call cannot both be cancelled and be repeated because its reply was lost";
            found.error_with_help(
                "two-acts",
                cancel.key.span,
                message,
                "give each a file or a `---` document of its own",
            );
        }
        (Some(cancel), None) => warn_nothing_cancelled(cancel.key.span, found),
        (None, Some(cancelled)) if cancelled.as_bool() == Some(true) => {
            let message = "`cancelled` can never hold: nothing cancels the call";
            found.error_with_help("never-holds", cancelled.span, message, "add for example `cancel_after: 500ms`");
        }
        (Some(_) | None, Some(_) | None) => {}
    }
}

fn warn_nothing_cancelled(span: Span, found: &mut Diagnostics<'_>) {
    let message = "the call is cancelled, but `expect` does not check the outcome";
    found.warning("nothing-asked", span, message, Some("add `cancelled: true` to `expect`".to_owned()));
}
