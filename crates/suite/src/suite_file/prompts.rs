//! `prompts`: get a prompt and judge its messages.

use mcprove_model::{Act, Diagnostics, Expectation, Prompts, Vocabulary};

use super::Suite;
use super::list::Kind;
use crate::assertion_file::block::Input;
use crate::assertion_file::texts;
use crate::field::Field;
use crate::schema::fragment;

pub(super) const KIND: Kind =
    Kind { key: "prompts", summary: "Get a prompt and judge its messages.", fields: &[FIELDS], decode };

const FIELDS: &[Field] = &[
    Field::optional("args", || fragment::scalars("The arguments of the prompt.")),
    Field::optional("expect", || fragment::expect(Vocabulary::Prompts)),
    Field::required("prompt", || fragment::text("The name of the prompt.")),
];

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let name = input.named("prompt", found);
    let arguments = texts::as_texts(input.node, "args", found);
    if let Some(name) = &name {
        input.scope.check(name, found);
    }
    input.scope.check(&arguments, found);
    let expect = input.expect(Vocabulary::Prompts, found);
    Some((Act::Prompts(Prompts::Get { name: name?, arguments }), expect))
}
