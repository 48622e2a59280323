//! `setup`, `setup_per_test` and `teardown` of a file: commands and calls of tools around all tests, and before each.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Entry, Hook, HookCall, Hooks, Key, Kind, Node, ServerSpec, Span, WaitFor};
use serde_json::{Value, json};

use crate::assertion_file::{block, texts, time};
use crate::field::{self, Field};
use crate::schema::fragment;

/// The keys of a step of any of the lists.
pub(super) const FIELDS: &[Field] = &[
    Field::optional("always", || fragment::flag("It runs after failures too, as every step here does.")),
    Field::optional("background", || fragment::flag("Go on while it runs; it is ended after the last test.")),
    Field::optional("call", || field::map("A call of a tool of the default server, on a session of its own.", CALL)),
    Field::optional("capture_failure", || fragment::text("The message if it fails.")),
    Field::optional(
        "run",
        || json!({"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "A command: the program and its arguments."}),
    ),
    Field::optional("timeout", || fragment::duration("Its time limit; `60s` when left out.")),
    Field::optional("wait_for", || {
        fragment::text(
            "What must be reachable before anything goes on: `tcp://host:port`, or a URL that answers with 2xx.",
        )
    }),
];

const CALL: &[Field] = &[
    Field::required("tool", || fragment::text("The tool.")),
    Field::optional("args", || fragment::any_map("Its arguments.")),
];

/// When the steps of a list are run.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum When {
    /// Before the first test.
    Setup,
    /// Before each test.
    PerTest,
    /// After the last test.
    Teardown,
}

impl When {
    /// The key of the list.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::PerTest => "setup_per_test",
            Self::Teardown => "teardown",
        }
    }

    /// True if a key means something in the list.
    fn has(self, key: &str) -> bool {
        match key {
            "always" => self == Self::Teardown,
            "background" => self == Self::Setup,
            _ => true,
        }
    }
}

/// Adds the commands and calls of a list to the hooks; calls before each test are returned as steps of every test.
pub(super) fn decode(
    when: When,
    node: &Node,
    hooks: &mut Hooks,
    server: Option<&Arc<ServerSpec>>,
    found: &mut Diagnostics<'_>,
) -> Vec<Node> {
    let mut calls = Vec::new();
    let mut commands = Vec::new();
    for step in found.list(node, &format!("`{}`", when.key())) {
        match decode_step(when, step, found) {
            Some(Decoded::Command(hook)) => commands.push(hook),
            Some(Decoded::Call(step)) if when == When::PerTest => calls.push(step),
            Some(Decoded::Call(step)) => commands.extend(decode_call(&step, server, found)),
            None => {}
        }
    }
    match when {
        When::Setup => drop(hooks.before_all.splice(0..0, commands)),
        When::PerTest => drop(hooks.before_each.splice(0..0, commands)),
        When::Teardown => hooks.after_all.extend(commands),
    }
    calls
}

/// A test with further calls before its own.
pub(super) fn with_calls(test: &mut Node, calls: &[Node]) {
    let Kind::Map(entries) = &mut test.kind else { return };
    if calls.is_empty() {
        return;
    }
    let span = calls[0].span;
    match entries.iter_mut().find(|entry| entry.key.text == "setup") {
        Some(Entry { value: Node { kind: Kind::List(own), .. }, .. }) => drop(own.splice(0..0, calls.iter().cloned())),
        Some(entry) if entry.value.is_null() => entry.value.kind = Kind::List(calls.to_vec()),
        // A value that is not a list is reported where it is decoded.
        Some(_) => {}
        None => {
            let value = Node { span, kind: Kind::List(calls.to_vec()) };
            entries.push(Entry { key: Key { text: "setup".into(), span }, value });
        }
    }
}

/// The JSON Schema of a list of steps.
pub(super) fn schema(when: When) -> Value {
    let mut properties = field::properties(FIELDS);
    properties.retain(|key, _| when.has(key));
    if when == When::PerTest {
        properties["call"]["description"] = "A call of a tool of the test's server.".into();
    }
    let description = match when {
        When::Setup => "Commands run and tools called before the first test.",
        When::PerTest => "Commands run and tools called before each test.",
        When::Teardown => "Commands run and tools called after the last test, also after failures.",
    };
    fragment::list(description, fragment::map("A step.", Value::Object(properties), &[]))
}

/// A call of a tool of the suite's default server, on a session of its own.
fn decode_call(call: &Node, server: Option<&Arc<ServerSpec>>, found: &mut Diagnostics<'_>) -> Option<Hook> {
    let tool = block::named(call, "tool", call.span, found)?.as_text()?.to_owned();
    let Some(server) = server else {
        let help = "write `default_server: NAME`, or call it in `setup_per_test`";
        found.error_with_help("no-server", call.span, "the call does not say which server it is for", help);
        return None;
    };
    let args = call.get("args").filter(|args| !args.is_null());
    let args = args.map_or_else(|| json!({}), Node::to_json);
    Some(Hook { call: Some(HookCall { server: Arc::clone(server), tool, args }), span: call.span, ..Hook::default() })
}

enum Decoded {
    Command(Hook),
    Call(Node),
}

fn decode_step(when: When, step: &Node, found: &mut Diagnostics<'_>) -> Option<Decoded> {
    let what = format!("a step of `{}`", when.key());
    let entries = field::entries(step, &what, FIELDS, found)?;
    let place = entries.first().map_or(step.span, |entry| entry.key.span);
    if let Some(entry) = entries.iter().find(|entry| !when.has(&entry.key.text)) {
        let home = if entry.key.text == "always" { "`teardown`" } else { "`setup`" };
        let message = format!("`{}` means nothing in `{}`", entry.key.text, when.key());
        found.error_with_help("unsupported-key", entry.key.span, message, format!("it is for {home}"));
        return None;
    }
    match (step.get("run"), step.get("call")) {
        (Some(run), None) => decode_command(step, run, found).map(Decoded::Command),
        (None, Some(call)) => {
            field::entries(call, "`call`", CALL, found)?;
            for entry in entries.iter().filter(|entry| entry.key.text != "call") {
                let message = format!("`{}` is for commands", entry.key.text);
                found.error_with_help("wrong-key", entry.key.span, message, "remove it");
            }
            Some(Decoded::Call(call.clone()))
        }
        (Some(_), Some(_)) => {
            found.error_with_help("two-acts", place, "`run` and `call` are mutually exclusive", "make it two steps");
            None
        }
        (None, None) => {
            found.error_with_help("nothing-done", place, "a step has neither `run` nor `call`", "add one of them");
            None
        }
    }
}

fn decode_command(step: &Node, run: &Node, found: &mut Diagnostics<'_>) -> Option<Hook> {
    let words = texts::list(run, "`run`", found);
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        found.error_with_help("no-command", run.span, "`run` names no program", "write the program and its arguments");
        return None;
    }
    let timeout = time::optional(step, "timeout", found).unwrap_or(Hook::TIMEOUT);
    let background = match step.get("background").filter(|flag| !flag.is_null()) {
        Some(flag) => found.boolean(flag, "`background`")?,
        None => false,
    };
    if let Some(always) = step.get("always").filter(|flag| !flag.is_null()) {
        found.boolean(always, "`always`");
    }
    let message = texts::optional(step, "capture_failure", found).map(str::to_owned);
    let wait_for = match step.get("wait_for").filter(|node| !node.is_null()) {
        Some(node) => Some(decode_wait_for(node, found)?),
        None => None,
    };
    Some(Hook { words, span: run.span, timeout, background, wait_for, message, ..Hook::default() })
}

/// `tcp://host:port`, or a URL.
pub(super) fn decode_wait_for(node: &Node, found: &mut Diagnostics<'_>) -> Option<WaitFor> {
    let text = found.text(node, "`wait_for`")?;
    let parsed = WaitFor::parse(text);
    if parsed.is_none() {
        let help = "write `tcp://host:port`, or a URL that begins with http:// or https://";
        found.error_with_help("bad-url", node.span, format!("`{text}` is nothing that can be waited for"), help);
    }
    parsed
}

/// The calls for tests of another file: every place becomes this one.
pub(super) fn placed_at(calls: &[Node], span: Span) -> Vec<Node> {
    calls.iter().map(|call| Node::from_json(span, call.to_json())).collect()
}
