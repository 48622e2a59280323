//! `hooks`: commands run around tests.

use mcprove_model::{Diagnostics, Hook, Hooks, Node};
use serde_json::{Value, json};

use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("afterAll", || hooks_schema("After the last test.")),
    Field::optional("afterEach", || hooks_schema("After each test.")),
    Field::optional("beforeAll", || hooks_schema("Before the first test.")),
    Field::optional("beforeEach", || hooks_schema("Before each test.")),
];

/// The keys of a command that is a map.
pub(super) const COMMAND: &[Field] = &[Field::required("command", || fragment::text("The command."))];

/// Keys of such a map in the other tool, and what to do instead.
pub(super) const OUTSIDE: &[(&str, &str)] =
    &[("mode", "the command sees the environment only; `setup` of a test calls tools and keeps values with `capture`")];

/// Decodes `hooks`.
pub(super) fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Hooks {
    let mut hooks = Hooks::default();
    for entry in found.known_keys(node, "`hooks`", &field::keys(FIELDS)) {
        let commands = if entry.value.is_null() { &[] } else { found.one_or_many(&entry.value) };
        let what = format!("a hook of `{}`", entry.key.text);
        let decoded = commands.iter().filter_map(|command| decode_hook(command, &what, found)).collect();
        match entry.key.text.as_str() {
            "afterAll" => hooks.after_all = decoded,
            "afterEach" => hooks.after_each = decoded,
            "beforeAll" => hooks.before_all = decoded,
            "beforeEach" => hooks.before_each = decoded,
            _ => {}
        }
    }
    hooks
}

/// The JSON Schema of `hooks`.
pub(super) fn schema() -> Value {
    field::map("Commands run around tests, split as a shell would, without a shell.", FIELDS)
}

fn hooks_schema(description: &str) -> Value {
    let hook = json!({"anyOf": [{"type": "string"}, field::map("A command.", COMMAND)]});
    json!({"anyOf": [hook, {"type": "array", "items": hook}, {"type": "null"}], "description": description})
}

/// A command line, or a map with one.
fn decode_hook(node: &Node, what: &str, found: &mut Diagnostics<'_>) -> Option<Hook> {
    let command = if let Some(entries) = node.as_map() {
        super::unsupported_keys::known_keys(entries, what, &field::keys(COMMAND), OUTSIDE, found);
        let Some(command) = node.get("command") else {
            found.error_with_help("missing-key", node.span, format!("{what} has no `command`"), "add `command:`");
            return None;
        };
        command
    } else {
        node
    };
    match shell_words::split(found.text(command, what)?) {
        Ok(words) if !words.is_empty() => Some(Hook::new(words, command.span)),
        Ok(_) => {
            found.error_with_help("no-command", command.span, format!("{what} is empty"), "write a command");
            None
        }
        Err(error) => {
            let message = format!("{what} cannot be split into words: {error}");
            found.error_with_help("bad-command", command.span, message, "close the quote");
            None
        }
    }
}
