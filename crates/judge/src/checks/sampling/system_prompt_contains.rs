//! `system_prompt_contains`: the system prompt of a request contains these.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::{ONE, SYSTEM_PROMPTS};
use crate::checks::among::{self, TextPresence};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, shape};

const NAME: &str = "system_prompt_contains";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "For each of these, the system prompt of a sampling request contains it.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#""brief""#, ONE),
        fails(r#"["brief", "Summarize"]"#, ONE),
        fails(r#""brief""#, Seen::Asked(r#"[{"method": "roots/list"}]"#)),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    among::decode(
        &among::TextsCheck { name: NAME, node, wanted: TextPresence::Required, texts: &SYSTEM_PROMPTS },
        found,
    )
}
