//! The keys of a server, one row for each: the kinds of files that have it, the servers it means something to, its schema.

use mcprove_model::Revision;
use serde_json::{Map, Value, json};

use super::{auth, client_capabilities, http};
use crate::context::FileKind;
use crate::interpolate::Syntax;
use crate::schema::fragment;

/// A key of a server or of its `auth`, with its JSON Schema in each kind of file that has it.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) of: Of,
    pub(super) in_assertions: Option<fn() -> Value>,
    in_suites: fn() -> Value,
}

/// The servers that a key means something to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Of {
    Any,
    /// Those that are started or reached.
    Live,
    Process,
    Remote,
    Mock,
}

impl Key {
    /// A key of both kinds of files.
    pub(super) const fn of_both(name: &'static str, of: Of, schema: fn() -> Value) -> Self {
        Self { name, of, in_assertions: Some(schema), in_suites: schema }
    }

    /// A key of suite files.
    pub(super) const fn of_suites(name: &'static str, of: Of, schema: fn() -> Value) -> Self {
        Self { name, of, in_assertions: None, in_suites: schema }
    }

    /// The key with another schema in assertion files.
    pub(super) const fn in_assertions(self, schema: fn() -> Value) -> Self {
        Self { in_assertions: Some(schema), ..self }
    }

    pub(super) fn schema(&self, kind: FileKind) -> Option<fn() -> Value> {
        match kind {
            FileKind::Assertion => self.in_assertions,
            FileKind::Suite => Some(self.in_suites),
        }
    }
}

pub(super) const KEYS: &[Key] = &[
    Key::of_both("args", Of::Process, || fragment::texts("Further arguments of the command."))
        .in_assertions(|| fragment::texts("The arguments of the command.")),
    Key::of_both("auth", Of::Remote, || auth::schema(FileKind::Suite))
        .in_assertions(|| auth::schema(FileKind::Assertion)),
    Key::of_suites("cassette", Of::Any, || fragment::text("A recorded event log that is played instead of a server.")),
    Key::of_both("client_capabilities", Of::Any, client_capabilities::schema),
    Key::of_both("command", Of::Process, command_schema)
        .in_assertions(|| fragment::scalar("The program that is started.")),
    Key::of_both("cwd", Of::Process, || fragment::scalar("The folder it is started in; the caller's when left out.")),
    Key::of_both("docker", Of::Process, || fragment::scalar("An image to run the command in.")),
    Key::of_both("env", Of::Process, || fragment::scalars("Variables added to the caller's environment.")),
    Key::of_both("headers", Of::Remote, || headers_schema("Headers of every request."))
        .in_assertions(|| fragment::scalars("Headers of every request.")),
    Key::of_suites("http", Of::Remote, http::schema),
    Key::of_suites("keep_state", Of::Mock, || {
        fragment::flag("All sessions speak to one mock, so that its faults go on counting after a restart.")
    }),
    Key::of_suites("mock", Of::Any, || {
        fragment::text("A manifest of the built-in mock that is played instead of a server.")
    }),
    Key::of_both("protocol", Of::Any, protocol_schema),
    Key::of_both("sandbox", Of::Process, || {
        fragment::flag("It may write to the fixture copy, its temporary folder and package caches only.")
    }),
    Key::of_both("transport", Of::Live, transport_schema),
    Key::of_both("url", Of::Remote, || fragment::text("The URL of a running server."))
        .in_assertions(|| fragment::scalar("The URL of a running server.")),
    Key::of_suites("wait_for_ready", Of::Live, || {
        fragment::text(
            "A time such as `30s` in which the handshake must succeed, or a URL or path that must answer with 2xx first.",
        )
    }),
    Key::of_suites("virtual_time", Of::Mock, || {
        fragment::flag("A mock's delays take no time, and are measured as if they did.")
    }),
];

/// Keys of an assertion file whose texts may hold `${secret:NAME}`; those of `env` and `headers` may hold every form.
pub(crate) const WORDS: &[&str] = &["args", "command", "cwd", "docker", "url"];

/// The references that the texts under a key may hold; none where no variable is replaced.
pub(crate) fn syntax(key: &str, kind: FileKind) -> Option<Syntax> {
    match (kind, key) {
        (FileKind::Assertion, "env" | "headers") => Some(Syntax::PAIRS),
        (FileKind::Assertion, key) => WORDS.contains(&key).then_some(Syntax::WORDS),
        (FileKind::Suite, "env" | "headers") => Some(Syntax::SUITE_PAIRS),
        (FileKind::Suite, _) => Some(Syntax::SUITE),
    }
}

/// The keys of a server in a kind of file, sorted.
pub(crate) fn names(kind: FileKind) -> Vec<&'static str> {
    known(KEYS, kind)
}

pub(super) fn known(keys: &[Key], kind: FileKind) -> Vec<&'static str> {
    let mut known: Vec<_> = keys.iter().filter(|key| key.schema(kind).is_some()).map(|key| key.name).collect();
    known.sort_unstable();
    known
}

pub(super) fn properties(keys: &[Key], kind: FileKind) -> Map<String, Value> {
    keys.iter().filter_map(|key| Some((key.name.to_owned(), key.schema(kind)?()))).collect()
}

/// The JSON Schema of the keys of a server.
pub(crate) fn schema_properties(kind: FileKind) -> Map<String, Value> {
    properties(KEYS, kind)
}

fn command_schema() -> Value {
    let word = json!({"type": ["string", "number", "boolean"]});
    json!({
        "anyOf": [word, {"type": "array", "minItems": 1, "items": word}],
        "description": "The program and its arguments: a list, or a text that is split as a shell would.",
    })
}

pub(super) fn headers_schema(description: &str) -> Value {
    let header = fragment::map("A variable of the environment.", json!({"env": fragment::text("Its name.")}), &["env"]);
    json!({
        "type": ["object", "null"],
        "additionalProperties": {"anyOf": [fragment::scalar("The value."), header]},
        "description": description,
    })
}

fn transport_schema() -> Value {
    json!({
        "type": ["string", "null"],
        "pattern": "^([hH][tT][tT][pP]|[sS][sS][eE]|[sS][tT][dD][iI][oO])?$",
        "description": "Transport: stdio, http or sse.",
    })
}

pub(crate) fn protocol_schema() -> Value {
    let revisions = Revision::ALL.map(Revision::as_str);
    let words: Vec<&str> = ["auto", "legacy", "modern"].into_iter().chain(revisions).collect();
    json!({"enum": words, "description": "The protocol revision to speak; legacy when left out."})
}

/// The JSON Schema of a server of an assertion file.
pub(crate) fn schema() -> Value {
    fragment::map("The server under test.", Value::Object(schema_properties(FileKind::Assertion)), &[])
}
