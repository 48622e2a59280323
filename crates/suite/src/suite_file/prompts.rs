//! `prompts`: get a prompt and judge its messages.

use mcprove_model::{Act, Diagnostics, Expectation, Prompts, Vocabulary};

use super::Suite;
use super::list::Kind;
use crate::assertion_file::block::{self, Input};
use crate::assertion_file::{expectation, texts};
use crate::field::{self, Field};
use crate::schema::fragment;

pub(super) const KIND: Kind =
    Kind { key: "prompts", summary: "Get a prompt and judge its messages.", fields: &[FIELDS], decode };

const FIELDS: &[Field] = &[
    Field::optional("args", || fragment::scalars("The arguments of the prompt.")),
    Field::optional("expect", || fragment::expect(Vocabulary::Prompts)),
    Field::required("prompt", || fragment::text("The name of the prompt.")),
];

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let test = &input.entry.value;
    found.known_keys(test, "a test of `prompts`", &field::keys(FIELDS));
    let is_misspelt = texts::is_misspelt(test.as_map().unwrap_or_default(), "prompt", &field::keys(FIELDS));
    let name = if is_misspelt { None } else { block::named(test, "prompt", input.entry.key.span, found) };
    let arguments = texts::as_texts(test, "args", found);
    if let Some(name) = &name {
        input.scope.check(name, found);
    }
    input.scope.check(&arguments, found);
    let expect = expectation::decode(test.get("expect"), Vocabulary::Prompts, input.scope, found);
    Some((Act::Prompts(Prompts::Get { name: name?, arguments }), expect))
}
