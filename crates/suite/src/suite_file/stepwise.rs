//! `stepwise`: calls one after the other, each with what it expects; rewritten to a test of `tools` whose setup steps are all
//! calls but the last.

use mcprove_model::{Diagnostics, Entry, Key, Kind as NodeKind, Node, Span};
use serde_json::Value;

use super::list::Kind;
use super::tools;
use crate::assertion_file;
use crate::field::{self, Field};
use crate::schema::fragment;

/// The key of the list.
pub(super) const KEY: &str = "stepwise";

pub(super) const KIND: Kind = Kind {
    key: KEY,
    summary: "Calls one after the other, each with what it expects.",
    fields: &[FIELDS],
    decode: tools::KIND.decode,
};

const FIELDS: &[Field] = &[
    Field::optional("default_server", || fragment::text("The server of steps that name none.")),
    Field::required("steps", || fragment::list("The calls, at least one.", field::map("A step.", STEP))),
];

const STEP: &[Field] = &[
    Field::required("call", || field::map("The call.", CALL)),
    Field::optional("capture", assertion_file::capture_schema),
    Field::optional("expect", || fragment::expect(mcprove_model::Vocabulary::Tool)),
    Field::optional("server", || fragment::text("The server it is for.")),
];

const CALL: &[Field] = &[
    Field::required("tool", || fragment::text("The tool.")),
    Field::optional("args", || fragment::any_map("Its arguments.")),
];

/// The test of `tools` that a test of `stepwise` stands for; what is wrong with its form is reported.
pub(super) fn rewritten(mut test: Node, found: &mut Diagnostics<'_>) -> Option<Node> {
    let span = test.span;
    let place = test.as_map().and_then(<[Entry]>::first).map_or(span, |entry| entry.key.span);
    let NodeKind::Map(entries) = &mut test.kind else {
        found.map(&test, "a test of `stepwise`");
        return None;
    };
    let mut taken = |key: &str| {
        let at = entries.iter().position(|entry| entry.key.text == key)?;
        Some(entries.remove(at).value)
    };
    let (steps, default) = (taken("steps"), taken("default_server"));
    for key in ["tool", "args", "expect", "setup"] {
        if let Some(other) = taken(key) {
            let message = format!("unknown key `{key}` in a test of `stepwise`");
            found.error_with_help("unknown-key", other.span, message, "write it in a step");
        }
    }
    let Some(steps) = steps.filter(|steps| !steps.is_null()) else {
        found.error_with_help("missing-key", place, "this test has no `steps`", "add `steps:`, a list of calls");
        return None;
    };
    let mut calls = Vec::new();
    for step in found.list(&steps, "`steps`") {
        calls.push(step_entries(step, default.as_ref(), found)?);
    }
    let Some(last) = calls.pop() else {
        found.error_with_help("nothing-done", steps.span, "`steps` lists no call", "add at least one");
        return None;
    };
    if !calls.is_empty() {
        // Each step has a place of its own, by which its server is found again.
        let place = |entries: &[Entry]| entries.first().map_or(span, |entry| entry.key.span);
        let steps = calls.into_iter().map(|entries| Node { span: place(&entries), kind: NodeKind::Map(entries) });
        entries.push(entry("setup", span, Node { span, kind: NodeKind::List(steps.collect()) }));
    }
    entries.extend(last);
    Some(test)
}

/// `${capture:NAME}` is `{{NAME}}`, the value that an earlier step captured.
pub(super) fn with_captures(node: &Node) -> Node {
    node.map_text(&mut |text, _| {
        let mut rest = text;
        let mut result = String::new();
        while let Some((before, after)) = rest.split_once("${capture:") {
            let (name, after) = after.split_once('}')?;
            result.push_str(before);
            result.push_str("{{");
            result.push_str(name);
            result.push_str("}}");
            rest = after;
        }
        (rest.len() != text.len()).then(|| Value::String(result + rest))
    })
}

/// The keys of a step of a test, from a step of `stepwise`.
fn step_entries(step: &Node, default: Option<&Node>, found: &mut Diagnostics<'_>) -> Option<Vec<Entry>> {
    let entries = field::entries(step, "a step", STEP, found)?;
    let Some(call) = entries.iter().find(|entry| entry.key.text == "call") else {
        let place = entries.first().map_or(step.span, |entry| entry.key.span);
        found.error_with_help("missing-key", place, "a step has no `call`", "add `call: {tool: NAME, args: {…}}`");
        return None;
    };
    field::entries(&call.value, "`call`", CALL, found)?;
    let mut made: Vec<Entry> = call.value.as_map().unwrap_or_default().to_vec();
    made.extend(entries.iter().filter(|entry| entry.key.text != "call").cloned());
    if let (None, Some(default)) = (step.get("server"), default) {
        made.push(entry("server", default.span, default.clone()));
    }
    Some(made)
}

fn entry(key: &str, span: Span, value: Node) -> Entry {
    Entry { key: Key { text: key.into(), span }, value }
}
