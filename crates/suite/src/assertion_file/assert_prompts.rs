//! `assert_prompts`: list prompts or get one, and judge the result.

use mcprove_model::{Act, Diagnostics, Entry, Prompts, Vocabulary};
use serde_json::Value;

use super::block::{self, Block, DecodedBlock, Input};
use super::{listing, texts};
use crate::field::{self, Field};
use crate::schema::fragment;

pub(crate) const BLOCK: Block = Block {
    key: "assert_prompts",
    summary: "List prompts or get one, and judge the result.",
    fields: FIELDS,
    companions: &[],
    needs_server: true,
    decode,
};

const FIELDS: &[Field] = &[
    Field::optional("expect", || fragment::expect(Vocabulary::Prompts)),
    Field::optional("get", get_schema),
    Field::optional("list", || fragment::listing("List the prompts.")),
];

const GET: &[Field] = &[
    Field::optional("arguments", || fragment::scalars("Its arguments.")),
    Field::required("name", || fragment::text("Its name.")),
];

fn get_schema() -> Value {
    let mut get = field::map("Get a prompt.", GET);
    super::aliases::of_get().describe(&mut get);
    get
}

fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<DecodedBlock> {
    let entries = input.node.as_map()?;
    let requests: Vec<&Entry> =
        entries.iter().filter(|entry| matches!(entry.key.text.as_str(), "get" | "list")).collect();
    let prompts = match requests.as_slice() {
        [] => {
            if !["get", "list"].iter().any(|key| input.is_misspelt(key)) {
                let help = "add `list:`, or `get:` with the `name` of a prompt";
                let message = "`assert_prompts` asks for nothing";
                found.error_with_help("nothing-done", input.place, message, help);
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
    let expect = input.expect(Vocabulary::Prompts, found);
    Some(DecodedBlock::new(Act::Prompts(prompts?), expect))
}

fn decode_get(entry: &Entry, input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<Prompts> {
    let node = &entry.value;
    field::entries(node, "`get`", GET, found)?;
    let name = block::named(node, "name", entry.key.span, found);
    let arguments = texts::as_texts(node, "arguments", found);
    if let Some(name) = &name {
        input.scope.check(name, found);
    }
    input.scope.check(&arguments, found);
    Some(Prompts::Get { name: name?, arguments })
}
