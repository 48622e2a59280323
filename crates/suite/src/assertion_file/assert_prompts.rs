//! `assert_prompts`: list prompts or get one, and judge the result.

use mcprove_model::{Act, Diagnostics, Entry, Prompts, Vocabulary};
use serde_json::{Value, json};

use super::block::{self, Asked, Block, Input};
use super::{expectation, listing, texts};
use crate::schema::fragment;

pub(crate) const BLOCK: Block = Block {
    key: "assert_prompts",
    summary: "List prompts or get one, and judge the result.",
    keys: KEYS,
    required: &[],
    properties,
    companions: &[],
    needs_server: true,
    decode,
};

const KEYS: &[&str] = &["expect", "get", "list"];

fn properties() -> Value {
    json!({
        "expect": fragment::expect(Vocabulary::Prompts),
        "get": fragment::map(
            "Get a prompt.",
            json!({"arguments": fragment::scalars("Its arguments."), "name": fragment::text("Its name.")}),
            &["name"],
        ),
        "list": fragment::listing("List the prompts."),
    })
}

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Asked> {
    let node = &input.entry.value;
    let entries = found.map(node, "`assert_prompts`")?;
    found.known_keys(node, "`assert_prompts`", KEYS);
    let requests: Vec<&Entry> =
        entries.iter().filter(|entry| matches!(entry.key.text.as_str(), "get" | "list")).collect();
    let prompts = match requests.as_slice() {
        [] => {
            if !["get", "list"].iter().any(|key| texts::is_misspelt(entries, key, KEYS)) {
                let help = "add `list:`, or `get:` with the `name` of a prompt";
                let message = "`assert_prompts` asks for nothing";
                found.error_with_help("nothing-done", input.entry.key.span, message, help);
            }
            None
        }
        [list] if list.key.text == "list" => Some(Prompts::List { cursor: listing::cursor(list, input.scope, found) }),
        [get] => decode_get(get, input, found),
        [first, second, ..] => {
            block::report_second(first, second, found);
            None
        }
    };
    let expect = expectation::decode(node.get("expect"), Vocabulary::Prompts, input.scope, found);
    Some(Asked::new(Act::Prompts(prompts?), expect))
}

fn decode_get(entry: &Entry, input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Prompts> {
    let node = &entry.value;
    found.map(node, "`get`")?;
    found.known_keys(node, "`get`", &["arguments", "name"]);
    let name = block::named(node, "name", entry.key.span, found);
    let arguments = texts::as_texts(node, "arguments", found);
    if let Some(name) = &name {
        input.scope.check(name, found);
    }
    input.scope.check(&arguments, found);
    Some(Prompts::Get { name: name?, arguments })
}
