//! `setup`, `verify` and `teardown`: calls made around the block, and values captured from their replies.

use std::time::Duration;

use mcprove_judge::json_path::JsonPath;
use mcprove_model::{Capture, Diagnostics, Entry, Node, Poll, Span, Step, StepCall, Vocabulary};
use serde_json::{Value, json};

use super::block::{self, Caller};
use super::templates::Scope;
use super::{expectation, texts, time};
use crate::field::{self, Field};
use crate::schema::fragment;
use crate::template::FIXTURE;

const FIELDS: &[Field] = &[
    Field::optional("allow_error", || fragment::flag("True to accept an error of the tool.")),
    Field::optional("args", || fragment::any_map("The arguments of the call.")),
    Field::optional("capture", super::capture_schema),
    Field::optional("expect", || fragment::expect(Vocabulary::ToolStep)),
    Field::optional("poll", || field::map("Repeat the call until its reply is as expected.", POLL)),
    Field::optional("read", || fragment::text("The URI of a resource to read.")),
    Field::optional("restart", || {
        fragment::flag("True to end the server and start it again on the same data, in place of a call.")
    }),
    Field::optional("tool", || fragment::text("The tool to call.")),
];

const POLL: &[Field] = &[
    Field::optional("every", || fragment::duration("The pause between two calls; `200ms` when left out.")),
    Field::optional("timeout", || fragment::duration("The time after which the step fails; `10s` when left out.")),
    Field::required("until", || fragment::expect(Vocabulary::ToolStep)),
];

/// The pause between two polls, and the time after which polling is given up, where nothing else is said.
const EVERY: Duration = Duration::from_millis(200);
const GIVE_UP: Duration = Duration::from_secs(10);

/// Keys of steps that only suite files have.
pub(crate) trait FurtherKeys {
    /// The keys.
    fn fields(&self) -> &'static [Field];

    /// Decodes them, and adds them to the step, if there is one.
    fn decode(&self, node: &Node, step: Option<&mut Step>, found: &mut Diagnostics<'_>);
}

/// Steps of an assertion file, which have none.
pub(super) struct NoFurtherKeys;

impl FurtherKeys for NoFurtherKeys {
    fn fields(&self) -> &'static [Field] {
        &[]
    }

    fn decode(&self, _: &Node, _: Option<&mut Step>, _: &mut Diagnostics<'_>) {}
}

/// Decodes the steps under a key; what each captures becomes known to the ones after it and to what follows.
pub(crate) fn decode(
    owner: &Node,
    key: &'static str,
    further: &dyn FurtherKeys,
    scope: &mut Scope,
    found: &mut Diagnostics<'_>,
) -> Vec<Step> {
    let Some(node) = owner.get(key).filter(|node| !node.is_null()) else { return Vec::new() };
    let steps = found.list(node, &format!("`{key}`"));
    let keys = field::keys(FIELDS.iter().chain(further.fields()));
    let mut decoded = Vec::with_capacity(steps.len());
    for node in steps {
        let mut step = decode_step(node, &Keys { list: key, all: &keys, further }, scope, found);
        further.decode(node, step.as_mut(), found);
        decoded.extend(step);
    }
    decoded
}

/// The JSON Schema of a step, with the keys of one kind of file.
pub(crate) fn schema(further: &'static [Field]) -> Value {
    let mut properties = field::properties(FIELDS.iter().chain(further));
    properties.sort_keys();
    let mut schema = fragment::map("A step.", Value::Object(properties), &[]);
    super::aliases::of_step().describe(&mut schema);
    schema[fragment::DEFINITION] = "step".into();
    schema["oneOf"] = ["tool", "read", "uri", "resource", "restart"].map(|key| json!({"required": [key]})).into();
    schema
}

/// The keys that a step may have.
struct Keys<'k> {
    /// The list it is in.
    list: &'static str,
    all: &'k [&'static str],
    further: &'k dyn FurtherKeys,
}

fn decode_step(node: &Node, keys: &Keys<'_>, scope: &mut Scope, found: &mut Diagnostics<'_>) -> Option<Step> {
    let what = format!("a `{}` step", keys.list);
    let entries = found.map(node, &what)?;
    // A caret under the first key reads better than one under the whole step.
    let place = entries.first().map_or(node.span, |entry| entry.key.span);
    found.known_keys(node, &what, keys.all);
    let read = entries.iter().find(|entry| entry.key.text == "read");
    let restart = entries.iter().find(|entry| entry.key.text == "restart");
    let (call, vocabulary) = match (read, restart) {
        (_, Some(restart)) => (decode_restart(entries, restart, keys, found), Vocabulary::ToolStep),
        (Some(read), None) => (decode_read(node, read, scope, found), Vocabulary::ReadStep),
        (None, None) => {
            let what = format!("this `{}` step", keys.list);
            let caller = Caller { node, what: &what, span: place, keys: keys.all };
            let call = block::call(&caller, scope, found);
            (call.map(|call| StepCall::Tool { tool: call.tool, args: call.args }), Vocabulary::ToolStep)
        }
    };
    let allow_error = match node.get("allow_error").filter(|flag| !flag.is_null()) {
        Some(flag) => found.boolean(flag, "`allow_error`").unwrap_or_default(),
        None => false,
    };
    let expect = expectation::decode(node.get("expect"), vocabulary, scope, found);
    let capture = node.get("capture").map(|capture| decode_captures(capture, found)).unwrap_or_default();
    for capture in &capture {
        scope.add_capture(&capture.name);
    }
    let allow_error = allow_error || expects_error(node.get("expect"));
    let poll = decode_poll(node, vocabulary, scope, found);
    Some(Step { call: call?, server: None, claims: None, expect, capture, allow_error, poll, span: node.span })
}

/// `poll: {until, every, timeout}`: the call is repeated until its reply is as expected.
fn decode_poll(step: &Node, vocabulary: Vocabulary, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<Poll> {
    let entry = step.as_map()?.iter().find(|entry| entry.key.text == "poll" && !entry.value.is_null())?;
    let node = &entry.value;
    let entries = found.map(node, "`poll`")?;
    let known = field::keys(POLL);
    found.known_keys(node, "`poll`", &known);
    let until = node.get("until").filter(|until| !until.is_null());
    if until.is_none() && !texts::is_misspelt(entries, "until", &known) {
        let help = "write for example `poll: {until: {contains: done}, timeout: 10s}`";
        found.error_with_help("missing-key", entry.key.span, "`poll` does not say until when", help);
    }
    let every = time::optional(node, "every", found).unwrap_or(EVERY);
    let timeout = time::optional(node, "timeout", found).unwrap_or(GIVE_UP);
    let until = expectation::decode(until, vocabulary, scope, found);
    Some(Poll { until, every, timeout, span: entry.key.span })
}

fn decode_read(node: &Node, read: &Entry, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<StepCall> {
    for entry in node.as_map().unwrap_or_default() {
        if matches!(entry.key.text.as_str(), "args" | "tool") {
            let message = format!("`{}` and `read` are mutually exclusive: a step does one thing", entry.key.text);
            found.error_with_help("two-acts", entry.key.span, message, "make it a step of its own");
        }
    }
    let uri = block::required_text(node, read, found)?;
    scope.check(&uri, found);
    Some(StepCall::Resource { uri })
}

/// `restart: true` alone: there is no reply to look at.
fn decode_restart(
    entries: &[Entry],
    restart: &Entry,
    keys: &Keys<'_>,
    found: &mut Diagnostics<'_>,
) -> Option<StepCall> {
    let is_other = |key: &str| key != "restart" && !field::has(keys.further.fields(), key);
    for entry in entries.iter().filter(|entry| is_other(&entry.key.text)) {
        let message = format!("`{}` and `restart` are mutually exclusive: a step does one thing", entry.key.text);
        found.error_with_help("two-acts", entry.key.span, message, "make it a step of its own");
    }
    if !found.boolean(&restart.value, "`restart`")? {
        let help = "write `restart: true`, or remove the step";
        found.error_with_help("two-acts", restart.value.span, "a step with `restart: false` does nothing", help);
        return None;
    }
    Some(StepCall::Restart { flag: restart.value.clone() })
}

/// A step that asks for an error accepts one.
fn expects_error(block: Option<&Node>) -> bool {
    let flag = |key: &str| block.and_then(|block| block.get(key)).and_then(Node::as_bool);
    flag("is_error") == Some(true) || flag("not_error") == Some(false)
}

/// Decodes `capture`: names, and a path into the reply for each.
pub(crate) fn decode_captures(node: &Node, found: &mut Diagnostics<'_>) -> Vec<Capture> {
    if node.is_null() {
        return Vec::new();
    }
    let mut captures = Vec::new();
    for entry in found.map(node, "`capture`").unwrap_or_default() {
        let name = entry.key.text.trim();
        if !is_usable_name(name, entry.key.span, found) {
            continue;
        }
        let path = if entry.value.is_null() { Some("") } else { found.text(&entry.value, "a captured path") };
        let Some(path) = path else { continue };
        // An empty path and `$` stand for the whole text, which need not be JSON.
        let parsed = if matches!(path, "" | "$") { Ok(()) } else { JsonPath::parse(path).map(|_| ()) };
        if let Err(message) = parsed {
            found.error_with_help(
                "bad-json-path",
                entry.value.span,
                message,
                "write a path such as `$.items[0].id`; `$` is the whole reply",
            );
        }
        // Also kept with a bad path, so that uses of the name give no second finding.
        captures.push(Capture { name: name.to_owned(), path: path.to_owned(), span: entry.value.span });
    }
    captures
}

fn is_usable_name(name: &str, span: Span, found: &mut Diagnostics<'_>) -> bool {
    if name == FIXTURE {
        found.error_with_help(
            "reserved-name",
            span,
            "`fixture` is the name of the fixture folder",
            "capture under another name",
        );
        return false;
    }
    if name.is_empty() || name.contains(['{', '}', '\n']) {
        found.error_with_help(
            "reserved-name",
            span,
            format!("`{name}` cannot be used as `{{{{name}}}}`"),
            "use letters, digits and underscores",
        );
        return false;
    }
    true
}
