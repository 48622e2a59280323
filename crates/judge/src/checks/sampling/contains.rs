//! `contains`: the messages of the requests contain these.

use mcprove_model::{Diagnostics, Node, PlannedCheck};

use super::{MESSAGES, ONE};
use crate::checks::among::{self, TextPresence};
use crate::checks::example::{fails, holds};
use crate::checks::{CheckKind, Seen, shape};

const NAME: &str = "contains";

pub(super) const KIND: CheckKind = CheckKind {
    name: NAME,
    summary: "For each of these, a sampling request contains it in the text of its messages.",
    decode,
    schema: shape::texts_schema,
    examples: &[
        holds(r#"["Summarize", "and that"]"#, ONE),
        fails(r#"["Summarize", "brief"]"#, ONE),
        fails(r#""Summarize""#, Seen::Asked(r#"[{"method": "roots/list"}]"#)),
    ],
};

fn decode(node: &Node, found: &mut Diagnostics<'_>) -> Vec<PlannedCheck> {
    among::decode(&among::TextsCheck { name: NAME, node, wanted: TextPresence::Required, texts: &MESSAGES }, found)
}
