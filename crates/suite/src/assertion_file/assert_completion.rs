//! `assert_completion`: ask for completions of an argument, and judge them.

use mcprove_model::{Act, Completion, Diagnostics, Entry, Key, Kind, Node, Span, Vocabulary, nearest};
use serde_json::json;

use super::block::{self, Block, DecodedBlock, Input};
use super::texts;
use crate::field::{self, Field};
use crate::schema::fragment;

pub(crate) const BLOCK: Block = Block {
    key: "assert_completion",
    summary: "Ask for completions of an argument, and judge them.",
    fields: FIELDS,
    companions: &[],
    needs_server: true,
    decode,
};

const PROMPT: &str = "ref/prompt";
const RESOURCE: &str = "ref/resource";

const FIELDS: &[Field] = &[
    Field::required("argument", || field::map("What is completed.", ARGUMENT)),
    Field::optional("context", || field::map("The other arguments that are known already.", CONTEXT)),
    Field::optional("expect", || fragment::expect(Vocabulary::Completion)),
    Field::required("ref", || field::map("The prompt or resource template of the argument.", REFERENCE)),
];

const ARGUMENT: &[Field] = &[
    Field::required("name", || fragment::text("Its name.")),
    Field::optional("value", || fragment::scalar("The text typed so far.")),
];

const CONTEXT: &[Field] = &[Field::optional("arguments", || fragment::scalars("The other arguments."))];

const REFERENCE: &[Field] = &[
    Field::optional("name", || fragment::text("The name of a prompt.")),
    Field::required("type", || json!({"enum": [PROMPT, RESOURCE], "description": "A prompt, or a resource template."})),
    Field::optional("uri", || fragment::text("The URI of a resource, or its template.")),
];

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<DecodedBlock> {
    let reference = part("ref", input, found).and_then(|part| decode_reference(part, found));
    let argument = part("argument", input, found).and_then(|part| decode_argument(part, found));
    let context = input.node.get("context").filter(|context| !context.is_null());
    let context = context.and_then(|context| decode_context(context, found));
    for part in [&reference, &argument, &context].into_iter().flatten() {
        input.scope.check(part, found);
    }
    let expect = input.expect(Vocabulary::Completion, found);
    let completion = Completion { reference: reference?, argument: argument?, context };
    Some(DecodedBlock::new(Act::Complete(completion), expect))
}

/// A map that the block must have.
fn part<'n>(key: &str, input: &Input<'n>, found: &mut Diagnostics<'_>) -> Option<&'n Entry> {
    let entry = input.entry(key);
    if entry.is_none() && !input.is_misspelt(key) {
        let message = format!("`assert_completion` has no `{key}`");
        found.error_with_help("missing-key", input.place, message, format!("add `{key}:`"));
    }
    let entry = entry?;
    found.map(&entry.value, &format!("`{key}`")).map(|_| entry)
}

/// `{type, name}` of a prompt, `{type, uri}` of a resource, whose address older files write under `name`.
fn decode_reference(entry: &Entry, found: &mut Diagnostics<'_>) -> Option<Node> {
    let node = &entry.value;
    found.known_keys(node, "`ref`", &field::keys(REFERENCE));
    let kind = block::named(node, "type", entry.key.span, found)?;
    let subject = match kind.as_text()? {
        PROMPT => {
            if let Some(uri) = node.get("uri") {
                let help = format!("write `name:`, or `type: {RESOURCE}`");
                found.error_with_help("wrong-key", uri.span, "a prompt has a `name`, not a `uri`", help);
                return None;
            }
            ("name", block::named(node, "name", entry.key.span, found)?)
        }
        RESOURCE => {
            if let (Some(name), Some(_)) = (node.get("name"), node.get("uri")) {
                let message = "`name` and `uri` are mutually exclusive; a resource is identified by its `uri`";
                found.error_with_help("wrong-key", name.span, message, "remove `name`");
                return None;
            }
            let key = if node.get("name").is_some() { "name" } else { "uri" };
            ("uri", block::named(node, key, entry.key.span, found)?)
        }
        other => {
            let help = match nearest(other, [PROMPT, RESOURCE]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("types are `{PROMPT}` and `{RESOURCE}`"),
            };
            found.error_with_help("unknown-type", kind.span, format!("unknown type `{other}` in `ref`"), help);
            return None;
        }
    };
    Some(map_of(node.span, [("type", kind), subject]))
}

/// `{name, value}`; a value that was left out is an empty text, which asks for everything.
fn decode_argument(entry: &Entry, found: &mut Diagnostics<'_>) -> Option<Node> {
    let node = &entry.value;
    found.known_keys(node, "`argument`", &field::keys(ARGUMENT));
    let value = node
        .get("value")
        .map_or_else(|| Some(Node::text_at(entry.key.span, "")), |value| texts::as_text(value, "`value`", found));
    let name = block::named(node, "name", entry.key.span, found)?;
    Some(map_of(node.span, [("name", name), ("value", value?)]))
}

/// `{arguments}`: what the other arguments are so far.
fn decode_context(node: &Node, found: &mut Diagnostics<'_>) -> Option<Node> {
    field::entries(node, "`context`", CONTEXT, found)?;
    Some(map_of(node.span, [("arguments", texts::as_texts(node, "arguments", found))]))
}

fn map_of<const N: usize>(span: Span, entries: [(&str, Node); N]) -> Node {
    let entry = |(key, value): (&str, Node)| Entry { key: Key { text: key.into(), span: value.span }, value };
    Node { span, kind: Kind::Map(entries.map(entry).into()) }
}
